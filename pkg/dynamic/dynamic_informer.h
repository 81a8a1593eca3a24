/// @file
/// Informers of resources that are named at run time, for whole objects or for metadata only.
#ifndef KUBEXX_DYNAMIC_DYNAMIC_INFORMER_H_
#define KUBEXX_DYNAMIC_DYNAMIC_INFORMER_H_

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/group_version.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/executor/executor.h"
#include "kubexx/base/mutex.h"
#include "kubexx/cache/list_watch_from_client.h"
#include "kubexx/cache/lister.h"
#include "kubexx/cache/shared_informer.h"
#include "kubexx/dynamic/metadata_client.h"
#include "kubexx/dynamic/unstructured.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::cache {

/// Decodes an unstructured object, which has no schema table, for informers and listers.
template <>
apimachinery::Result<UntypedRef> DecodeUntyped<dynamic::Unstructured>(const Object& raw);

}  // namespace kubexx::cache

namespace kubexx::dynamic {

/// Returns a source that lists and watches whole objects as JSON, each with its apiVersion and
/// kind. `namespace_` is empty for cluster-scoped resources and for all namespaces. The encodings
/// and parameters in `options` are ignored.
std::shared_ptr<cache::ListerWatcher> NewDynamicListWatch(
    std::shared_ptr<rest::RESTClient> client, apimachinery::GroupVersionResource resource,
    std::string namespace_, cache::ListWatchOptions options = {});

/// Returns a source that lists and watches only the metadata of objects, as PartialObjectMetadata.
std::shared_ptr<cache::ListerWatcher> NewMetadataListWatch(
    std::shared_ptr<rest::RESTClient> client, apimachinery::GroupVersionResource resource,
    std::string namespace_, cache::ListWatchOptions options = {});

/// Settings for all informers of a factory.
struct DynamicFactoryOptions {
  /// The only namespace to watch; empty means all. Must be empty for cluster-scoped resources.
  std::string namespace_{};
  base::Clock& clock = base::Clock::Real();
  /// If set, the informers' metrics are recorded here; must outlive the factory.
  metrics::Registry* registry = nullptr;
  /// The resync period of informers that set none of their own; zero means never.
  base::Duration resync_period{0};
  /// The selectors and timeouts of every resource.
  cache::ListWatchOptions list_watch{};
  /// Changes `list_watch` for one resource.
  std::function<void(const apimachinery::GroupVersionResource&, cache::ListWatchOptions&)> tweak{};
  /// See informers::FactoryOptions::executor.
  std::shared_ptr<base::Executor> executor{};
};

/// Makes one informer for each resource, over one client. The base of the factories of both kinds.
class DynamicFactoryBase {
 public:
  virtual ~DynamicFactoryBase();
  DynamicFactoryBase(const DynamicFactoryBase&) = delete;
  DynamicFactoryBase& operator=(const DynamicFactoryBase&) = delete;

  /// Starts every informer that does not run yet. Call it again after asking for more informers.
  void Start();
  /// Blocks until every informer's store has its first full list. Returns false if `stop` was
  /// requested first.
  bool WaitForCacheSync(std::stop_token stop) const;
  /// Stops all informers and waits until their threads have ended. When a handler of an informer
  /// calls it, it does not wait; the next Shutdown or the destructor does. Start may be called
  /// again.
  void Shutdown();

 protected:
  using InformerPtr = std::shared_ptr<cache::SharedInformerBase>;
  using Source = std::shared_ptr<cache::ListerWatcher> (*)(std::shared_ptr<rest::RESTClient>,
                                                           apimachinery::GroupVersionResource,
                                                           std::string, cache::ListWatchOptions);
  using Maker =
      base::FunctionRef<InformerPtr(std::shared_ptr<cache::ListerWatcher>, cache::InformerOptions)>;

  DynamicFactoryBase(std::shared_ptr<rest::RESTClient> client, DynamicFactoryOptions options,
                     Source source);
  InformerPtr FindOrAdd(const apimachinery::GroupVersionResource& resource,
                        cache::InformerOptions options, Maker make);

 private:
  std::vector<InformerPtr> All() const;

  const std::shared_ptr<rest::RESTClient> client_;
  const DynamicFactoryOptions options_;
  const Source source_;
  mutable base::Mutex mu_;
  std::map<apimachinery::GroupVersionResource, InformerPtr> informers_ KX_GUARDED_BY(mu_);
};

/// The factory for objects of type T, which is Unstructured or PartialObjectMetadata; use
/// DynamicSharedInformerFactory or MetadataSharedInformerFactory. All who ask for a resource's
/// informer get the same one. Semantics: client-go's dynamicinformer and metadatainformer.
/// Thread-safe.
template <class T>
class DynamicFactory : public DynamicFactoryBase {
 public:
  explicit DynamicFactory(std::shared_ptr<rest::RESTClient> client,
                          DynamicFactoryOptions options = {});

  /// Returns the informer of `resource`. The first call makes it; the `options` of later calls are
  /// ignored. Its clock and registry are those of the factory. It runs after the next Start.
  std::shared_ptr<cache::SharedInformer<T>> InformerFor(
      const apimachinery::GroupVersionResource& resource, cache::InformerOptions options = {}) {
    return std::static_pointer_cast<cache::SharedInformer<T>>(FindOrAdd(
        resource, std::move(options),
        [](std::shared_ptr<cache::ListerWatcher> source,
           cache::InformerOptions complete) -> InformerPtr {
          return std::make_shared<cache::SharedInformer<T>>(std::move(source), std::move(complete));
        }));
  }

  /// Returns a lister that reads the store of the resource's informer.
  cache::Lister<T> ListerFor(const apimachinery::GroupVersionResource& resource) {
    return cache::Lister<T>(InformerFor(resource));
  }
};

/// Makes informers of whole objects whose types are only known at run time.
using DynamicSharedInformerFactory = DynamicFactory<Unstructured>;
/// Makes informers of the metadata of such objects.
using MetadataSharedInformerFactory = DynamicFactory<PartialObjectMetadata>;

template <>
DynamicFactory<Unstructured>::DynamicFactory(std::shared_ptr<rest::RESTClient> client,
                                             DynamicFactoryOptions options);
template <>
DynamicFactory<PartialObjectMetadata>::DynamicFactory(std::shared_ptr<rest::RESTClient> client,
                                                      DynamicFactoryOptions options);

}  // namespace kubexx::dynamic

#endif  // KUBEXX_DYNAMIC_DYNAMIC_INFORMER_H_
