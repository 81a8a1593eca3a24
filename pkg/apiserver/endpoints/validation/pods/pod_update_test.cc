#include "kubexx/apiserver/endpoints/validation/pods/pod_update.h"

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

constexpr const char* kTolerations =
    R"("tolerations":[{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":5},{"key":"b","operator":"Equal","value":"c"}])";

TEST_F(PodGatesTest, TolerationsAreOnlyAdded) {
  constexpr const char* kStays =
      "spec.tolerations: Forbidden: existing toleration can not be modified except its "
      "tolerationSeconds";
  Make(kTolerations);
  ExpectRefused(R"("tolerations":null)", kStays);
  ExpectRefused(
      R"("tolerations":[{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":5},{"key":"b","operator":"Equal","value":"d"}])",
      kStays);
  ExpectTaken(
      R"("tolerations":[{"key":"b","operator":"Equal","value":"c"},{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":9},{"key":"e","operator":"Exists"}])");
  ExpectRefused(kTolerations, kStays);
}

TEST_F(PodGatesTest, TheDeadlineIsSetAndShrinks) {
  Make(kTolerations);
  ExpectTaken(R"("activeDeadlineSeconds":50)");
  ExpectRefused(R"("activeDeadlineSeconds":500)",
                "spec.activeDeadlineSeconds: Invalid value: 500: must be less than or equal to "
                "previous value");
  ExpectRefused(R"("activeDeadlineSeconds":null)",
                "spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive "
                "integer to nil value");
  ExpectTaken(R"("activeDeadlineSeconds":5)");
}

TEST_F(PodGatesTest, TheGracePeriodStays) {
  Make(R"("terminationGracePeriodSeconds":30)");
  ExpectRefused(R"("terminationGracePeriodSeconds":0)", "pod updates may not change fields");
  ExpectRefused(R"("terminationGracePeriodSeconds":1)", "pod updates may not change fields");
  ExpectTaken(R"("terminationGracePeriodSeconds":30)");
}

TEST(PodUpdateTest, ANegativeGracePeriodBecomesOne) {
  const auto causes_of = [](const char* period) {
    FieldCauses causes;
    CheckPodUpdate(
        *codec::JsonTree::Parse(R"({"terminationGracePeriodSeconds":-5})"),
        *codec::JsonTree::Parse(std::string(R"({"terminationGracePeriodSeconds":)") + period + "}"),
        causes);
    return causes.kept().size();
  };
  EXPECT_EQ(causes_of("1"), 0U);
  EXPECT_EQ(causes_of("-5"), 0U);
  EXPECT_EQ(causes_of("2"), 1U);
}

TEST_F(PodGatesTest, APodIsAMirrorOrNot) {
  const auto annotate = [this](const char* value) {
    return Do("PATCH", "/api/v1/namespaces/default/pods/x",
              std::string(R"({"metadata":{"annotations":{"kubernetes.io/config.mirror":)") + value +
                  "}}}",
              kMergePatch);
  };
  Make(kTolerations);
  EXPECT_THAT(Message(annotate(R"("h")")),
              HasSubstr("metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not add "
                        "mirror pod annotation"));
  ASSERT_EQ(Do("DELETE", "/api/v1/namespaces/default/pods/x?gracePeriodSeconds=0").status, 200);
  ASSERT_EQ(
      Do("POST", "/api/v1/namespaces/default/pods",
         R"({"metadata":{"name":"x","annotations":{"kubernetes.io/config.mirror":"h"}},"spec":{"nodeName":"n","containers":[{"name":"a","image":"i"}]}})")
          .status,
      201);
  for (const char* const value : {"null", R"("i")"}) {
    EXPECT_THAT(Message(annotate(value)),
                HasSubstr("metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not "
                          "remove or update mirror pod annotation"));
  }
  EXPECT_EQ(annotate(R"("h")").status, 200);
}

}  // namespace
}  // namespace kubexx::apiserver
