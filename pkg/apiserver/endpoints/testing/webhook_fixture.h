/// @file
/// A test fixture with an Api whose webhooks are in the test's process.
#ifndef KUBEXX_APISERVER_ENDPOINTS_TESTING_WEBHOOK_FIXTURE_H_
#define KUBEXX_APISERVER_ENDPOINTS_TESTING_WEBHOOK_FIXTURE_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/apiserver/endpoints/testing/fake_webhooks.h"

namespace kubexx::apiserver::testing {

/// The base of test fixtures. Not thread-safe.
class WebhookFixture : public ApiFixture {
 protected:
  using JsonTree = codec::JsonTree;

  explicit WebhookFixture(std::shared_ptr<FakeWebhooks> hooks = std::make_shared<FakeWebhooks>())
      : ApiFixture(OptionsWith(hooks)), hooks_(std::move(hooks)) {}

  static ApiOptions OptionsWith(const std::shared_ptr<FakeWebhooks>& hooks) {
    ApiOptions options;
    options.webhook_caller = hooks;
    return options;
  }

  static constexpr const char* kMutating = "mutatingwebhookconfigurations";
  static constexpr const char* kValidating = "validatingwebhookconfigurations";
  static constexpr const char* kConfigMaps = "/api/v1/namespaces/default/configmaps";

  /// The JSON of a webhook for ConfigMaps at Url(name). The members of `more` replace its own.
  static std::string Hook(const std::string& name, const std::string& more = "{}") {
    JsonTree hook = *JsonTree::Parse(
        R"({"clientConfig":{},"admissionReviewVersions":["v1"],"sideEffects":"None","rules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]})");
    hook["name"] = name;
    hook["clientConfig"]["url"] = "https://" + name + "/";
    const JsonTree given = *JsonTree::Parse(more);
    for (const JsonTree::Member& member : given.members()) {
      hook[member.key] = member.value;
    }
    return hook.ToJson();
  }
  static std::string Url(const std::string& name) { return "https://" + name + "/"; }

  /// Creates a configuration with these webhooks.
  void Configure(const char* plural, const std::string& name,
                 const std::vector<std::string>& hooks) {
    std::string list;
    for (const std::string& hook : hooks) {
      list += (list.empty() ? "" : ",") + hook;
    }
    const http::Response made =
        Do("POST", std::string("/apis/admissionregistration.k8s.io/v1/") + plural,
           R"({"metadata":{"name":")" + name + R"("},"webhooks":[)" + list + "]}");
    ASSERT_EQ(made.status, 201) << made.body;
  }

  static std::string ConfigMap(const std::string& name, const std::string& more = "") {
    return R"({"metadata":{"name":")" + name + R"("})" + more + "}";
  }

  static std::vector<std::string> WarningsOf(const http::Response& response) {
    std::vector<std::string> warnings;
    for (const auto& [name, value] : response.headers) {
      if (name == "Warning") {
        warnings.push_back(value);
      }
    }
    return warnings;
  }

  const std::shared_ptr<FakeWebhooks> hooks_;
};

}  // namespace kubexx::apiserver::testing

#endif  // KUBEXX_APISERVER_ENDPOINTS_TESTING_WEBHOOK_FIXTURE_H_
