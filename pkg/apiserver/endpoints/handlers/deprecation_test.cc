// Tests versions that are deprecated, and their warnings.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::kDefinitions;

constexpr const char* kEndpointsOfDefault = "/api/v1/namespaces/default/endpoints";

class DeprecationTest : public testing::ApiFixture {
 protected:
  std::vector<std::string> Warnings(const std::string& method, const std::string& target,
                                    const std::string& body = {}) {
    std::vector<std::string> warnings;
    for (const auto& [name, value] : Do(method, target, body).headers) {
      if (name == "Warning") {
        warnings.push_back(value);
      }
    }
    return warnings;
  }

  /// Defines the versions of a Gear. Each is {"name":...} with further members.
  void Define(const std::string& versions) {
    JsonTree definition = *JsonTree::Parse(R"({"metadata":{"name":"gears.example.com"},
        "spec":{"group":"example.com","scope":"Namespaced",
          "names":{"plural":"gears","kind":"Gear"},"versions":)" +
                                           versions + "}}");
    for (JsonTree& version : definition["spec"]["versions"].elements()) {
      if (version.Find("served") == nullptr) {
        version["served"] = true;
      }
      version["storage"] = version.TextAt("name") == "v1";
      version["schema"]["openAPIV3Schema"]["type"] = "object";
    }
    const http::Response made = Do("POST", kDefinitions, definition.ToJson());
    ASSERT_EQ(made.status, 201) << made.body;
  }
  static std::string Gears(const std::string& version) {
    return "/apis/example.com/" + version + "/namespaces/default/gears";
  }
};

TEST_F(DeprecationTest, EndpointsAndComponentStatusesAreWarnedOf) {
  const auto endpoints = ElementsAre(
      R"(299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice")");
  EXPECT_THAT(Warnings("POST", kEndpointsOfDefault, R"({"metadata":{"name":"e"}})"), endpoints);
  const std::string one = std::string(kEndpointsOfDefault) + "/e";
  EXPECT_THAT(Warnings("GET", one), endpoints);
  EXPECT_THAT(Warnings("GET", kEndpointsOfDefault), endpoints);
  EXPECT_THAT(Warnings("GET", "/api/v1/endpoints"), endpoints);
  EXPECT_THAT(Warnings("GET", std::string(kEndpointsOfDefault) + "?watch=1&timeoutSeconds=1"),
              endpoints);
  EXPECT_THAT(Warnings("GET", std::string(kEndpointsOfDefault) + "/missing"), endpoints);
  EXPECT_THAT(Warnings("PUT", one, R"({"metadata":{"name":"e"}})"), endpoints);
  EXPECT_THAT(Warnings("DELETE", one), endpoints);
  EXPECT_THAT(Warnings("GET", "/api/v1/componentstatuses"),
              ElementsAre(R"(299 - "v1 ComponentStatus is deprecated in v1.19+")"));
  EXPECT_THAT(Warnings("GET", "/apis/discovery.k8s.io/v1/endpointslices"), IsEmpty());
  EXPECT_THAT(Warnings("GET", "/api/v1/configmaps"), IsEmpty());
}

TEST_F(DeprecationTest, DefinitionsSayWhichOfTheirVersionsAreDeprecated) {
  Define(R"([{"name":"v1"},{"name":"v1beta1","deprecated":true},
             {"name":"v1alpha1","deprecated":true,"deprecationWarning":"it \"was\" a try"},
             {"name":"v2","served":false},{"name":"v1beta2","deprecated":false}])");
  EXPECT_THAT(Warnings("GET", Gears("v1")), IsEmpty());
  EXPECT_THAT(Warnings("GET", Gears("v1beta2")), IsEmpty());
  const auto warned =
      ElementsAre(R"(299 - "example.com/v1beta1 Gear is deprecated; use example.com/v1 Gear")");
  EXPECT_THAT(Warnings("GET", Gears("v1beta1")), warned);
  EXPECT_THAT(Warnings("GET", Gears("v1beta1") + "/missing"), warned);
  EXPECT_THAT(
      Warnings("POST", Gears("v1beta1"),
               R"({"apiVersion":"example.com/v1beta1","kind":"Gear","metadata":{"name":"g"}})"),
      warned);
  EXPECT_THAT(Warnings("GET", Gears("v1alpha1")), ElementsAre(R"(299 - "it \"was\" a try")"));
}

TEST_F(DeprecationTest, OnlyBetterVersionsAreRecommended) {
  Define(R"([{"name":"v1","deprecated":true},{"name":"v1beta1"}])");
  EXPECT_THAT(Warnings("GET", Gears("v1")),
              ElementsAre(R"(299 - "example.com/v1 Gear is deprecated")"));
}

}  // namespace
}  // namespace kubexx::apiserver
