#include "kubexx/reloader/watch/source_spaces.h"

#include <utility>

#include "kubexx/cache/shared_informer_base.h"
#include "kubexx/reloader/watch/caches.h"

namespace kubexx::reloader {

bool IsListed(const cache::SharedInformerBase& informer, std::string_view namespace_) {
  return !informer.LastSyncResourceVersion(namespace_).empty();
}

SourceSpaces SpacesOf(const std::vector<InformerSet>& informers) {
  SourceSpaces spaces;
  const auto add = [&](const cache::SharedInformerBase& informer, SourceSpace space) {
    (IsListed(informer, space.namespace_) ? spaces.listed : spaces.unlisted)
        .insert(std::move(space));
  };
  for (const InformerSet& set : informers) {
    for (const auto& [type, informer] : set.sources) {
      if (set.namespaces.empty()) {
        add(*informer, {type, ""});
      }
      for (const std::string& name : set.namespaces) {
        add(*informer, {type, name});
      }
    }
  }
  return spaces;
}

std::stop_token RefusalOf(const InformerSet& set, SourceType type) {
  const auto found = set.refused.find(type);
  return found == set.refused.end() ? std::stop_token() : found->second;
}

}  // namespace kubexx::reloader
