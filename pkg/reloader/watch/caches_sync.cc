// What a view of the cluster has listed already, and what it waits for.
#include <algorithm>
#include <cstdint>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>

#include "kubexx/cache/shared_informer_base.h"
#include "kubexx/reloader/watch/caches.h"
#include "kubexx/reloader/watch/wait_unless.h"

namespace kubexx::reloader {
namespace {

/// Waits until the sources are listed or refused. Returns false when `stop` was requested first.
bool WaitForSources(const InformerSet& set, SourceType type,
                    const cache::SharedInformerBase& informer, const std::stop_token& stop) {
  return WaitUnless(informer, RefusalOf(set, type), stop);
}

/// Whether some of it has been listed.
bool IsListedSomewhere(const InformerSet& set, const cache::SharedInformerBase& informer) {
  return set.namespaces.empty()
             ? IsListed(informer, "")
             : std::ranges::any_of(set.namespaces, [&](const std::string& namespace_) {
                 return IsListed(informer, namespace_);
               });
}

}  // namespace

bool Caches::HasSynced() const {
  bool has_sources =
      std::ranges::all_of(informers_, [](const InformerSet& set) { return set.sources.empty(); });
  for (const InformerSet& set : informers_) {
    const bool synced =
        std::ranges::all_of(set.workloads,
                            [](const auto& entry) { return entry.second->HasSynced(); }) &&
        std::ranges::all_of(set.sources,
                            [&](const auto& entry) {
                              return entry.second->HasSynced() ||
                                     RefusalOf(set, entry.first).stop_requested();
                            }) &&
        (!set.provider_classes || set.provider_classes->HasSynced());
    if (!synced) {
      return false;
    }
    has_sources = has_sources || std::ranges::any_of(set.sources, [&](const auto& entry) {
                    return IsListedSomewhere(set, *entry.second);
                  });
  }
  return has_sources;
}

bool Caches::WaitForSync(const std::stop_token& stop) const {
  return WaitForWorkloads(stop) && std::ranges::all_of(informers_, [&](const InformerSet& set) {
           return std::ranges::all_of(set.sources,
                                      [&](const auto& entry) {
                                        return WaitForSources(set, entry.first, *entry.second,
                                                              stop);
                                      }) &&
                  (!set.provider_classes || set.provider_classes->WaitForSync(stop));
         });
}

bool Caches::WaitForWorkloads(const std::stop_token& stop) const {
  return std::ranges::all_of(informers_, [&](const InformerSet& set) {
    return std::ranges::all_of(set.workloads, [&](const auto& entry) {
      return WaitUnless(*entry.second, set.LateOf(entry.first), stop);
    });
  });
}

bool Caches::Knows(WorkloadKind kind, std::string_view namespace_) const {
  return std::ranges::all_of(informers_, [&](const InformerSet& set) {
    const auto informer = set.workloads.find(kind);
    return informer == set.workloads.end() || !set.Covers(namespace_) ||
           informer->second->HasSynced();
  });
}

bool Caches::Knows(SourceType type, std::string_view namespace_) const {
  return std::ranges::any_of(informers_, [&](const InformerSet& set) {
    const auto informer = set.sources.find(type);
    return informer != set.sources.end() && set.Covers(namespace_) &&
           IsListed(*informer->second, namespace_);
  });
}

std::uint64_t Caches::SeenUpTo(SourceType type, std::string_view namespace_) const {
  std::uint64_t seen = 0;
  for (const InformerSet& set : informers_) {
    if (const auto informer = set.sources.find(type);
        informer != set.sources.end() && set.Covers(namespace_)) {
      seen = std::max(seen, VersionNumber(informer->second->LastSyncResourceVersion(namespace_)));
    }
  }
  return seen;
}

std::set<SourceSpace> Caches::UnknownSpaces() const { return SpacesOf(informers_).unlisted; }

}  // namespace kubexx::reloader
