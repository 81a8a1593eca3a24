#include "kubexx/apiserver/endpoints/validation/objects/type_warnings.h"

#include <set>
#include <string_view>
#include <utility>

#include "kubexx/apiserver/endpoints/behavior/type_behavior.h"
#include "kubexx/apiserver/endpoints/checks/finalizer_names.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

/// Warns of the finalizers of a custom resource that are new.
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
  if (auto* const warnings_of = BehaviorOf(type).warnings) {
    for (std::string& warning : warnings_of(object)) {
      warnings.push_back(std::move(warning));
    }
  }
}

}  // namespace kubexx::apiserver
