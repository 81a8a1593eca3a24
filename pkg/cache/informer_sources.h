/// @file
/// Where an informer's objects come from.
#ifndef KUBEXX_CACHE_INFORMER_SOURCES_H_
#define KUBEXX_CACHE_INFORMER_SOURCES_H_

#include <memory>
#include <string>
#include <vector>

#include "kubexx/cache/lister_watcher.h"

namespace kubexx::cache {

/// Where the objects of one namespace come from.
struct NamespacedSource {
  std::string namespace_{};
  std::shared_ptr<ListerWatcher> lister_watcher{};
};

/// One source of all objects, or those of several namespaces.
struct InformerSources {
  /// Null: `namespaces` count.
  std::shared_ptr<ListerWatcher> all{};
  std::vector<NamespacedSource> namespaces{};
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INFORMER_SOURCES_H_
