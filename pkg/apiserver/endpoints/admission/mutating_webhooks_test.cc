// Tests what mutating webhooks change in writes.
#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/webhook_fixture.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using ::testing::ElementsAre;
using testing::FakeWebhooks;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kAddLabel = R"([{"op":"add","path":"/metadata/labels","value":{"a":"b"}}])";

class MutatingWebhooksTest : public testing::WebhookFixture {
 protected:
  /// A webhook that always answers with this patch.
  void Patching(const std::string& name, const std::string& patch) {
    hooks_->Handle(Url(name), [patch](const JsonTree&) { return FakeWebhooks::Patch(patch); });
  }
};

TEST_F(MutatingWebhooksTest, ACreateIsShownAndChanged) {
  Configure(kMutating, "m", {Hook("a.b.c")});
  Patching("a.b.c", kAddLabel);
  const http::Response made =
      Do("POST", std::string(kConfigMaps) + "?fieldManager=me", ConfigMap("x"));
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(At(Json(made), {"metadata", "labels", "a"}), "b");
  EXPECT_EQ(At(Json(Do("GET", std::string(kConfigMaps) + "/x")), {"metadata", "labels", "a"}), "b");
  const auto asked = hooks_->Asked(Url("a.b.c"));
  ASSERT_THAT(asked, SizeIs(1));
  const JsonTree& request = asked.front();
  EXPECT_EQ(At(request, {"operation"}), "CREATE");
  EXPECT_EQ(At(request, {"name"}), "x");
  EXPECT_EQ(At(request, {"namespace"}), "default");
  EXPECT_EQ(At(request, {"kind"}), R"({"group":"","version":"v1","kind":"ConfigMap"})");
  EXPECT_EQ(At(request, {"requestKind"}), At(request, {"kind"}));
  EXPECT_EQ(At(request, {"resource"}), R"({"group":"","version":"v1","resource":"configmaps"})");
  EXPECT_EQ(At(request, {"object", "kind"}), "ConfigMap");
  EXPECT_EQ(At(request, {"object", "metadata", "namespace"}), "default");
  EXPECT_EQ(At(request, {"oldObject"}), "null");
  EXPECT_EQ(At(request, {"dryRun"}), "false");
  EXPECT_EQ(At(request, {"options", "kind"}), "CreateOptions");
  EXPECT_EQ(At(request, {"options", "fieldManager"}), "me");
  EXPECT_THAT(At(request, {"userInfo", "groups"}), HasSubstr("system:authenticated"));
  EXPECT_THAT(At(request, {"uid"}), SizeIs(36));
  ASSERT_THAT(hooks_->Endpoints(), SizeIs(1));
  EXPECT_EQ(hooks_->Endpoints().front().url, "https://a.b.c/?timeout=10s");
}

TEST_F(MutatingWebhooksTest, UpdatesPatchesAndAppliesAreChanged) {
  ASSERT_EQ(Do("POST", kConfigMaps, ConfigMap("x")).status, 201);
  Configure(kMutating, "m", {Hook("a.b.c")});
  Patching("a.b.c", R"([{"op":"add","path":"/data","value":{"k":"v"}}])");
  const std::string path = std::string(kConfigMaps) + "/x";
  for (const auto& [method, type] :
       {std::pair("PUT", "application/json"), std::pair("PATCH", kMergePatch),
        std::pair("PATCH", "application/apply-patch+yaml")}) {
    const http::Response changed =
        Do(method, path + "?fieldManager=m",
           R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"mine":"1"}})",
           type);
    EXPECT_EQ(changed.status, 200) << changed.body;
    EXPECT_EQ(At(Json(changed), {"data"}), R"({"k":"v"})") << method << type;
  }
  const auto asked = hooks_->Asked(Url("a.b.c"));
  ASSERT_THAT(asked, SizeIs(3));
  for (const JsonTree& request : asked) {
    EXPECT_EQ(At(request, {"operation"}), "UPDATE");
    EXPECT_EQ(At(request, {"oldObject", "metadata", "name"}), "x");
    EXPECT_EQ(At(request, {"object", "data", "mine"}), "1");
  }
  const http::Response applied =
      Do("PATCH", std::string(kConfigMaps) + "/new?fieldManager=m",
         R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"new"}})",
         "application/apply-patch+yaml");
  EXPECT_EQ(applied.status, 201) << applied.body;
  EXPECT_EQ(At(hooks_->Asked(Url("a.b.c")).back(), {"operation"}), "CREATE");
  EXPECT_EQ(At(hooks_->Asked(Url("a.b.c")).back(), {"object", "metadata", "namespace"}), "default");
}

