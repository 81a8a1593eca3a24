#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using ::testing::HasSubstr;

constexpr const char* kBoltDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr const char* kBolts = "/apis/example.com/v1/namespaces/default/bolts";
constexpr const char* kBoltWarning =
    R"(metadata.finalizers: \"bolt\": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers)";

/// Operators that are older than the rule give their objects finalizers without a domain.
class FinalizersTest : public testing::ApiFixture {
 protected:
  http::Response Define(const std::string& meta = {}) {
    return Do("POST", kBoltDefinitions,
              R"({
      "metadata":{"name":"bolts.example.com")" +
                  meta + R"(},
      "spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"bolts","kind":"Bolt"},
       "versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
        "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})");
  }
  /// All that the answer warns of.
  static std::string WarningsOf(const http::Response& response) {
    std::string all;
    for (const auto& [name, value] : response.headers) {
      all += name == "Warning" ? value + "\n" : "";
    }
    return all;
  }
};

TEST_F(FinalizersTest, CustomResourcesMayHaveSomeWithoutADomain) {
  ASSERT_EQ(Define().status, 201);
  const http::Response made = Do(
      "POST", kBolts,
      R"({"apiVersion":"example.com/v1","kind":"Bolt","metadata":{"name":"b","finalizers":["bolt","foregroundDeletion"]}})");
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_THAT(WarningsOf(made), HasSubstr(kBoltWarning));
  EXPECT_THAT(WarningsOf(made), Not(HasSubstr("foregroundDeletion")));
  const std::string bolt = std::string(kBolts) + "/b";
  const http::Response labelled =
      Do("PATCH", bolt, R"({"metadata":{"labels":{"a":"b"}}})", kMergePatch);
  EXPECT_EQ(labelled.status, 200) << labelled.body;
  EXPECT_EQ(WarningsOf(labelled), "");
  const http::Response reported =
      Do("PATCH", bolt + "/status", R"({"status":{"a":"b"}})", kMergePatch);
  EXPECT_EQ(reported.status, 200) << reported.body;
  const http::Response more =
      Do("PATCH", bolt, R"({"metadata":{"finalizers":["bolt","nut"]}})", kMergePatch);
  EXPECT_EQ(more.status, 200) << more.body;
  EXPECT_THAT(WarningsOf(more), HasSubstr(R"(metadata.finalizers: \"nut\": prefer)"));
  EXPECT_THAT(WarningsOf(more), Not(HasSubstr("bolt")));
}

TEST_F(FinalizersTest, AppliedCustomResourcesMayToo) {
  ASSERT_EQ(Define().status, 201);
  const http::Response applied = Do(
      "PATCH", std::string(kBolts) + "/b?fieldManager=m",
      R"({"apiVersion":"example.com/v1","kind":"Bolt","metadata":{"name":"b","finalizers":["bolt"]}})",
      "application/apply-patch+yaml");
  EXPECT_EQ(applied.status, 201) << applied.body;
  EXPECT_THAT(WarningsOf(applied), HasSubstr(kBoltWarning));
}

TEST_F(FinalizersTest, DefinitionsAndWebhooksMayToo) {
  const http::Response made = Define(R"(,"finalizers":["bolt"])");
  EXPECT_EQ(made.status, 201) << made.body;
  const http::Response hook =
      Do("POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
         R"({"metadata":{"name":"b","finalizers":["bolt"]}})");
  EXPECT_EQ(hook.status, 201) << hook.body;
}

TEST_F(FinalizersTest, ADefinitionThatIsGoingCanBeChanged) {
  ASSERT_EQ(Define().status, 201);
  ASSERT_EQ(
      Do("POST", kBolts,
         R"({"apiVersion":"example.com/v1","kind":"Bolt","metadata":{"name":"b","finalizers":["e.example/a"]}})")
          .status,
      201);
  const std::string definition = std::string(kBoltDefinitions) + "/bolts.example.com";
  ASSERT_EQ(Do("DELETE", definition).status, 200);
  const http::Response labelled =
      Do("PATCH", definition, R"({"metadata":{"labels":{"a":"b"}}})", kMergePatch);
  EXPECT_EQ(labelled.status, 200) << labelled.body;
}

TEST_F(FinalizersTest, NamesThatAreNotQualifiedAreRefused) {
  ASSERT_EQ(Define().status, 201);
  for (const auto& [path, type] :
       {std::pair(kBolts, R"("apiVersion":"example.com/v1","kind":"Bolt")"),
        {"/api/v1/namespaces/default/configmaps", R"("kind":"ConfigMap")"}}) {
    for (const char* const name : {"a b", "a/b/c", "", "/b", "a.example/"}) {
      const http::Response refused =
          Do("POST", path,
             "{" + std::string(type) + R"(,"metadata":{"name":"b","finalizers":[")" + name +
                 R"("]}})");
      EXPECT_EQ(refused.status, 422) << path << " " << name << refused.body;
      EXPECT_THAT(Message(refused), HasSubstr("metadata.finalizers")) << name;
    }
  }
}

}  // namespace
}  // namespace kubexx::apiserver
