#include "kubexx/reloader/admission/webhook_path.h"

#include <utility>

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/model/digest.h"

namespace kubexx::reloader {
namespace {

using codec::JsonTree;

/// Returns the patch for a webhook's clientConfig, or null when nothing has to change.
JsonTree ClientConfigPatch(const JsonTree& config, const AdmissionSettings& settings,
                           const std::string& path) {
  JsonTree patch;
  if (!settings.url.empty()) {
    const std::string_view url = config.TextAt("url");
    if (url.starts_with(settings.url + "/") && url != settings.url + path) {
      patch["url"] = settings.url + path;
    }
    return patch;
  }
  const JsonTree* service = config.Find("service");
  if (service != nullptr && service->IsObject() && service->TextAt("name") == settings.name &&
      service->TextAt("namespace") == settings.namespace_ && service->TextAt("path") != path) {
    patch["service"] = *service;
    patch["service"]["path"] = path;
  }
  return patch;
}

}  // namespace

std::string WebhookPath(std::string_view name, std::string_view secret_uid) {
  const std::string start = "/" + std::string(name) + "/";
  return start + DigestOf(start + std::string(secret_uid)).ToString();
}

std::string PathPatch(const dynamic::Unstructured& configuration, const AdmissionSettings& settings,
                      const std::string& path) {
  const JsonTree* webhooks = configuration.Get({"webhooks"});
  JsonTree patch;
  for (const JsonTree& webhook :
       webhooks == nullptr ? std::span<const JsonTree>() : webhooks->elements()) {
    const JsonTree* config = webhook.Find("clientConfig");
    JsonTree changed = config == nullptr ? JsonTree() : ClientConfigPatch(*config, settings, path);
    if (!changed.IsNull()) {
      JsonTree each = JsonTree::Object();
      each["name"] = webhook.TextAt("name");
      each["clientConfig"] = std::move(changed);
      patch["webhooks"].Append(std::move(each));
    }
  }
  return patch.IsNull() ? std::string() : patch.ToJson();
}

}  // namespace kubexx::reloader
