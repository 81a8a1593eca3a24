// How webhooks are called, and what becomes of calls that cannot be made or get no answer in time.
#include <gmock/gmock.h>

#include <chrono>
#include <stop_token>
#include <string>
#include <utility>

#include "kubexx/apiserver/endpoints/testing/webhook_fixture.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;
using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::FakeWebhooks;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kWebhookConfigurations = "/apis/admissionregistration.k8s.io/v1/";

class WebhookCallsTest : public testing::WebhookFixture {
 protected:
  static constexpr const char* kBoth[] = {kMutating, kValidating};

  /// Stopped when the time of a request is over.
  std::stop_source over_{};

  void Allowing(const std::string& name) {
    hooks_->Handle(Url(name), [](const JsonTree&) { return FakeWebhooks::Allowed(); });
  }
  void Remove(const char* plural, const std::string& name) {
    EXPECT_EQ(Do("DELETE", std::string(kWebhookConfigurations) + plural + "/" + name).status, 200);
  }
};

TEST_F(WebhookCallsTest, WhatTakesNoReviewsOfV1IsNotAsked) {
  for (const char* const plural : kBoth) {
    Allowing("a.b.c");
    Configure(plural, "v", {Hook("a.b.c", R"({"admissionReviewVersions":["v1beta1"]})")});
    const http::Response refused = Do("POST", kConfigMaps, ConfigMap("x"));
    EXPECT_EQ(refused.status, 500);
    EXPECT_EQ(Message(refused), R"(Internal error occurred: failed calling webhook "a.b.c": )"
                                "webhook does not accept known AdmissionReview versions (v1)");
    Remove(plural, "v");
    Configure(
        plural, "w",
        {Hook("a.b.c", R"({"admissionReviewVersions":["v1beta1"],"failurePolicy":"Ignore"})")});
    EXPECT_EQ(Do("POST", kConfigMaps, ConfigMap(std::string("x-") + plural)).status, 201);
    Remove(plural, "w");
    EXPECT_THAT(hooks_->Urls(), IsEmpty());
    Configure(plural, "b", {Hook("a.b.c", R"({"admissionReviewVersions":["v1beta1","v1"]})")});
    EXPECT_EQ(Do("POST", kConfigMaps, ConfigMap(std::string("y-") + plural)).status, 201);
    EXPECT_THAT(hooks_->Urls(), SizeIs(1));
    Remove(plural, "b");
    hooks_->Forget();
  }
}

TEST_F(WebhookCallsTest, EveryWriteWarnsOfAWebhookThatTakesNoReviewsOfV1) {
  const auto warned =
      ElementsAre(AllOf(HasSubstr("AdmissionReviews of v1 only"), HasSubstr(R"(\"a.b.c\" fail)")));
  const std::string hooks = R"("webhooks":[)" +
                            Hook("a.b.c", R"({"admissionReviewVersions":["v1beta1"]})") + "," +
                            Hook("d.b.c", R"({"admissionReviewVersions":["v1beta1","v1"]})") + "]}";
  for (const auto& [plural, kind] : {std::pair(kMutating, "MutatingWebhookConfiguration"),
                                     {kValidating, "ValidatingWebhookConfiguration"}}) {
    const std::string path = std::string(kWebhookConfigurations) + plural;
    const http::Response made = Do("POST", path, R"({"metadata":{"name":"m"},)" + hooks);
    EXPECT_EQ(made.status, 201) << made.body;
    EXPECT_THAT(WarningsOf(made), warned);
    EXPECT_THAT(WarningsOf(Do("PUT", path + "/m", made.body)), warned);
    EXPECT_THAT(
        WarningsOf(Do("PATCH", path + "/m", R"({"metadata":{"labels":{"a":"b"}}})", kMergePatch)),
        warned);
    const http::Response applied =
        Do("PATCH", path + "/n?fieldManager=f",
           R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":")" + std::string(kind) +
               R"(","metadata":{"name":"n"},)" + hooks,
           "application/apply-patch+yaml");
    EXPECT_EQ(applied.status, 201) << applied.body;
    EXPECT_THAT(WarningsOf(applied), warned);
  }
}

TEST_F(WebhookCallsTest, ACallHasTheTimeOfItsWebhook) {
  for (const char* const plural : kBoth) {
    Allowing("a.b.c");
    Allowing("d.b.c");
    Configure(plural, "v",
              {Hook("a.b.c", R"({"timeoutSeconds":3})"), Hook("d.b.c", R"({"matchPolicy":""})")});
    EXPECT_EQ(Do("POST", kConfigMaps, ConfigMap(std::string("x-") + plural)).status, 201);
    ASSERT_THAT(hooks_->Endpoints(), SizeIs(2));
    for (const admission::Endpoint& endpoint : hooks_->Endpoints()) {
      const bool own = endpoint.url.starts_with(Url("a.b.c"));
      EXPECT_EQ(endpoint.timeout, std::chrono::seconds(own ? 3 : 10));
      EXPECT_THAT(endpoint.url, HasSubstr(own ? "?timeout=3s" : "?timeout=10s"));
    }
    Remove(plural, "v");
    hooks_->Forget();
  }
}

