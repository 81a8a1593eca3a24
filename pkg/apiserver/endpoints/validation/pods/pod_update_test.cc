#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using ::testing::HasSubstr;

/// A pod that waits for its gates, and what may be done to it meanwhile.
class PodGatesTest : public testing::ApiFixture {
 protected:
  void Make(const std::string& spec) {
    const http::Response made =
        Do("POST", "/api/v1/namespaces/default/pods",
           R"({"metadata":{"name":"x"},"spec":{"containers":[{"name":"a","image":"i"}],)" + spec +
               "}}");
    ASSERT_EQ(made.status, 201) << made.body;
  }
  http::Response Patch(const std::string& spec) {
    return Do("PATCH", "/api/v1/namespaces/default/pods/x", R"({"spec":{)" + spec + "}}",
              kMergePatch);
  }
  void ExpectTaken(const std::string& spec) {
    const http::Response taken = Patch(spec);
    EXPECT_EQ(taken.status, 200) << spec << taken.body;
  }
  void ExpectRefused(const std::string& spec, const std::string& problem) {
    const http::Response refused = Patch(spec);
    EXPECT_EQ(refused.status, 422) << spec << refused.body;
    EXPECT_THAT(Message(refused), HasSubstr(problem));
  }
  static std::string Required(const std::string& terms) {
    return R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[)" +
           terms + "]}}}";
  }
  static std::string Term(const std::string& keys) {
    std::string term;
    for (const char key : keys) {
      term +=
          std::string(term.empty() ? "" : ",") + R"({"key":")" + key + R"(","operator":"Exists"})";
    }
    return R"({"matchExpressions":[)" + term + "]}";
  }
  static constexpr const char* kGates =
      R"("schedulingGates":[{"name":"e.example/a"},{"name":"e.example/b"}])";
};

TEST_F(PodGatesTest, GatesGoAndDoNotCome) {
  Make(kGates);
  ExpectTaken(R"("schedulingGates":[{"name":"e.example/b"}])");
  ExpectRefused(R"("schedulingGates":[{"name":"e.example/b"},{"name":"e.example/c"}])",
                "spec.schedulingGates: Forbidden: only deletion is allowed, but found new "
                "scheduling gate 'e.example/c'");
  ExpectTaken(R"("schedulingGates":null)");
  EXPECT_EQ(At(Json(Do("GET", "/api/v1/namespaces/default/pods/x")), {"spec", "schedulingGates"}),
            "");
  ExpectRefused(R"("schedulingGates":[{"name":"e.example/a"}])", "only deletion is allowed");
}

TEST_F(PodGatesTest, AGatedPodGetsANarrowerNodeSelector) {
  Make(kGates);
  ExpectTaken(R"("nodeSelector":{"a":"b"})");
  ExpectTaken(R"("nodeSelector":{"c":"d"})");
  for (const char* const change :
       {R"("nodeSelector":{"a":"x"})", R"("nodeSelector":{"a":null})", R"("nodeSelector":null)"}) {
    ExpectRefused(change,
                  "only additions to spec.nodeSelector are allowed (no mutations or "
                  "deletions)");
  }
  // The last gate goes together with the last change.
  ExpectTaken(R"("schedulingGates":null,"nodeSelector":{"e":"f"})");
  ExpectRefused(R"("nodeSelector":{"g":"h"})", "pod updates may not change fields");
}

TEST_F(PodGatesTest, AGatedPodGetsANarrowerNodeAffinity) {
  Make(kGates);
  ExpectTaken(Required(Term("a") + "," + Term("")));
  ExpectTaken(Required(Term("ab") + "," + Term("")));
  for (const std::string& terms :
       {Term("a") + "," + Term(""), Term("ba") + "," + Term(""), Term("ab") + "," + Term("c")}) {
    ExpectRefused(Required(terms), "only additions are allowed (no mutations or deletions)");
  }
  for (const std::string& terms : {Term("ab"), Term("ab") + "," + Term("") + "," + Term("")}) {
    ExpectRefused(Required(terms),
                  "no additions/deletions to non-empty NodeSelectorTerms list are allowed");
  }
  ExpectRefused(R"("affinity":null)", "no additions/deletions");
  ExpectTaken(
      R"("affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":{"matchExpressions":[{"key":"p","operator":"Exists"}]}}]}})");
  ExpectRefused(
      R"("affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"a"}]}})",
      "pod updates may not change fields");
}

TEST_F(PodGatesTest, OtherAffinityStaysWhereNodeAffinityComes) {
  Make(
      kGates +
      std::string(
          R"(,"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"a"}]}})"));
  ExpectTaken(Required(Term("a")));
  ExpectRefused(R"("affinity":{"podAffinity":null})", "pod updates may not change fields");
}

TEST_F(PodGatesTest, WithoutGatesNodesStayWhatTheyWere) {
  Make(R"("nodeSelector":{"a":"b"})");
  ExpectRefused(R"("nodeSelector":{"c":"d"})", "pod updates may not change fields");
  ExpectRefused(Required(Term("a")), "pod updates may not change fields");
}

}  // namespace
}  // namespace kubexx::apiserver