TEST_F(MutatingWebhooksTest, TheyAreAskedInTheOrderOfTheNamesOfTheirConfigurations) {
  Configure(kMutating, "z", {Hook("a.b.c")});
  Configure(kMutating, "b", {Hook("c.b.c"), Hook("b.b.c")});
  for (const char* const name : {"a.b.c", "b.b.c", "c.b.c"}) {
    Patching(name, "[]");
  }
  ASSERT_EQ(Do("POST", kConfigMaps, ConfigMap("x")).status, 201);
  EXPECT_THAT(hooks_->Urls(), ElementsAre(Url("c.b.c"), Url("b.b.c"), Url("a.b.c")));
}

TEST_F(MutatingWebhooksTest, AnEarlierOneIsAskedAgainWhenALaterOneHasChangedTheObject) {
  Configure(kMutating, "m",
            {Hook("a.b.c", R"({"reinvocationPolicy":"IfNeeded"})"), Hook("b.b.c"),
             Hook("c.b.c", R"({"reinvocationPolicy":"IfNeeded"})")});
  Patching("a.b.c", "[]");
  Patching("b.b.c", kAddLabel);
  Patching("c.b.c", "[]");
  ASSERT_EQ(Do("POST", kConfigMaps, ConfigMap("x")).status, 201);
  EXPECT_THAT(hooks_->Urls(), ElementsAre(Url("a.b.c"), Url("b.b.c"), Url("c.b.c"), Url("a.b.c")));
  EXPECT_EQ(At(hooks_->Asked(Url("a.b.c")).back(), {"object", "metadata", "labels", "a"}), "b");
  hooks_->Forget();
  Patching("b.b.c", R"([{"op":"test","path":"/metadata/name","value":"y"}])");  // no change
  ASSERT_EQ(Do("POST", kConfigMaps, ConfigMap("y")).status, 201);
  EXPECT_THAT(hooks_->Urls(), SizeIs(3));
}

TEST_F(MutatingWebhooksTest, ScalesAreShownAsScales) {
  const std::string deployments = "/apis/apps/v1/namespaces/default/deployments";
  ASSERT_EQ(
      Do("POST", deployments,
         R"({"metadata":{"name":"d"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})")
          .status,
      201);
  const std::string rules =
      R"({"rules":[{"operations":["*"],"apiGroups":["apps"],"apiVersions":["*"],"resources":["*/scale"]}]})";
  Configure(kMutating, "m", {Hook("a.b.c", rules)});
  Configure(kValidating, "v", {Hook("v.b.c", rules)});
  Patching("a.b.c", R"([{"op":"replace","path":"/spec/replicas","value":7}])");
  hooks_->Handle(Url("v.b.c"), [](const JsonTree&) { return FakeWebhooks::Allowed(); });
  const http::Response scaled =
      Do("PATCH", deployments + "/d/scale", R"({"spec":{"replicas":3}})", kMergePatch);
  ASSERT_EQ(scaled.status, 200) << scaled.body;
  EXPECT_EQ(At(Json(scaled), {"spec", "replicas"}), "7");
  for (const char* const name : {"a.b.c", "v.b.c"}) {
    ASSERT_THAT(hooks_->Asked(Url(name)), SizeIs(1)) << name;
    const JsonTree request = hooks_->Asked(Url(name)).front();
    EXPECT_EQ(At(request, {"subResource"}), "scale");
    EXPECT_EQ(At(request, {"kind"}), R"({"group":"autoscaling","version":"v1","kind":"Scale"})");
    EXPECT_EQ(At(request, {"object", "kind"}), "Scale");
    EXPECT_EQ(At(request, {"object", "spec", "replicas"}), name[0] == 'a' ? "3" : "7");
    EXPECT_EQ(At(request, {"oldObject", "spec", "replicas"}), "1");
  }
  const http::Response applied = Do(
      "PATCH", deployments + "/d/scale?fieldManager=x&force=true",
      R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"d"},"spec":{"replicas":2}})",
      "application/apply-patch+yaml");
  EXPECT_EQ(At(Json(applied), {"spec", "replicas"}), "7") << applied.body;
}

TEST_F(MutatingWebhooksTest, StatusIsASubresourceOfItsOwn) {
  const std::string path = "/api/v1/namespaces/default/pods";
  ASSERT_EQ(Do("POST", path,
               R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})")
                .status,
            201);
  const std::string rules =
      R"({"rules":[{"operations":["UPDATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods/status"]}]})";
  Configure(kMutating, "m", {Hook("a.b.c", rules)});
  Patching("a.b.c", R"([{"op":"add","path":"/status/message","value":"hooked"}])");
  EXPECT_EQ(At(Json(Do("PATCH", path + "/p/status", R"({"status":{"reason":"r"}})", kMergePatch)),
               {"status", "message"}),
            "hooked");
  EXPECT_THAT(hooks_->Urls(), SizeIs(1));
  EXPECT_EQ(Do("PATCH", path + "/p", R"({"metadata":{"labels":{"a":"b"}}})", kMergePatch).status,
            200);
  EXPECT_THAT(hooks_->Urls(), SizeIs(1));
}