/// As an older server has stored them: this one takes none with side effects.
TEST_F(WebhookCallsTest, ADryRunIsNotShownToAWebhookWithSideEffects) {
  for (const auto& [plural, kind] : {std::pair(kMutating, "MutatingWebhookConfiguration"),
                                     {kValidating, "ValidatingWebhookConfiguration"}}) {
    auto storage = *storage::NewMemoryStorage({});
    ASSERT_TRUE(storage->Create(
        std::string("/registry/") + plural + "/old",
        std::string(R"({"kind":")") + kind +
            R"(","apiVersion":"admissionregistration.k8s.io/v1","metadata":{"name":"old"},)"
            R"("webhooks":[)" +
            Hook("a.b.c", R"({"sideEffects":"Some","failurePolicy":"Ignore"})") + "]}",
        {}));
    Api old(*storage, OptionsWith(hooks_));
    ASSERT_TRUE(old.Bootstrap({}));
    Allowing("a.b.c");
    const std::string dry = std::string(kConfigMaps) + "?dryRun=All";
    const http::Response refused = testing::Ask(old, "POST", dry, ConfigMap("x"));
    EXPECT_EQ(refused.status, 400) << refused.body;
    EXPECT_EQ(Message(refused), R"(admission webhook "a.b.c" does not support dry run)");
    EXPECT_THAT(hooks_->Urls(), IsEmpty());
    EXPECT_EQ(testing::Ask(old, "POST", kConfigMaps, ConfigMap("x")).status, 201);
    EXPECT_THAT(hooks_->Urls(), ElementsAre(Url("a.b.c")));
    hooks_->Forget();
  }
}

// Over real connections: admission/dispatcher_test.cc.
TEST_F(WebhookCallsTest, ACallWithoutAnAnswerRefusesOrNotAsThePolicySays) {
  for (const char* const plural : kBoth) {
    hooks_->Handle(Url("a.b.c"), [](const JsonTree&) -> Result<JsonTree> {
      return Fail(Reason::kTimeout, "context deadline exceeded");
    });
    Configure(plural, "v", {Hook("a.b.c")});
    const http::Response refused = Do("POST", kConfigMaps, ConfigMap("x"));
    EXPECT_EQ(refused.status, 500);
    EXPECT_EQ(Message(refused),
              R"(Internal error occurred: failed calling webhook "a.b.c": failed to call webhook: )"
              "context deadline exceeded");
    Remove(plural, "v");
    Configure(plural, "w", {Hook("a.b.c", R"({"failurePolicy":"Ignore"})")});
    EXPECT_EQ(Do("POST", kConfigMaps, ConfigMap(std::string("x-") + plural)).status, 201);
    Remove(plural, "w");
  }
}

// A deletion that finds nothing is none; one that is denied with the same reason is refused.
TEST_F(WebhookCallsTest, ADenialThatSaysNotFoundIsADenial) {
  ASSERT_EQ(Do("POST", kConfigMaps, ConfigMap("kept")).status, 201);
  hooks_->Handle(Url("a.b.c"), [](const JsonTree&) {
    JsonTree denied = FakeWebhooks::Denied("not in my list", 404);
    denied["status"]["reason"] = "NotFound";
    return denied;
  });
  Configure(kValidating, "v", {Hook("a.b.c", R"({"rules":[{"operations":["*"],"apiGroups":["*"],
      "apiVersions":["*"],"resources":["configmaps"]}]})")});
  const http::Response refused = Do("DELETE", kConfigMaps);
  EXPECT_EQ(refused.status, 404);
  EXPECT_THAT(Message(refused), HasSubstr("not in my list"));
  EXPECT_EQ(Do("GET", std::string(kConfigMaps) + "/kept").status, 200);

  const std::string role = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles/r";
  const std::string body = R"({"metadata":{"name":"r"},"rules":[]})";
  Remove(kValidating, "v");
  ASSERT_EQ(Do("PUT", role, body).status, 201);
  Configure(kValidating, "v", {Hook("a.b.c", R"({"rules":[{"operations":["UPDATE"],
      "apiGroups":["*"],"apiVersions":["*"],"resources":["roles"]}]})")});
  EXPECT_EQ(Do("PUT", role, body).status, 404) << "no creation";
  EXPECT_EQ(Do("PATCH", role + "?fieldManager=a&force=true",
               R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role",)"
               R"("metadata":{"name":"r"},"rules":[]})",
               "application/apply-patch+yaml")
                .status,
            404);
}

TEST_F(WebhookCallsTest, ARequestWhoseTimeIsOverIsRefusedWhateverThePolicySays) {
  hooks_->Handle(Url("a.b.c"), [this](const JsonTree&) -> Result<JsonTree> {
    over_.request_stop();
    return Fail(Reason::kCancelled, "cancelled");
  });
  Configure(kValidating, "v", {Hook("a.b.c", R"({"failurePolicy":"Ignore"})")});
  http::Request request;
  request.method = "POST";
  request.path = kConfigMaps;
  request.headers = {{"Content-Type", "application/json"}};
  request.body = ConfigMap("x");
  request.stop = over_.get_token();
  const http::Response refused = api_.Handle(request);
  EXPECT_EQ(refused.status, 504) << refused.body;
  EXPECT_EQ(At(Json(refused), {"reason"}), "Timeout");
  EXPECT_EQ(Message(refused),
            "request did not complete within requested timeout: failed calling webhook \"a.b.c\": "
            "failed to call webhook: cancelled");
  EXPECT_EQ(Do("GET", std::string(kConfigMaps) + "/x").status, 404);
}

}  // namespace
}  // namespace kubexx::apiserver
