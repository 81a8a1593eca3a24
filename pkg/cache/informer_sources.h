/// @file
/// InformerSources: the sources of an informer's objects.
#ifndef KUBEXX_CACHE_INFORMER_SOURCES_H_
#define KUBEXX_CACHE_INFORMER_SOURCES_H_

#include <memory>
#include <string>
#include <vector>

#include "kubexx/cache/lister_watcher.h"

namespace kubexx::cache {

/// The source of the objects of one namespace.
struct NamespacedSource {
  std::string namespace_{};
  std::shared_ptr<ListerWatcher> lister_watcher{};
};

/// One source of all objects, or those of several namespaces.
struct InformerSources {
  /// The source of all objects. When null, `namespaces` are used.
  std::shared_ptr<ListerWatcher> all{};
  std::vector<NamespacedSource> namespaces{};
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INFORMER_SOURCES_H_
