// Tests what validating webhooks refuse, and what happens when webhooks fail.
#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/webhook_fixture.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using codec::JsonTree;
using ::testing::ElementsAre;
using testing::FakeWebhooks;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class ValidatingWebhooksTest : public testing::WebhookFixture {
 protected:
  void Denying(const std::string& name, const std::string& message) {
    hooks_->Handle(Url(name), [message](const JsonTree&) { return FakeWebhooks::Denied(message); });
  }
  void Allowing(const std::string& name) {
    hooks_->Handle(Url(name), [](const JsonTree&) { return FakeWebhooks::Allowed(); });
  }
};

TEST_F(ValidatingWebhooksTest, ADenialIsTheAnswer) {
  Configure(kValidating, "v", {Hook("a.b.c")});
  Denying("a.b.c", "not that one");
  const http::Response made = Do("POST", kConfigMaps, ConfigMap("x"));
  EXPECT_EQ(made.status, 403);
  EXPECT_EQ(Message(made), R"(admission webhook "a.b.c" denied the request: not that one)");
  EXPECT_EQ(At(Json(made), {"reason"}), "Forbidden");
  EXPECT_EQ(Do("GET", std::string(kConfigMaps) + "/x").status, 404);
  hooks_->Handle(Url("a.b.c"), [](const JsonTree&) { return *JsonTree::Parse("{}"); });
  const http::Response silent = Do("POST", kConfigMaps, ConfigMap("x"));
  EXPECT_EQ(silent.status, 400);
  EXPECT_EQ(Message(silent), R"(admission webhook "a.b.c" denied the request without explanation)");
  Allowing("a.b.c");
  EXPECT_EQ(Do("POST", kConfigMaps, ConfigMap("x")).status, 201);
}

TEST_F(ValidatingWebhooksTest, ItSeesWhatIsAboutToBeStored) {
  Configure(kMutating, "m", {Hook("m.b.c")});
  hooks_->Handle(Url("m.b.c"), [](const JsonTree&) {
    return FakeWebhooks::Patch(R"([{"op":"add","path":"/data","value":{"k":"v"}}])");
  });
  Configure(kValidating, "v", {Hook("a.b.c")});
  Allowing("a.b.c");
  const http::Response made = Do("POST", kConfigMaps, R"({"metadata":{"generateName":"x-"}})");
  ASSERT_EQ(made.status, 201) << made.body;
  const JsonTree request = hooks_->Asked(Url("a.b.c")).front();
  EXPECT_EQ(At(request, {"object", "data", "k"}), "v");
  EXPECT_EQ(At(request, {"object", "metadata", "uid"}), At(Json(made), {"metadata", "uid"}));
  EXPECT_EQ(At(request, {"name"}), At(Json(made), {"metadata", "name"}));
}

TEST_F(ValidatingWebhooksTest, DeletionsAreRefused) {
  for (const char* const name : {"x", "y"}) {
    ASSERT_EQ(Do("POST", kConfigMaps, ConfigMap(name)).status, 201);
  }
  Configure(kValidating, "v", {Hook("a.b.c")});
  Denying("a.b.c", "it stays");
  const std::string path = std::string(kConfigMaps) + "/x";
  EXPECT_EQ(Do("DELETE", path, R"({"gracePeriodSeconds":5})").status, 403);
  EXPECT_EQ(Do("DELETE", kConfigMaps).status, 403);
  EXPECT_EQ(Do("GET", path).status, 200);
  const auto asked = hooks_->Asked(Url("a.b.c"));
  ASSERT_THAT(asked, SizeIs(2));
  EXPECT_EQ(At(asked[0], {"operation"}), "DELETE");
  EXPECT_EQ(At(asked[0], {"name"}), "x");
  EXPECT_EQ(At(asked[0], {"object"}), "null");
  EXPECT_EQ(At(asked[0], {"oldObject", "metadata", "name"}), "x");
  EXPECT_EQ(At(asked[0], {"options", "kind"}), "DeleteOptions");
  EXPECT_EQ(At(asked[0], {"options", "gracePeriodSeconds"}), "5");
  EXPECT_EQ(At(asked[1], {"oldObject", "metadata", "name"}), "x");
  Allowing("a.b.c");
  EXPECT_EQ(Do("DELETE", kConfigMaps).status, 200);
  EXPECT_EQ(Do("GET", path).status, 404);
  EXPECT_THAT(hooks_->Asked(Url("a.b.c")), SizeIs(4));
}

