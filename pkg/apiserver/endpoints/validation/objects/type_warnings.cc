#include "kubexx/apiserver/endpoints/validation/objects/type_warnings.h"

#include <set>
#include <string_view>

#include "kubexx/apiserver/endpoints/registry/definition_type.h"
#include "kubexx/apiserver/endpoints/registry/namespace_type.h"
#include "kubexx/apiserver/endpoints/validation/cluster/webhook_configuration.h"
#include "kubexx/apiserver/endpoints/validation/objects/validation.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/schema/definition.h"

namespace kubexx::apiserver {
namespace {

/// Of a namespace that asks for a level of Pod Security.
void AppendPodSecurityWarning(const codec::JsonTree& object, std::vector<std::string>& warnings) {
  for (const auto& [key, value] : MetaMap(object, "labels")) {
    if (key.starts_with("pod-security.kubernetes.io/") && value != "privileged") {
      warnings.emplace_back(
          "kubexx-apiserver enforces no Pod Security: the labels pod-security.kubernetes.io/* have "
          "no effect");
      return;
    }
  }
}

/// Of the finalizers of a custom resource, those that are new.
void AppendFinalizerWarnings(const std::vector<std::string>& old, const codec::JsonTree& object,
                             std::vector<std::string>& warnings) {
  const std::set<std::string_view> before(old.begin(), old.end());
  std::set<std::string> added;
  for (std::string& name : FinalizersOf(object)) {
    if (!IsDomainQualified(name) && !before.contains(name)) {
      added.insert(std::move(name));
    }
  }
  for (const std::string& name : added) {
    warnings.push_back("metadata.finalizers: " + codec::JsonTree(name).ToJson() +
                       ": prefer a domain-qualified finalizer name including a path (/) to avoid "
                       "accidental conflicts with other finalizer writers");
  }
}

}  // namespace

void AppendTypeWarnings(const ResourceType& type, const std::vector<std::string>& old_finalizers,
                        const codec::JsonTree& object, std::vector<std::string>& warnings) {
  if (type.custom) {
    AppendFinalizerWarnings(old_finalizers, object, warnings);
  }
  if (!type.no_effect.empty()) {
    warnings.emplace_back(type.no_effect);
  }
  if (IsNamespace(type)) {
    AppendPodSecurityWarning(object, warnings);
  }
  if (IsWebhookConfiguration(type)) {
    for (std::string& warning : WebhookWarnings(object)) {
      warnings.push_back(std::move(warning));
    }
  }
  if (IsCustomResourceDefinition(type)) {
    for (std::string& warning : schema::DefinitionWarnings(object)) {
      warnings.push_back(std::move(warning));
    }
  }
}

}  // namespace kubexx::apiserver
