#include "kubexx/reloader/operator/source_previewer.h"

#include <utility>

namespace kubexx::reloader {

using apimachinery::Fail;
using apimachinery::Result;

Result<void> SourcePreviewer::WithSources(const Workload& workload, const ChangedSources* changed,
                                          const std::stop_token& stop,
                                          base::FunctionRef<void(const SourceLookup&)> use) const {
  KeyedSources sources(parts_.caches, parts_.gate, parts_.value_digests, stop, parts_.absences);
  sources.LookFor(workload);
  if (changed != nullptr) {
    sources.Pretend(*changed);
  }
  const auto get = [&](const SourceId& source) { return sources.Get(source); };
  const auto names = [&](SourceType type) {
    return parts_.caches.SourceNames(type, workload.id.key.namespace_);
  };
  use({get, names, &sources});
  if (const auto& failure = sources.failure() ? sources.failure() : sources.left_out()) {
    return Fail(*failure);
  }
  return {};
}

std::vector<Workload> SourcePreviewer::UsersOf(const SourceId& source, Preview& preview) const {
  const Caches::Concerned concerned = parts_.caches.WorkloadsOf(source);
  std::vector<Workload> users;
  for (const auto* ids : {&concerned.by_name, &concerned.by_pattern}) {
    for (const WorkloadId& id : *ids) {
      if (users.size() == kMaxUsers) {
        ++preview.not_looked_at;
        preview.looked_at = kMaxUsers;
        continue;
      }
      auto workload = parts_.caches.GetWorkload(id);
      if (workload && !IsKeeper(*workload)) {
        users.push_back(*std::move(workload));
      }
    }
  }
  return users;
}

Result<Preview> SourcePreviewer::Of(const ChangedSource& changed,
                                    const std::stop_token& stop) const {
  const SourceId& id = changed.source.id;
  const std::string& space = id.key.namespace_;
  const auto present = parts_.caches.GetSource(id);
  if (!present || present->digest == changed.source.digest ||
      parts_.ignored_namespaces.contains(space) ||
      (parts_.namespaces != nullptr && !parts_.namespaces->Contains(space))) {
    return Preview();
  }
  const base::TimePoint until = parts_.clock.Now() + kPatience;
  Preview preview;
  const std::vector<Workload> users = UsersOf(id, preview);
  const ChangedSources all{{id, changed}};
  const reloadpolicy::Arbiter arbiter =
      parts_.arbiter && !users.empty() ? parts_.arbiter() : reloadpolicy::Arbiter();
  KX_RETURN_IF_ERROR(AddPreview({.changed = all,
                                 .users = users,
                                 .with_sources =
                                     [&](const Workload& workload, bool is_after,
                                         base::FunctionRef<void(const SourceLookup&)> use) {
                                       return WithSources(workload, is_after ? &all : nullptr, stop,
                                                          use);
                                     },
                                 .rules = parts_.rules,
                                 .arbiter = arbiter,
                                 .now = parts_.clock.Wall(),
                                 .before = [&](const SourceId&) { return present->digest; },
                                 .with_others = false,
                                 .is_over = [&] { return parts_.clock.Now() >= until; }},
                                preview));
  return preview;
}

}  // namespace kubexx::reloader