TEST_F(MutatingWebhooksTest, ABadPatchIsAnErrorThatNamesTheWebhook) {
  Configure(kMutating, "m", {Hook("a.b.c", R"({"failurePolicy":"Ignore"})")});
  Patching("a.b.c", R"([{"op":"remove","path":"/nothing"}])");
  const http::Response made = Do("POST", kConfigMaps, ConfigMap("x"));
  EXPECT_EQ(made.status, 500);
  EXPECT_THAT(Message(made), HasSubstr("a.b.c"));
  Patching("a.b.c", R"([{"op":"add","path":"/data","value":7}])");
  EXPECT_EQ(Do("POST", kConfigMaps, ConfigMap("x")).status, 500);
}

TEST_F(MutatingWebhooksTest, WhatAWebhookAddsToManagedFieldsIsForgotten) {
  Configure(kMutating, "m", {Hook("a.b.c")});
  Patching("a.b.c", R"([{"op":"add","path":"/metadata/managedFields","value":[]},)"
                    R"({"op":"add","path":"/data","value":{"k":"v"}}])");
  const JsonTree made = Json(Do("POST", std::string(kConfigMaps) + "?fieldManager=me",
                                ConfigMap("x", R"(,"immutable":false)")));
  EXPECT_EQ(At(made, {"metadata", "managedFields", "0", "manager"}), "me");
  EXPECT_EQ(At(made, {"data", "k"}), "v");
}

TEST_F(MutatingWebhooksTest, CustomResourcesArePrunedAfterTheWebhook) {
  ASSERT_EQ(Do("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
               R"({"metadata":{"name":"ks.x.io"},"spec":{"group":"x.io","scope":"Namespaced",)"
               R"("names":{"plural":"ks","kind":"K"},"versions":[)"
               R"({"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":)"
               R"({"type":"object","properties":{"a":{"type":"string"}}}}},)"
               R"({"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":)"
               R"({"type":"object","properties":{"a":{"type":"string"}}}}}]}})")
                .status,
            201);
  const std::string rules =
      R"("rules":[{"operations":["*"],"apiGroups":["x.io"],"apiVersions":["v2"],"resources":["ks"]}])";
  Configure(kMutating, "m",
            {Hook("a.b.c", "{" + rules + "}"),
             Hook("e.b.c", "{\"matchPolicy\":\"Exact\"," + rules + "}")});
  Patching("a.b.c",
           R"([{"op":"add","path":"/a","value":"1"},{"op":"add","path":"/b","value":"2"}])");
  const http::Response made = Do("POST", "/apis/x.io/v1/namespaces/default/ks",
                                 R"({"apiVersion":"x.io/v1","kind":"K","metadata":{"name":"k"}})");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(At(Json(made), {"a"}), "1");
  EXPECT_EQ(At(Json(made), {"b"}), "");
  EXPECT_EQ(At(Json(made), {"apiVersion"}), "x.io/v1");
  // The webhook gets the object in the version that it knows, and is told which version was sent.
  ASSERT_THAT(hooks_->Urls(), ElementsAre(Url("a.b.c")));
  const JsonTree request = hooks_->Asked(Url("a.b.c")).front();
  EXPECT_EQ(At(request, {"kind", "version"}), "v2");
  EXPECT_EQ(At(request, {"requestKind", "version"}), "v1");
  EXPECT_EQ(At(request, {"requestResource", "version"}), "v1");
  EXPECT_EQ(At(request, {"object", "apiVersion"}), "x.io/v2");
}

TEST_F(MutatingWebhooksTest, AMutatedObjectIsCheckedAsIfItHadBeenSent) {
  Configure(kMutating, "m", {Hook("a.b.c")});
  Patching("a.b.c", R"([{"op":"add","path":"/metadata/labels","value":{"-bad-":"b"}}])");
  EXPECT_EQ(Do("POST", kConfigMaps, ConfigMap("x")).status, 422);
  Patching("a.b.c", R"([{"op":"replace","path":"/metadata/namespace","value":"kube-system"}])");
  EXPECT_EQ(Do("POST", kConfigMaps, ConfigMap("x")).status, 400);
}

}  // namespace
}  // namespace kubexx::apiserver
