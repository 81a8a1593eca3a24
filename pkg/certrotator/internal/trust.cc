#include "kubexx/certrotator/internal/trust.h"

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/api/admissionregistration/v1/resources.gen.h"
#include "kubexx/api/admissionregistration/v1/schema.gen.h"
#include "kubexx/api/admissionregistration/v1/types.gen.h"
#include "kubexx/api/apiextensions/v1/resources.gen.h"
#include "kubexx/api/apiextensions/v1/schema.gen.h"
#include "kubexx/api/apiextensions/v1/types.gen.h"
#include "kubexx/codec/base64.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/kubernetes/resource_client.h"

namespace kubexx::certrotator::internal {
namespace {

using api::admissionregistration::v1::MutatingWebhookConfiguration;
using api::admissionregistration::v1::ValidatingWebhookConfiguration;
using api::apiextensions::v1::CustomResourceDefinition;
using apimachinery::ObjectKey;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

/// How often a configuration is read and written anew that others write to meanwhile. Another look
/// would come a minute later, and until then nobody could call the webhook.
constexpr int kMostLooks = 3;

/// A JSON patch, from operations.
class JsonPatch {
 public:
  void Add(const char* operation, const std::string& path, const std::string& value) {
    JsonTree one = JsonTree::Object();
    one["op"] = operation;
    one["path"] = path;
    one["value"] = value;
    operations_.push_back(std::move(one));
  }
  bool empty() const { return operations_.empty(); }
  std::string ToJson() const { return JsonTree::Array(operations_).ToJson(); }

 private:
  std::vector<JsonTree> operations_;
};

/// Whether `url` is `prefix` or goes on behind it with another part: https://192.0.2.7 does not
/// begin https://192.0.2.77.
bool BeginsWith(std::string_view url, std::string_view prefix) {
  if (prefix.empty() || !url.starts_with(prefix)) {
    return false;
  }
  const std::string_view rest = url.substr(prefix.size());
  return prefix.ends_with('/') || rest.empty() || rest.starts_with('/');
}

template <class ClientConfig>
bool Names(const ClientConfig& config, const WebhookServer& server) {
  if (config.url) {
    return BeginsWith(*config.url, server.url);
  }
  return config.service.has_value() &&
         ObjectKey{config.service->namespace_, config.service->name} == server.service;
}

/// Writes the bundle into the clientConfig at `path`, unless it has come to name another server
/// since it was read.
template <class ClientConfig>
void AddBundle(const ClientConfig& config, const std::string& path, const std::string& bundle,
               JsonPatch& patch) {
  if (config.url) {
    patch.Add("test", path + "/url", *config.url);
  } else {
    patch.Add("test", path + "/service/namespace", config.service->namespace_);
    patch.Add("test", path + "/service/name", config.service->name);
  }
  patch.Add("add", path + "/caBundle", codec::EncodeBase64(bundle));
}

template <class Configuration>
JsonPatch PatchFor(const Configuration& configuration, const WebhookServer& server,
                   const std::string& bundle) {
  JsonPatch patch;
  for (std::size_t i = 0; i < configuration.webhooks.size(); ++i) {
    const auto& webhook = configuration.webhooks[i];
    if (Names(webhook.client_config, server) && webhook.client_config.ca_bundle.view() != bundle) {
      const std::string at = "/webhooks/" + std::to_string(i);
      patch.Add("test", at + "/name", webhook.name);  // it may have got another place
      AddBundle(webhook.client_config, at + "/clientConfig", bundle, patch);
    }
  }
  return patch;
}

JsonPatch PatchFor(const CustomResourceDefinition& definition, const WebhookServer& server,
                   const std::string& bundle) {
  JsonPatch patch;
  const auto& conversion = definition.spec.conversion;
  if (conversion.has_value() && conversion->webhook.has_value() &&
      conversion->webhook->client_config.has_value()) {
    const auto& config = *conversion->webhook->client_config;
    if (Names(config, server) && config.ca_bundle.view() != bundle) {
      AddBundle(config, "/spec/conversion/webhook/clientConfig", bundle, patch);
    }
  }
  return patch;
}

template <class T>
Result<bool> TrustIn(const std::shared_ptr<rest::RESTClient>& client, const std::string& name,
                     const WebhookServer& server, const std::string& bundle,
                     const std::stop_token& stop) {
  const kubernetes::ResourceClient<T> resource(client, {});
  for (int looks = 1;; ++looks) {
    const auto found = resource.Get(name, stop);
    if (!found) {
      return found.error().reason == Reason::kNotFound ? Result<bool>(true)
                                                       : apimachinery::Fail(found.error());
    }
    const JsonPatch patch = PatchFor(*found, server, bundle);
    if (patch.empty()) {
      return true;
    }
    const auto patched = resource.Patch(name, rest::PatchType::kJson, patch.ToJson(), {}, stop);
    if (patched) {
      return false;
    }
    if (patched.error().reason != Reason::kInvalid || looks == kMostLooks) {
      return apimachinery::Fail(patched.error());
    }
    // Somebody has written to it since it was read, as the program does that gives its webhook
    // another path when it begins.
  }
}

}  // namespace

Result<bool> Trust(const std::shared_ptr<rest::RESTClient>& client,
                   const Configuration& configuration, const WebhookServer& server,
                   const std::string& bundle, const std::stop_token& stop) {
  const auto trusted = [&]() -> Result<bool> {
    switch (configuration.kind) {
      case ConfigurationKind::kMutating:
        return TrustIn<MutatingWebhookConfiguration>(client, configuration.name, server, bundle,
                                                     stop);
      case ConfigurationKind::kValidating:
        return TrustIn<ValidatingWebhookConfiguration>(client, configuration.name, server, bundle,
                                                       stop);
      case ConfigurationKind::kDefinition:
        break;
    }
    return TrustIn<CustomResourceDefinition>(client, configuration.name, server, bundle, stop);
  }();
  return trusted ? trusted
                 : apimachinery::Fail(trusted.error().WithContext("write the certificate to " +
                                                                  configuration.name));
}

}  // namespace kubexx::certrotator::internal
