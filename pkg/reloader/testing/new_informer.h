/// @file
/// Makes informers for tests that only pass them on.
#ifndef KUBEXX_RELOADER_TESTING_NEW_INFORMER_H_
#define KUBEXX_RELOADER_TESTING_NEW_INFORMER_H_

#include <memory>
#include <vector>

#include "kubexx/cache/informer_options.h"
#include "kubexx/cache/informer_sources.h"
#include "kubexx/cache/lister_watcher.h"

namespace kubexx::cache {
class SharedInformerBase;
}  // namespace kubexx::cache

namespace kubexx::reloader {

/// As std::make_shared of an informer, without its header, which most tests of this package need
/// for nothing else and which takes a second to compile.
std::shared_ptr<cache::SharedInformerBase> NewTestInformer(
    std::shared_ptr<cache::ListerWatcher> list_watch, cache::InformerOptions options);
/// The same for an informer over several namespaces.
std::shared_ptr<cache::SharedInformerBase> NewTestInformer(
    std::vector<cache::NamespacedSource> list_watches, cache::InformerOptions options);
/// Blocks until the informer has its first list, and its handler "reloader" has got that; the test
/// fails when that takes too long.
void AwaitOperatorSync(const cache::SharedInformerBase& informer);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_TESTING_NEW_INFORMER_H_
