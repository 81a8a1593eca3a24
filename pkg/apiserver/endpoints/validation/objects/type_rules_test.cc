// What kube-apiserver's strategies say of single types.
#include <gmock/gmock.h>

#include <string>
#include <tuple>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

class TypeRulesTest : public testing::ApiFixture {};

TEST_F(TypeRulesTest, SomeTypesNeedAVersion) {
  ASSERT_EQ(Do("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", R"({
      "metadata":{"name":"gears.example.com"},
      "spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"gears","kind":"Gear"},
       "versions":[{"name":"v1","served":true,"storage":true,
        "schema":{"openAPIV3Schema":{"type":"object"}}}]}})")
                .status,
            201);
  for (const auto& [path, group, resource, kind] :
       {std::tuple("/apis/example.com/v1/namespaces/default/gears", "example.com", "gears", "Gear"),
        {"/apis/policy/v1/namespaces/default/poddisruptionbudgets", "policy",
         "poddisruptionbudgets", "PodDisruptionBudget"},
        {"/apis/node.k8s.io/v1/runtimeclasses", "node.k8s.io", "runtimeclasses", "RuntimeClass"}}) {
    const std::string type =
        R"({"apiVersion":")" + std::string(group) + R"(/v1","kind":")" + kind +
        (kind == std::string_view("RuntimeClass") ? R"(","handler":"h",)" : R"(",)");
    ASSERT_EQ(Do("POST", path, type + R"("metadata":{"name":"g"}})").status, 201) << path;
    const std::string one = std::string(path) + "/g";
    for (const char* const version : {"", R"(,"resourceVersion":"0")"}) {
      const http::Response refused =
          Do("PUT", one, type + R"("metadata":{"name":"g")" + std::string(version) + "}}");
      EXPECT_EQ(refused.status, 422) << refused.body;
      EXPECT_EQ(Message(refused), std::string(resource) + "." + group +
                                      " \"g\" is invalid: metadata.resourceVersion: Invalid "
                                      "value: 0: must be specified for an update");
    }
    EXPECT_EQ(Do("PUT", one, Do("GET", one).body).status, 200);
    EXPECT_EQ(Do("PATCH", one, R"({"metadata":{"labels":{"a":"b"}}})", kMergePatch).status, 200);
  }
}

TEST_F(TypeRulesTest, SomeTypesAreMadeByAnUpdate) {
  for (const auto& [path, status] :
       {std::pair("/apis/node.k8s.io/v1/runtimeclasses", 201),
        {"/apis/coordination.k8s.io/v1/namespaces/default/leases", 201},
        {"/api/v1/namespaces/default/podtemplates", 404},
        {"/api/v1/namespaces/default/configmaps", 404}}) {
    const std::string members = path == std::string_view("/apis/node.k8s.io/v1/runtimeclasses")
                                    ? R"(,"handler":"h"})"
                                    : "}";
    EXPECT_EQ(
        Do("PUT", std::string(path) + "/new", R"({"metadata":{"name":"new"})" + members).status,
        status)
        << path;
  }
}

// A kubelet, or who stands in for one, says what its node has when it makes it.
TEST_F(TypeRulesTest, ANewNodeHasTheStatusThatWasSent) {
  const http::Response made = Do("POST", "/api/v1/nodes",
                                 R"({"metadata":{"name":"n"},"status":{"capacity":{"cpu":"4"},
             "conditions":[{"type":"Ready","status":"True"}]}})");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(At(Json(made), {"status", "capacity", "cpu"}), "4");
  EXPECT_EQ(At(Json(made), {"status", "conditions", "0", "type"}), "Ready");
  const http::Response updated = Do(
      "PUT", "/api/v1/nodes/n", R"({"metadata":{"name":"n"},"status":{"capacity":{"cpu":"5"}}})");
  EXPECT_EQ(At(Json(updated), {"status", "capacity", "cpu"}), "4");
}

// Others' types that are called as Kubernetes' own.
TEST_F(TypeRulesTest, OnlyKubernetesOwnTypesHaveItsRules) {
  for (const auto& [plural, kind] :
       {std::pair("services", "Service"), {"secrets", "Secret"}, {"endpointslices", "Slice"}}) {
    const std::string name = plural;
    const http::Response defined =
        Do("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
           R"({"metadata":{"name":")" + name + R"(.example.com"},"spec":{"group":"example.com",
               "scope":"Namespaced","names":{"plural":")" +
               name + R"(","kind":")" + kind +
               R"("},"versions":[{"name":"v1","served":true,"storage":true,"schema":{
               "openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})");
    ASSERT_EQ(defined.status, 201) << defined.body;
    const std::string path = "/apis/example.com/v1/namespaces/default/" + name;
    const http::Response made = Do(
        "POST", path,
        R"({"apiVersion":"example.com/v1","kind":")" + std::string(kind) +
            R"(","metadata":{"name":"1.a"},"type":"x","immutable":true,"data":{"a":"b"},"ports":[{}]})");
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(At(Json(made), {"ports"}), "[{}]");
    EXPECT_EQ(Do("PATCH", path + "/1.a", R"({"type":"y","data":{"a":"c"}})", kMergePatch).status,
              200);
  }
}

TEST_F(TypeRulesTest, ADefinitionInKubernetesOwnGroupsNeedsApproval) {
  const http::Response refused =
      Do("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", R"({
      "metadata":{"name":"customresourcedefinitions.apiextensions.k8s.io"},
      "spec":{"group":"apiextensions.k8s.io","scope":"Cluster",
       "names":{"plural":"customresourcedefinitions","kind":"Other"},
       "versions":[{"name":"v2","served":true,"storage":true,
        "schema":{"openAPIV3Schema":{"type":"object"}}}]}})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(Message(refused), ::testing::HasSubstr("must have approval annotation"));
}

