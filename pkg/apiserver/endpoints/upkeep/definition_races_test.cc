// Definitions that are made while a webhook is asked about something else.
#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>

#include "kubexx/apiserver/endpoints/testing/webhook_fixture.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using testing::FakeWebhooks;
using ::testing::HasSubstr;
using testing::kDefinitions;

class DefinitionRacesTest : public testing::WebhookFixture {
 protected:
  http::Response Define(const std::string& plural, const std::string& schema = "{}") {
    JsonTree spec = *JsonTree::Parse(schema);
    spec["type"] = "object";
    return Do("POST", kDefinitions,
              R"({"metadata":{"name":")" + plural +
                  R"(.example.com"},"spec":{"group":"example.com","scope":"Namespaced",)"
                  R"("names":{"plural":")" +
                  plural + R"(","singular":"one-of-)" + plural +
                  R"(","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,)"
                  R"("schema":{"openAPIV3Schema":)" +
                  spec.ToJson() + "}}]}}");
  }
  /// Does something once, when a webhook is asked about a write of the resource.
  template <class What>
  void During(const char* plural, const std::string& group, const std::string& resource,
              What what) {
    Configure(
        plural, "m",
        {Hook("a.b.c", R"({"rules":[{"operations":["CREATE","UPDATE"],"apiGroups":[")" + group +
                           R"("],"apiVersions":["*"],"resources":[")" + resource + R"("]}]})")});
    hooks_->Handle(Url("a.b.c"), [what, asked = std::make_shared<bool>(false)](const JsonTree&) {
      if (!std::exchange(*asked, true)) {
        what();
      }
      return FakeWebhooks::Allowed();
    });
  }
  std::string NamesAccepted(const std::string& plural) {
    const JsonTree definition =
        Json(Do("GET", std::string(kDefinitions) + "/" + plural + ".example.com"));
    return At(definition, {"status", "conditions", "0", "status"});
  }
};

TEST_F(DefinitionRacesTest, OfTwoDefinitionsOneGetsTheKind) {
  bool asked = false;
  During(kValidating, "apiextensions.k8s.io", "customresourcedefinitions", [this, &asked] {
    asked = true;
    EXPECT_EQ(Define("bs").status, 201);
  });
  EXPECT_EQ(Define("as").status, 201);
  EXPECT_TRUE(asked);
  EXPECT_EQ(NamesAccepted("bs"), "True");
  EXPECT_EQ(NamesAccepted("as"), "False");
  EXPECT_THAT(Do("GET", "/apis/example.com/v1").body, ::testing::Not(HasSubstr(R"("as")")));
}

TEST_F(DefinitionRacesTest, WhatSuitsAFormerDefinitionIsNotMadeInTheNextOne) {
  ASSERT_EQ(Define("as").status, 201);
  During(kMutating, "example.com", "as", [this] {
    EXPECT_EQ(Do("DELETE", std::string(kDefinitions) + "/as.example.com").status, 200);
    Tick();
    EXPECT_EQ(
        Define("as", R"({"required":["spec"],"properties":{"spec":{"type":"string"}}})").status,
        201);
  });
  const std::string things = "/apis/example.com/v1/namespaces/default/as";
  const std::string thing =
      R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"x"}})";
  const http::Response made = Do("POST", things, thing);
  EXPECT_EQ(made.status, 403) << made.body;
  EXPECT_EQ(Do("GET", things + "/x").status, 404);
  EXPECT_EQ(Do("POST", things, thing).status, 422);
  const http::Response suits =
      Do("POST", things,
         R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"x"},"spec":"s"})");
  EXPECT_EQ(suits.status, 201) << suits.body;
}

}  // namespace
}  // namespace kubexx::apiserver
