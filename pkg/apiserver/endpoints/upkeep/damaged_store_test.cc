#include <gmock/gmock.h>

#include <optional>
#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

constexpr const char* kScrewDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// What has been written by other means than this server concerns nothing but itself.
class DamagedStoreTest : public testing::ApiFixture {
 protected:
  void Store(const std::string& key, const std::string& value) {
    ASSERT_TRUE(storage_->Create("/registry/" + key, value, {}).has_value());
  }
  static std::string Definition(const std::string& plural, const std::string& kind,
                                const std::string& meta = {}, const std::string& type = "object") {
    return R"({"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1",
      "metadata":{"name":")" +
           plural + R"(.example.com")" + meta + R"(},
      "spec":{"group":"example.com","scope":"Namespaced","names":{"plural":")" +
           plural + R"(","singular":")" + plural + R"(1","kind":")" + kind + R"(","listKind":")" +
           kind + R"(List"},
       "versions":[{"name":"v1","served":true,"storage":true,
        "schema":{"openAPIV3Schema":{"type":")" +
           type + R"("}}}]}})";
  }
  void Define(const std::string& plural, const std::string& kind) {
    const http::Response made = Do("POST", kScrewDefinitions, Definition(plural, kind));
    ASSERT_EQ(made.status, 201) << made.body;
  }
  http::Response Make(const std::string& plural, const std::string& kind) {
    return Do(
        "POST", "/apis/example.com/v1/namespaces/default/" + plural,
        R"({"apiVersion":"example.com/v1","kind":")" + kind + R"(","metadata":{"name":"s"}})");
  }
  static constexpr const char* kStoredDefinitions =
      "apiextensions.k8s.io/customresourcedefinitions/";
};

TEST_F(DamagedStoreTest, ADefinitionThatWouldBeRefusedStopsNoOther) {
  Store(std::string(kStoredDefinitions) + "anchors.example.com",
        Definition("anchors", "Anchor", "", "nonsense"));
  Define("screws", "Screw");
  EXPECT_EQ(Make("screws", "Screw").status, 201);
  Api again(*storage_, {});
  EXPECT_TRUE(again.Bootstrap({}).has_value());
}

TEST_F(DamagedStoreTest, ADefinitionThatCannotBeWrittenStopsNoOther) {
  // Its status is what makes it too large.
  std::string large = Definition("anchors", "Anchor", R"(,"annotations":{"a":""})");
  large.insert(large.find(R"("a":")") + 5, std::string((1536 << 10) - large.size() - 10, 'x'));
  Store(std::string(kStoredDefinitions) + "anchors.example.com", large);
  Define("screws", "Screw");
  EXPECT_EQ(Make("screws", "Screw").status, 201);
  EXPECT_EQ(Do("DELETE", std::string(kScrewDefinitions) + "/screws.example.com").status, 200);
  EXPECT_EQ(Do("GET", std::string(kScrewDefinitions) + "/screws.example.com").status, 404);
  Api again(*storage_, {});
  EXPECT_TRUE(again.Bootstrap({}).has_value());
}

TEST_F(DamagedStoreTest, ADefinitionThatCannotBeReadStopsNoOther) {
  Store(std::string(kStoredDefinitions) + "anchors.example.com", "nonsense");
  Define("screws", "Screw");
  EXPECT_EQ(Make("screws", "Screw").status, 201);
  Api again(*storage_, {});
  EXPECT_TRUE(again.Bootstrap({}).has_value());
}

/// Its objects would be all definitions.
constexpr const char* kOverlapping = R"({"kind":"CustomResourceDefinition",
  "apiVersion":"apiextensions.k8s.io/v1",
  "metadata":{"name":"customresourcedefinitions.apiextensions.k8s.io",
   "annotations":{"api-approved.kubernetes.io":"unapproved"}},
  "spec":{"group":"apiextensions.k8s.io","scope":"Cluster","names":{
    "plural":"customresourcedefinitions","singular":"over","kind":"Over","listKind":"OverList"},
   "versions":[{"name":"v9","served":true,"storage":true,
    "schema":{"openAPIV3Schema":{"type":"object"}}}]}})";

