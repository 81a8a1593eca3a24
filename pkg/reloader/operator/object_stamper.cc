#include "kubexx/reloader/operator/object_stamper.h"

#include <algorithm>

#include "kubexx/reloader/admission/stamped_object.h"

namespace kubexx::reloader {

using apimachinery::Result;

bool ObjectStamper::IsToBeRolled(const std::string& space) const {
  return !parts_.ignored_namespaces.contains(space) &&
         (parts_.namespaces == nullptr || parts_.namespaces->Contains(space)) &&
         std::ranges::any_of(parts_.caches.informers(),
                             [&](const InformerSet& set) { return set.Covers(space); });
}

Result<void> ObjectStamper::WithSources(const Workload& workload, const std::stop_token& stop,
                                        base::FunctionRef<void(const SourceLookup&)> use) const {
  KeyedSources sources(parts_.caches, parts_.gate, parts_.value_digests, stop, parts_.absences);
  sources.LookFor(workload);
  const auto get = [&](const SourceId& source) { return sources.Get(source); };
  const auto names = [&](SourceType type) {
    return parts_.caches.SourceNames(type, workload.id.key.namespace_);
  };
  use({get, names, &sources});
  if (const auto& failure = sources.failure() ? sources.failure() : sources.left_out()) {
    return apimachinery::Fail(*failure);
  }
  return {};
}

Result<codec::JsonTree> ObjectStamper::Stamp(WorkloadKind kind, const codec::JsonTree& object,
                                             const std::stop_token& stop) const {
  const codec::JsonTree* metadata = object.Find("metadata");
  if (metadata == nullptr || !IsToBeRolled(std::string(metadata->TextAt("namespace")))) {
    return object;
  }
  const auto with_sources = [&](const Workload& workload,
                                base::FunctionRef<void(const SourceLookup&)> use) {
    return WithSources(workload, stop, use);
  };
  return StampedObject({.kind = kind,
                        .object = object,
                        .rules = parts_.rules,
                        .strategy = parts_.strategy,
                        .records = parts_.records,
                        .patterns = parts_.patterns,
                        .with_sources = with_sources,
                        .now = parts_.clock.Wall()});
}

}  // namespace kubexx::reloader