TEST_F(ValidatingWebhooksTest, AMutatingWebhookCanRefuseADeletionButNotChangeIt) {
  ASSERT_EQ(Do("POST", kConfigMaps, ConfigMap("x")).status, 201);
  Configure(kMutating, "m", {Hook("a.b.c")});
  hooks_->Handle(Url("a.b.c"), [](const JsonTree&) {
    return FakeWebhooks::Patch(R"([{"op":"add","path":"/a","value":1}])");
  });
  const http::Response gone = Do("DELETE", std::string(kConfigMaps) + "/x");
  EXPECT_EQ(gone.status, 500);
  EXPECT_THAT(Message(gone), HasSubstr("attempted to modify the object"));
}

TEST_F(ValidatingWebhooksTest, AFailedCallRefusesOrNotAsThePolicySays) {
  Configure(kValidating, "v", {Hook("a.b.c", R"({"failurePolicy":"Ignore"})")});
  EXPECT_EQ(Do("POST", kConfigMaps, ConfigMap("x")).status, 201);  // Nobody answers there.
  Configure(kValidating, "w", {Hook("d.b.c")});
  const http::Response made = Do("POST", kConfigMaps, ConfigMap("y"));
  EXPECT_EQ(made.status, 500);
  EXPECT_EQ(Message(made),
            R"(Internal error occurred: failed calling webhook "d.b.c": failed to call webhook: )"
            "connection refused");
  EXPECT_EQ(At(Json(made), {"reason"}), "InternalError");
  // An invalid answer is a failed call, too.
  hooks_->Handle(Url("d.b.c"),
                 [](const JsonTree&) { return *JsonTree::Parse(R"({"uid":"1","allowed":true})"); });
  EXPECT_THAT(Message(Do("POST", kConfigMaps, ConfigMap("y"))),
              HasSubstr("received invalid webhook response: expected response.uid="));
}

TEST_F(ValidatingWebhooksTest, AllAreAskedAndTheFirstErrorCounts) {
  Configure(kValidating, "v", {Hook("a.b.c"), Hook("b.b.c"), Hook("c.b.c")});
  Allowing("a.b.c");
  Denying("b.b.c", "second");
  Denying("c.b.c", "third");
  EXPECT_THAT(Message(Do("POST", kConfigMaps, ConfigMap("x"))), HasSubstr("second"));
  EXPECT_THAT(hooks_->Urls(), UnorderedElementsAre(Url("a.b.c"), Url("b.b.c"), Url("c.b.c")));
}

TEST_F(ValidatingWebhooksTest, WarningsComeWithTheAnswerWhateverItIs) {
  Configure(kValidating, "v", {Hook("a.b.c")});
  JsonTree answer = FakeWebhooks::Allowed();
  answer["warnings"].Append("mind the gap");
  answer["warnings"].Append("mind the gap");
  hooks_->Handle(Url("a.b.c"), [answer](const JsonTree&) { return answer; });
  EXPECT_THAT(WarningsOf(Do("POST", kConfigMaps, ConfigMap("x"))),
              ElementsAre(R"(299 - "mind the gap")"));
  answer["allowed"] = false;
  hooks_->Handle(Url("a.b.c"), [answer](const JsonTree&) { return answer; });
  const http::Response denied = Do("POST", kConfigMaps, ConfigMap("y"));
  EXPECT_EQ(denied.status, 400);
  EXPECT_THAT(WarningsOf(denied), ElementsAre(R"(299 - "mind the gap")"));
}

TEST_F(ValidatingWebhooksTest, DryRunsAreShownToThoseWithoutSideEffects) {
  Configure(kValidating, "v", {Hook("a.b.c", R"({"sideEffects":"NoneOnDryRun"})")});
  Denying("a.b.c", "no");
  EXPECT_EQ(Do("POST", std::string(kConfigMaps) + "?dryRun=All", ConfigMap("x")).status, 403);
  EXPECT_EQ(At(hooks_->Asked(Url("a.b.c")).front(), {"dryRun"}), "true");
  EXPECT_EQ(At(hooks_->Asked(Url("a.b.c")).front(), {"options", "dryRun"}), R"(["All"])");
}

