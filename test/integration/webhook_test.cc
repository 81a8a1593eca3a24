// Admission webhooks that a real API server calls over TLS.
#include <gmock/gmock.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "cluster_fixture.h"
#include "kubexx/api/admissionregistration/v1/types.gen.h"
#include "kubexx/http/certificate.h"
#include "kubexx/kubernetes/admissionregistration_v1.gen.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/webhook/server.h"

namespace kubexx::integration {
namespace {

using api::admissionregistration::v1::MutatingWebhookConfiguration;
using api::admissionregistration::v1::ValidatingWebhookConfiguration;
using ::testing::HasSubstr;

class WebhookIntegrationTest : public ClusterTest {
 protected:
  void SetUp() override {
    ClusterTest::SetUp();
    if (HasFatalFailure()) {
      return;
    }
    auto pair = http::SelfSigned({"127.0.0.1"});
    ASSERT_TRUE(pair) << pair.error().ToString();
    certificate_ = pair->certificate;
    server_ = std::make_unique<webhook::Server>(
        webhook::Server::Options{.address = "127.0.0.1:0",
                                 .tls = {.certificate = http::FixedCertificate(std::move(*pair))},
                                 .registry = &registry_});
    const auto started = server_->Start();
    ASSERT_TRUE(started) << started.error().ToString();
  }

  void TearDown() override {
    const kubernetes::Clientset clients(client_);
    (void)clients.AdmissionregistrationV1().MutatingWebhookConfigurations().Delete(namespace_);
    (void)clients.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(namespace_);
    ClusterTest::TearDown();
  }

  /// A configuration for the ConfigMaps of the test's namespace.
  template <class Configuration>
  Configuration MakeConfiguration(const std::string& path) const {
    Configuration configuration;
    configuration.metadata.name = namespace_;
    auto& hook = configuration.webhooks.emplace_back();
    hook.name = "it.kubexx.example.com";
    hook.client_config.url = "https://127.0.0.1:" + std::to_string(server_->port()) + path;
    hook.client_config.ca_bundle = apimachinery::Bytes(certificate_);
    auto& rule = hook.rules.emplace_back();
    rule.operations = {"CREATE", "UPDATE", "DELETE"};
    rule.rule.api_groups = {""};
    rule.rule.api_versions = {"v1"};
    rule.rule.resources = {"configmaps"};
    hook.failure_policy = "Fail";
    hook.side_effects = "None";
    hook.admission_review_versions = {"v1"};
    hook.timeout_seconds = 10;
    hook.namespace_selector.emplace().match_labels = {{"kubernetes.io/metadata.name", namespace_}};
    return configuration;
  }

  metrics::Registry registry_;
  std::string certificate_;
  std::unique_ptr<webhook::Server> server_;
};

TEST_F(WebhookIntegrationTest, MutatingWebhookChangesObjects) {
  server_->Handle<ConfigMap>("/mutate", [](webhook::Review<ConfigMap>& review) {
    review.object.metadata.annotations["seen/by"] =
        review.call.request.operation + (review.call.dry_run ? " dry" : "");
    review.object.data["added"] = "yes";
    return webhook::Response::Allowed();
  });
  const auto hooks =
      kubernetes::Clientset(client_).AdmissionregistrationV1().MutatingWebhookConfigurations();
  const auto configured = hooks.Create(MakeConfiguration<MutatingWebhookConfiguration>("/mutate"));
  ASSERT_TRUE(configured) << configured.error().ToString();
  // The API server takes a moment to notice the configuration.
  int count = 0;
  ASSERT_TRUE(Await([this, &count] {
    const auto created =
        ConfigMaps().Create(MakeConfigMap("probe-" + std::to_string(++count), "v"));
    EXPECT_TRUE(created) << created.error().ToString();
    return created->data.contains("added");
  }));
  auto created = ConfigMaps().Create(MakeConfigMap("a", "v"));
  ASSERT_TRUE(created) << created.error().ToString();
  EXPECT_EQ(created->data["added"], "yes");
  EXPECT_EQ(created->data["value"], "v");
  EXPECT_EQ(created->metadata.annotations["seen/by"], "CREATE");
  auto dry = ConfigMaps().Create(MakeConfigMap("b", "v"), {.dry_run = true});
  ASSERT_TRUE(dry) << dry.error().ToString();
  EXPECT_EQ(dry->metadata.annotations["seen/by"], "CREATE dry");
  auto updated = ConfigMaps().Update(MakeConfigMap("a", "w"));
  ASSERT_TRUE(updated) << updated.error().ToString();
  EXPECT_EQ(updated->metadata.annotations["seen/by"], "UPDATE");
  EXPECT_THAT(registry_.Serialize(),
              HasSubstr("controller_runtime_webhook_requests_total{code=\"200\","
                        "webhook=\"/mutate\"}"));
}

TEST_F(WebhookIntegrationTest, ValidatingWebhookDeniesWithItsReason) {
  server_->Handle<ConfigMap>("/validate", [](const webhook::Review<ConfigMap>& review) {
    const bool is_delete = review.call.request.operation == "DELETE";
    const ConfigMap& object = is_delete ? *review.old_object : review.object;
    if (object.data.contains("value") && object.data.at("value") == "bad") {
      return webhook::Response::Denied("value must not be bad");
    }
    return webhook::Response::Allowed();
  });
  const auto hooks =
      kubernetes::Clientset(client_).AdmissionregistrationV1().ValidatingWebhookConfigurations();
  const auto configured =
      hooks.Create(MakeConfiguration<ValidatingWebhookConfiguration>("/validate"));
  ASSERT_TRUE(configured) << configured.error().ToString();
  int count = 0;
  apimachinery::Status denial;
  ASSERT_TRUE(Await([this, &count, &denial] {
    const auto created =
        ConfigMaps().Create(MakeConfigMap("probe-" + std::to_string(++count), "bad"));
    if (!created) {
      denial = created.error();
    }
    return !created;
  }));
  EXPECT_EQ(denial.reason, apimachinery::Reason::kForbidden);
  EXPECT_EQ(denial.code, 403);
  EXPECT_THAT(denial.message, HasSubstr("\"it.kubexx.example.com\" denied the request: "
                                        "value must not be bad"));
  EXPECT_TRUE(ConfigMaps().Create(MakeConfigMap("good", "v")));
  EXPECT_TRUE(ConfigMaps().Delete("good"));
}

}  // namespace
}  // namespace kubexx::integration