TEST_F(DamagedStoreTest, ADefinitionOverKubernetesOwnObjectsTakesNoneAlong) {
  const http::Response refused = Do("POST", kScrewDefinitions, kOverlapping);
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(Message(refused),
              ::testing::HasSubstr("spec.names.plural: Forbidden: the server keeps objects of its "
                                   "own there"));
  // An older server, or kube-apiserver, may have taken it.
  const std::string name = "customresourcedefinitions.apiextensions.k8s.io";
  Store(std::string(kStoredDefinitions) + name, kOverlapping);
  Define("screws", "Screw");
  ASSERT_EQ(Make("screws", "Screw").status, 201);
  EXPECT_EQ(Do("GET", "/apis/apiextensions.k8s.io/v9/customresourcedefinitions").status, 404);
  EXPECT_EQ(Do("DELETE", std::string(kScrewDefinitions) + "/" + name).status, 200);
  Tick();
  EXPECT_EQ(Do("GET", std::string(kScrewDefinitions) + "/" + name).status, 404);
  EXPECT_EQ(Do("GET", "/apis/example.com/v1/namespaces/default/screws/s").status, 200);
  const codec::JsonTree screws =
      Json(Do("GET", std::string(kScrewDefinitions) + "/screws.example.com"));
  EXPECT_EQ(At(screws, {"metadata", "deletionTimestamp"}), "");
}

TEST_F(DamagedStoreTest, AnObjectThatCannotBeReadHoldsItsOwnDefinitionOnly) {
  Define("anchors", "Anchor");
  Define("screws", "Screw");
  ASSERT_EQ(Make("anchors", "Anchor").status, 201);
  Store("example.com/anchors/default/a", "nonsense");
  EXPECT_EQ(Do("DELETE", std::string(kScrewDefinitions) + "/anchors.example.com").status, 200);
  EXPECT_EQ(Do("DELETE", std::string(kScrewDefinitions) + "/screws.example.com").status, 200);
  EXPECT_EQ(Do("GET", std::string(kScrewDefinitions) + "/screws.example.com").status, 404);
  EXPECT_EQ(Do("GET", "/apis/example.com/v1/namespaces/default/anchors/s").status, 404);
  EXPECT_EQ(Do("GET", std::string(kScrewDefinitions) + "/anchors.example.com").status, 200);
  Api again(*storage_, {});
  EXPECT_TRUE(again.Bootstrap({}).has_value());
  // When it has gone by other means, too, nothing holds the definition any more.
  ASSERT_TRUE(storage_->Delete("/registry/example.com/anchors/default/a", 0, {}).has_value());
  again.Tick();
  again.Reap();
  EXPECT_EQ(Do("GET", std::string(kScrewDefinitions) + "/anchors.example.com").status, 404);
}

TEST_F(DamagedStoreTest, ANamespaceThatCannotBeReadStopsNoStart) {
  Store("namespaces/broken", "nonsense");
  Api again(*storage_, {});
  EXPECT_TRUE(again.Bootstrap({}).has_value());
}

TEST_F(DamagedStoreTest, AnObjectThatCannotBeReadHoldsItsNamespaceAlone) {
  ASSERT_EQ(Do("POST", "/api/v1/namespaces", R"({"metadata":{"name":"n"}})").status, 201);
  Store("configmaps/n/broken", "nonsense");
  for (const char* const plural : {"configmaps", "secrets", "serviceaccounts"}) {
    ASSERT_EQ(
        Do("POST", std::string("/api/v1/namespaces/n/") + plural, R"({"metadata":{"name":"z"}})")
            .status,
        201);
  }
  EXPECT_EQ(Do("DELETE", "/api/v1/namespaces/n").status, 200);
  for (const char* const plural : {"configmaps", "secrets", "serviceaccounts"}) {
    EXPECT_EQ(Do("GET", std::string("/api/v1/namespaces/n/") + plural + "/z").status, 404)
        << plural;
  }
  EXPECT_EQ(Do("GET", "/api/v1/namespaces/n").status, 200);
}

}  // namespace
}  // namespace kubexx::apiserver