TEST_F(ValidatingWebhooksTest, ConfigurationsAreNotShownToWebhooks) {
  Configure(kValidating, "v",
            {Hook("a.b.c", R"({"rules":[{"operations":["*"],"apiGroups":["*"],)"
                           R"("apiVersions":["*"],"resources":["*/*"]}]})")});
  const std::string path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
  EXPECT_EQ(Do("POST", kConfigMaps, ConfigMap("x")).status, 500);
  EXPECT_EQ(Do("PATCH", path + "/v", R"({"metadata":{"labels":{"a":"b"}}})", kMergePatch).status,
            200);
  EXPECT_EQ(Do("DELETE", path + "/v").status, 200);
  EXPECT_EQ(Do("POST", kConfigMaps, ConfigMap("x")).status, 201);
}

TEST_F(ValidatingWebhooksTest, NamespacesAreSelectedByTheirLabels) {
  Configure(kValidating, "v",
            {Hook("a.b.c", R"({"namespaceSelector":{"matchLabels":{"hooks":"yes"}},"rules":[)"
                           R"({"operations":["*"],"apiGroups":[""],"apiVersions":["*"],)"
                           R"("resources":["configmaps","namespaces","nodes"]}]})")});
  Denying("a.b.c", "no");
  EXPECT_EQ(Do("POST", kConfigMaps, ConfigMap("x")).status, 201);
  EXPECT_EQ(Do("PATCH", "/api/v1/namespaces/default", R"({"metadata":{"labels":{"hooks":"no"}}})",
               kMergePatch)
                .status,
            200);
  // The labels that the namespace would have are the ones that count.
  EXPECT_EQ(Do("PATCH", "/api/v1/namespaces/default", R"({"metadata":{"labels":{"hooks":"yes"}}})",
               kMergePatch)
                .status,
            403);
  EXPECT_EQ(At(hooks_->Asked(Url("a.b.c")).front(), {"namespace"}), "default");
  EXPECT_EQ(
      Do("POST", "/api/v1/namespaces", R"({"metadata":{"name":"n","labels":{"hooks":"yes"}}})")
          .status,
      403);
  // An object without a namespace is not exempt.
  EXPECT_EQ(Do("POST", "/api/v1/nodes", ConfigMap("n")).status, 403);
  EXPECT_EQ(Do("POST", "/api/v1/namespaces/nowhere/configmaps", ConfigMap("x")).status, 404);
}

TEST_F(ValidatingWebhooksTest, PodsAreBoundAndEvictedWithTheConsentOfWebhooks) {
  const std::string pods = "/api/v1/namespaces/default/pods";
  ASSERT_EQ(Do("POST", pods,
               R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})")
                .status,
            201);
  Configure(kValidating, "v",
            {Hook("a.b.c", R"({"rules":[{"operations":["CREATE"],)"
                           R"("apiGroups":[""],"apiVersions":["v1"],)"
                           R"("resources":["pods/*"]}]})")});
  Denying("a.b.c", "no");
  EXPECT_EQ(
      Do("POST", pods + "/p/binding", R"({"metadata":{"name":"p"},"target":{"name":"n"}})").status,
      403);
  EXPECT_EQ(Do("POST", pods + "/p/eviction",
               R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"}})")
                .status,
            403);
  EXPECT_EQ(At(Json(Do("GET", pods + "/p")), {"spec", "nodeName"}), "");
  const auto asked = hooks_->Asked(Url("a.b.c"));
  ASSERT_THAT(asked, SizeIs(2));
  EXPECT_EQ(At(asked[0], {"kind", "kind"}), "Binding");
  EXPECT_EQ(At(asked[1], {"kind"}), R"({"group":"policy","version":"v1","kind":"Eviction"})");
  EXPECT_EQ(At(asked[1], {"resource", "resource"}), "pods");
  EXPECT_EQ(At(asked[1], {"subResource"}), "eviction");
}

TEST_F(ValidatingWebhooksTest, AServiceIsWhereItsEndpointsAre) {
  Configure(kValidating, "v",
            {Hook("a.b.c", R"({"clientConfig":{"caBundle":"Q0E=","service":)"
                           R"({"namespace":"default","name":"s","path":"/p"}}})")});
  hooks_->Handle("https://10.1.2.3:9443/p",
                 [](const JsonTree&) { return FakeWebhooks::Allowed(); });
  EXPECT_THAT(Message(Do("POST", kConfigMaps, ConfigMap("x"))),
              HasSubstr(R"(services "s" not found)"));
  ASSERT_EQ(Do("POST", "/api/v1/namespaces/default/services",
               R"({"metadata":{"name":"s"},"spec":{"ports":[{"name":"h","port":443}]}})")
                .status,
            201);
  EXPECT_THAT(Message(Do("POST", kConfigMaps, ConfigMap("x"))),
              HasSubstr("service default/s has no endpoints that are ready"));
  ASSERT_EQ(Do("POST", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
               R"({"metadata":{"name":"s-1","labels":{"kubernetes.io/service-name":"s"}},)"
               R"("addressType":"IPv4","ports":[{"name":"h","port":9443}],"endpoints":[)"
               R"({"addresses":["10.0.0.1"],"conditions":{"ready":false}},)"
               R"({"addresses":["10.1.2.3"]}]})")
                .status,
            201);
  hooks_->Forget();
  EXPECT_EQ(Do("POST", kConfigMaps, ConfigMap("x")).status, 201);
  ASSERT_THAT(hooks_->Endpoints(), SizeIs(1));
  EXPECT_EQ(hooks_->Endpoints().front().server_name, "s.default.svc");
  EXPECT_EQ(hooks_->Endpoints().front().authority, "CA");
}

TEST_F(ValidatingWebhooksTest, ConfigurationsHaveTheirDefaultsAndAreChecked) {
  const std::string path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
  const JsonTree made =
      Json(Do("POST", path, R"({"metadata":{"name":"m"},"webhooks":[)" + Hook("a.b.c") + "]}"));
  const JsonTree& hook = *made.At({"webhooks", "0"});
  EXPECT_EQ(At(hook, {"failurePolicy"}), "Fail");
  EXPECT_EQ(At(hook, {"matchPolicy"}), "Equivalent");
  EXPECT_EQ(At(hook, {"reinvocationPolicy"}), "Never");
  EXPECT_EQ(At(hook, {"timeoutSeconds"}), "10");
  EXPECT_EQ(At(hook, {"namespaceSelector"}), "{}");
  EXPECT_EQ(At(hook, {"rules", "0", "scope"}), "*");
  const std::string warned =
      Hook("a.b.c", R"({"matchConditions":[{"name":"a","expression":"x"}]})");
  EXPECT_THAT(
      WarningsOf(Do("POST", path, R"({"metadata":{"name":"w"},"webhooks":[)" + warned + "]}")),
      ElementsAre(HasSubstr("evaluates no CEL")));
  for (
      const char* const bad :
      {R"({"name":"short"})", R"({"sideEffects":null})", R"({"sideEffects":"Some"})",
       R"({"sideEffects":"Unknown"})", R"({"timeoutSeconds":0})", R"({"timeoutSeconds":31})",
       R"({"admissionReviewVersions":["v2"]})", R"({"clientConfig":{"url":"http://a.b/"}})",
       R"({"clientConfig":{}})", R"({"failurePolicy":"Never"})",
       R"({"objectSelector":{"matchLabels":{"a":"b c"}}})",
       R"({"namespaceSelector":{"matchExpressions":[{"key":"a","operator":"in","values":["b"]}]}})",
       R"({"objectSelector":{"matchExpressions":[{"key":"a","operator":"Exists","values":["b"]}]}})",
       R"({"objectSelector":{"matchExpressions":[{"key":"a","operator":"In","values":["b c"]}]}})",
       R"({"objectSelector":{"matchExpressions":[{"key":"","operator":"Exists"}]}})",
       R"({"objectSelector":{"matchExpressions":[{"key":"a","operator":"NotIn"}]}})",
       R"({"rules":[{"operations":["READ"],"apiGroups":[""],"apiVersions":["v1"],"resources":["a"]}]})"}) {
    const http::Response refused =
        Do("POST", path, R"({"metadata":{"name":"b"},"webhooks":[)" + Hook("a.b.c", bad) + "]}");
    EXPECT_EQ(refused.status, 422) << bad;
    EXPECT_THAT(At(Json(refused), {"details", "causes", "0", "field"}), HasSubstr("webhooks[0]"));
  }
}

/// An older server may have stored such a selector.
TEST_F(ValidatingWebhooksTest, ASelectorThatIsNoneLetsNothingPass) {
  ASSERT_TRUE(storage_->Create(
      "/registry/validatingwebhookconfigurations/old",
      R"({"kind":"ValidatingWebhookConfiguration","apiVersion":"admissionregistration.k8s.io/v1",)"
      R"("metadata":{"name":"old"},"webhooks":[)" +
          Hook("a.b.c",
               R"({"objectSelector":{"matchExpressions":[{"key":"a","operator":"Is"}]}})") +
          "]}",
      {}));
  Api again(*storage_, OptionsWith(hooks_));
  ASSERT_TRUE(again.Bootstrap({}));
  http::Request request;
  request.method = "POST";
  request.path = kConfigMaps;
  request.headers = {{"Content-Type", "application/json"}};
  request.body = ConfigMap("m");
  EXPECT_EQ(again.Handle(request).status, 500);
  request.path = "/api/v1/namespaces/default/secrets";
  EXPECT_EQ(again.Handle(request).status, 201);
}

}  // namespace
}  // namespace kubexx::apiserver
