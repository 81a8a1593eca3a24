// The library's webhook server and the rotation of its certificate, asked by a real API server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "kubexx/api/admissionregistration/v1/resources.gen.h"
#include "kubexx/api/admissionregistration/v1/types.gen.h"
#include "kubexx/api/apiextensions/v1/resources.gen.h"
#include "kubexx/api/apiextensions/v1/types.gen.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apiserver/server/testing/api_server.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/certrotator/cert_rotator.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/testing/fake_server.h"
#include "kubexx/webhook/server.h"

namespace kubexx {
namespace {

using api::admissionregistration::v1::ValidatingWebhookConfiguration;
using api::apiextensions::v1::CustomResourceDefinition;
using api::core::v1::ConfigMap;
using api::core::v1::Namespace;
using apimachinery::Result;
using codec::JsonTree;
using ::testing::HasSubstr;

class WebhooksTest : public ::testing::Test {
 protected:
  WebhooksTest() {
    Namespace tools;
    tools.metadata.name = "tools";
    EXPECT_TRUE(kubernetes::ResourceClient<Namespace>(client_, {}).Create(tools));
  }
  ~WebhooksTest() override {
    if (thread_.joinable()) {
      thread_.request_stop();
      thread_.join();
    }
  }

  /// Begins to serve and to rotate.
  void Start(certrotator::CertRotator::Options options) {
    options.secret = {"tools", "tls"};
    options.service = {"tools", "web"};
    options.url = url_;
    options.further_names = {"127.0.0.1"};
    options.validating = {"checks"};
    options.definitions = {"sites.example.com"};
    rotator_ = certrotator::CertRotator::New(client_, std::move(options)).value();
    server_ = std::make_unique<webhook::Server>(
        webhook::Server::Options{.address = "127.0.0.1:" + std::to_string(port_),
                                 .tls = {.certificate = rotator_->Provider()}});
    server_->Handle<ConfigMap>("/check", [](const webhook::Review<ConfigMap>& review) {
      return review.object.data.contains("bad") ? webhook::Response::Denied("it is bad")
                                                : webhook::Response::Allowed();
    });
    server_->HandleRawConversion(
        "/convert", [](std::string_view json, const std::string& version) -> Result<std::string> {
          KX_ASSIGN_OR_RETURN(JsonTree site, JsonTree::Parse(json));
          const bool to_new = version == "example.com/v2";
          JsonTree& spec = site["spec"];
          spec[to_new ? "page" : "html"] = std::string(spec.TextAt(to_new ? "html" : "page"));
          spec.Erase(to_new ? "html" : "page");
          site["apiVersion"] = version;
          return site.ToJson();
        });
    ASSERT_TRUE(server_->Start());
    thread_ = std::jthread([this](const std::stop_token& stop) { (void)rotator_->Run(stop); });
  }
  void Configure() const {
    ValidatingWebhookConfiguration checks;
    checks.metadata.name = "checks";
    auto& check = checks.webhooks.emplace_back();
    check.name = "check.example.com";
    check.client_config.url = url_ + "check";
    check.failure_policy = "Fail";
    check.side_effects = "None";
    check.admission_review_versions = {"v1"};
    auto& rule = check.rules.emplace_back();
    rule.operations = {"CREATE", "UPDATE"};
    rule.rule.api_groups = {""};
    rule.rule.api_versions = {"v1"};
    rule.rule.resources = {"configmaps"};
    EXPECT_TRUE(
        kubernetes::ResourceClient<ValidatingWebhookConfiguration>(client_, {}).Create(checks));
  }
  Result<ConfigMap> Create(const std::string& name, const std::string& key) const {
    ConfigMap map;
    map.metadata.name = name;
    map.data[key] = "x";
    return kubernetes::ResourceClient<ConfigMap>(client_, "tools").Create(map);
  }

  const int port_ = rest::testing::UnusedPort();
  const std::string url_ = "https://127.0.0.1:" + std::to_string(port_) + "/";
  kubexx::testing::ApiServer api_;
  std::shared_ptr<rest::RESTClient> client_ =
      *rest::RESTClient::New({.host = api_.url(), .qps = -1});
  std::unique_ptr<certrotator::CertRotator> rotator_;
  std::unique_ptr<webhook::Server> server_;
  std::jthread thread_;
};

TEST_F(WebhooksTest, ARotationDisturbsNoRequest) {
  Configure();
  // The first certificate is renewed after a few seconds.
  Start({.lifetime = std::chrono::hours(1),
         .renew_before = std::chrono::hours(1) - std::chrono::seconds(1),
         .trust_delay = std::chrono::milliseconds(1500),
         .interval = std::chrono::milliseconds(100)});
  KX_AWAIT(Create("first", "good"));
  const auto first = rotator_->Current();
  int made = 0;
  KX_UNTIL(rotator_->Current() != first) {
    const auto created = Create("map-" + std::to_string(++made), "good");
    EXPECT_TRUE(created) << created.error().ToString();
  }
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(Create("later-" + std::to_string(i), "good"));
  }
  EXPECT_THAT(Create("bad", "bad").error().message, HasSubstr("it is bad"));
}

TEST_F(WebhooksTest, ADefinitionsConversionIsTrustedAndAsked) {
  Start({});
  const auto definition = JsonTree::Parse(
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":)"
      R"({"name":"sites.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":)"
      R"({"plural":"sites","kind":"Site"},"versions":[)"
      R"({"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",)"
      R"("properties":{"spec":{"type":"object","properties":{"html":{"type":"string"}}}}}}},)"
      R"({"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object",)"
      R"("properties":{"spec":{"type":"object","properties":{"page":{"type":"string"}}}}}}}],)"
      R"("conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],)"
      R"("clientConfig":{"url":")" +
      url_ + R"(convert"}}}}})");
  ASSERT_TRUE(definition);
  ASSERT_TRUE(client_->Post()
                  .AbsPath("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")
                  .Body(codec::Encoding::kJson, definition->ToJson())
                  .Do());
  const auto create = [this] {
    return client_->Post()
        .AbsPath("/apis/example.com/v1/namespaces/tools/sites")
        .Body(codec::Encoding::kJson,
              R"({"apiVersion":"example.com/v1","kind":"Site","metadata":{"name":"a"},)"
              R"("spec":{"html":"hello"}})")
        .Do();
  };
  KX_AWAIT(create());
  const auto as_two = [this] {
    return client_->Get().AbsPath("/apis/example.com/v2/namespaces/tools/sites/a").Do();
  };
  KX_AWAIT(as_two());
  EXPECT_THAT(as_two()->body, HasSubstr(R"("page":"hello")"));
}

}  // namespace
}  // namespace kubexx