class AnswersTest : public testing::ApiFixture {
 protected:
  AnswersTest() { EXPECT_EQ(Do("POST", kMaps, R"({"metadata":{"name":"a"}})").status, 201); }
  static constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
  static constexpr const char* kMap = "/api/v1/namespaces/default/configmaps/a";
};

TEST_F(AnswersTest, AnUpdateNamesItsObject) {
  const http::Response refused = Do("PUT", kMap, R"({"data":{"a":"b"}})");
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(Message(refused),
            "the name of the object (a based on URL) was undeterminable: name must be provided");
  EXPECT_EQ(Do("PUT", kMap, R"({"metadata":{"name":"b"}})").status, 400);
}

TEST_F(AnswersTest, AScaleNamesItsObject) {
  const std::string sets = "/apis/apps/v1/namespaces/default/replicasets";
  ASSERT_EQ(Do("POST", sets, R"({"metadata":{"name":"s"},"spec":{"selector":{"matchLabels":
               {"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[
               {"name":"c","image":"i"}]}}}})")
                .status,
            201);
  const std::string scale = sets + "/s/scale";
  for (const char* const other : {"", R"("name":"t")"}) {
    EXPECT_EQ(Do("PUT", scale,
                 std::string(R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{)") +
                     other + R"(},"spec":{"replicas":2}})")
                  .status,
              400);
  }
  EXPECT_EQ(Do("PUT", scale, R"({"apiVersion":"autoscaling/v1","kind":"Scale",
               "metadata":{"name":"s"},"spec":{"replicas":2}})")
                .status,
            200);
  EXPECT_EQ(Do("PATCH", scale, R"({"kind":"Secret","spec":{"replicas":3}})", kMergePatch).status,
            422);
  EXPECT_EQ(Do("PATCH", scale, R"({"spec":{"replicas":3}})", kMergePatch).status, 200);
}

TEST_F(AnswersTest, APatchMakesNoOtherKind) {
  EXPECT_EQ(Do("PATCH", kMap, R"({"kind":"Secret"})", kMergePatch).status, 422);
  EXPECT_EQ(Do("PATCH", kMap, R"({"apiVersion":"v2"})", kMergePatch).status, 422);
  EXPECT_EQ(Do("PATCH", kMap, R"([{"op":"replace","path":"/kind","value":"Secret"}])",
               "application/json-patch+json")
                .status,
            422);
  EXPECT_EQ(
      Do("PATCH", kMap, R"({"kind":"Secret"})", "application/strategic-merge-patch+json").status,
      422);
  EXPECT_EQ(Do("PATCH", kMap, R"({"kind":7})", kMergePatch).status, 422);
  EXPECT_EQ(Do("PATCH", kMap, R"({"apiVersion":{}})", kMergePatch).status, 422);
  EXPECT_EQ(Do("PATCH", kMap, R"({"kind":"ConfigMap","apiVersion":"v1"})", kMergePatch).status,
            200);
}

TEST_F(AnswersTest, AVersionOfTheFutureIsNotThere) {
  EXPECT_EQ(Do("GET", std::string(kMap) + "?resourceVersion=x").status, 400);
  const http::Response refused = Do("GET", std::string(kMap) + "?resourceVersion=999999999999");
  EXPECT_EQ(refused.status, 504);
  EXPECT_THAT(refused.body, ::testing::HasSubstr("ResourceVersionTooLarge"));
  for (const char* const good : {"", "0", "1"}) {
    EXPECT_EQ(Do("GET", std::string(kMap) + "?resourceVersion=" + good).status, 200);
  }
}

TEST_F(AnswersTest, ALimitIsOfWhatIsDeletedToo) {
  for (const char* const name : {"b", "c"}) {
    ASSERT_EQ(Do("POST", kMaps, std::string(R"({"metadata":{"name":")") + name + R"("}})").status,
              201);
  }
  const http::Response deleted = Do("DELETE", std::string(kMaps) + "?limit=2");
  ASSERT_EQ(deleted.status, 200) << deleted.body;
  EXPECT_EQ(Json(deleted).Find("items")->size(), 2U);
  EXPECT_EQ(At(Json(Do("GET", kMaps)), {"items", "0", "metadata", "name"}), "c");
}

}  // namespace
}  // namespace kubexx::apiserver
