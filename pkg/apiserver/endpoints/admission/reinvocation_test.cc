// Tests the server's own admission, which runs again when a webhook has changed a pod.
#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/apiserver/endpoints/testing/fake_webhooks.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Result;
using codec::JsonTree;
using testing::FakeWebhooks;
using ::testing::SizeIs;

constexpr const char* kInjector = "https://injector.e.x/";
constexpr const char* kTokenPath = "/var/run/secrets/kubernetes.io/serviceaccount";

ApiOptions WithAccounts(const std::shared_ptr<FakeWebhooks>& hooks) {
  ApiOptions options;
  options.webhook_caller = hooks;
  options.service_accounts = true;
  return options;
}

/// The webhook injects a container.
class ReinvocationTest : public testing::ApiFixture {
 protected:
  explicit ReinvocationTest(std::shared_ptr<FakeWebhooks> hooks = std::make_shared<FakeWebhooks>())
      : ApiFixture(WithAccounts(hooks)), hooks_(std::move(hooks)) {}

  void SetUp() override {
    for (const char* const account :
         {R"({"metadata":{"name":"default"}})",
          R"({"metadata":{"name":"other"},"imagePullSecrets":[{"name":"pull"}]})"}) {
      ASSERT_EQ(Do("POST", "/api/v1/namespaces/default/serviceaccounts", account).status, 201);
    }
  }
  void Configure(const std::string& policy) {
    const http::Response made = Do(
        "POST", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
        R"({"metadata":{"name":"c"},"webhooks":[{"name":"injector.e.x","sideEffects":"None",
          "admissionReviewVersions":["v1"],"clientConfig":{"url":"https://injector.e.x/"},
          "reinvocationPolicy":")" +
            policy + R"(","rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],
          "resources":["pods"]}]}]})");
    ASSERT_EQ(made.status, 201) << made.body;
  }
  JsonTree MakePod() {
    const http::Response made =
        Do("POST", "/api/v1/namespaces/default/pods",
           R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"a","image":"i"}]}})");
    EXPECT_EQ(made.status, 201) << made.body;
    return Json(made);
  }
  static Result<JsonTree> Inject(const JsonTree& request) {
    const JsonTree* const containers = request.At({"object", "spec", "containers"});
    if (containers->size() > 1) {
      return FakeWebhooks::Allowed();
    }
    return FakeWebhooks::Patch(
        R"([{"op":"add","path":"/spec/containers/-","value":{"name":"sidecar","image":"s"}}])");
  }

  const std::shared_ptr<FakeWebhooks> hooks_;
};

TEST_F(ReinvocationTest, AnInjectedContainerHasTheTokenToo) {
  Configure("Never");
  hooks_->Handle(kInjector, Inject);
  const JsonTree pod = MakePod();
  for (const char* const container : {"0", "1"}) {
    EXPECT_EQ(At(pod, {"spec", "containers", container, "volumeMounts", "0", "mountPath"}),
              kTokenPath);
  }
  EXPECT_EQ(pod.At({"spec", "volumes"})->size(), 1U);
  EXPECT_THAT(hooks_->Asked(kInjector), SizeIs(1));
}

TEST_F(ReinvocationTest, AnotherAccountBringsItsPullSecrets) {
  Configure("Never");
  hooks_->Handle(kInjector, [](const JsonTree&) -> Result<JsonTree> {
    return FakeWebhooks::Patch(
        R"([{"op":"replace","path":"/spec/serviceAccountName","value":"other"},
            {"op":"replace","path":"/spec/serviceAccount","value":"other"}])");
  });
  EXPECT_EQ(At(MakePod(), {"spec", "imagePullSecrets", "0", "name"}), "pull");
}

TEST_F(ReinvocationTest, WebhooksSeeWhatTheServerAddsThen) {
  Configure("IfNeeded");
  hooks_->Handle(kInjector, Inject);
  MakePod();
  const auto asked = hooks_->Asked(kInjector);
  ASSERT_THAT(asked, SizeIs(2));
  EXPECT_EQ(At(asked[1], {"object", "spec", "containers", "1", "volumeMounts", "0", "mountPath"}),
            kTokenPath);
}

/// Counts its calls in the annotation.
FakeWebhooks::Handler CounterIn(const std::string& annotation) {
  return [annotation](const JsonTree& request) -> Result<JsonTree> {
    const JsonTree* const count = request.At({"object", "metadata", "annotations", annotation});
    return FakeWebhooks::Patch(R"([{"op":"add","path":"/metadata/annotations/)" + annotation +
                               R"(","value":")" + (count == nullptr ? "" : *count->AsString()) +
                               "i" + R"("}])");
  };
}

TEST_F(ReinvocationTest, WhatTheSecondCallOfOneChangesTheNextSeesInASecondCall) {
  const auto webhook = [](const std::string& name, const std::string& policy) {
    return R"({"name":")" + name + R"(.e.x","sideEffects":"None","admissionReviewVersions":["v1"],
      "clientConfig":{"url":"https://)" +
           name + R"(.e.x/"},"reinvocationPolicy":")" + policy +
           R"(","rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],
      "resources":["configmaps"]}]})";
  };
  const http::Response made =
      Do("POST", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
         R"({"metadata":{"name":"c"},"webhooks":[)" + webhook("first", "IfNeeded") + "," +
             webhook("once", "Never") + "," + webhook("last", "IfNeeded") + "]}");
  ASSERT_EQ(made.status, 201) << made.body;
  for (const char* const name : {"first", "once", "last"}) {
    hooks_->Handle("https://" + std::string(name) + ".e.x/", CounterIn(name));
  }
  const http::Response map = Do("POST", "/api/v1/namespaces/default/configmaps",
                                R"({"metadata":{"name":"m","annotations":{"own":"x"}}})");
  ASSERT_EQ(map.status, 201) << map.body;
  EXPECT_EQ(At(Json(map), {"metadata", "annotations"}),
            R"({"first":"ii","last":"ii","once":"i","own":"x"})");
}

}  // namespace
}  // namespace kubexx::apiserver
