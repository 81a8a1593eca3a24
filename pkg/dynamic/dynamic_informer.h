/// @file
/// Informers of resources named at run time: whole objects, or metadata only.
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
#include "kubexx/base/mutex.h"
#include "kubexx/cache/list_watch_from_client.h"
#include "kubexx/cache/lister.h"
#include "kubexx/cache/shared_informer.h"
#include "kubexx/dynamic/metadata_client.h"
#include "kubexx/dynamic/unstructured.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::cache {

/// An unstructured object has no schema table; this is how informers and listers read it.
template <>
apimachinery::Result<UntypedRef> DecodeUntyped<dynamic::Unstructured>(const Object& raw);

}  // namespace kubexx::cache

namespace kubexx::dynamic {

/// Lists and watches whole objects as JSON, each with its type. `namespace_` is empty for
/// cluster-scoped resources and for all namespaces. The encodings and parameters in `options` are
/// not looked at.
std::shared_ptr<cache::ListerWatcher> NewDynamicListWatch(
    std::shared_ptr<rest::RESTClient> client, apimachinery::GroupVersionResource resource,
    std::string namespace_, cache::ListWatchOptions options = {});

/// Lists and watches the metadata of objects: PartialObjectMetadata.
std::shared_ptr<cache::ListerWatcher> NewMetadataListWatch(
    std::shared_ptr<rest::RESTClient> client, apimachinery::GroupVersionResource resource,
    std::string namespace_, cache::ListWatchOptions options = {});

/// Settings for all informers of a factory.
struct DynamicFactoryOptions {
  /// Watch this namespace only; empty means all, and is what cluster-scoped resources need.
  std::string namespace_{};
  base::Clock& clock = base::Clock::Real();
  /// Records the informers' metrics there when set; must outlive the factory.
  metrics::Registry* registry = nullptr;
  /// For informers that set none of their own; zero means never.
  base::Duration resync_period{0};
  /// Selectors and timeouts of every resource...
  cache::ListWatchOptions list_watch{};
  /// ...which this may change for one.
  std::function<void(const apimachinery::GroupVersionResource&, cache::ListWatchOptions&)> tweak{};
};

/// One informer for each resource, over one client. What the factories of both kinds share.
class DynamicFactoryBase {
 public:
  virtual ~DynamicFactoryBase();
  DynamicFactoryBase(const DynamicFactoryBase&) = delete;
  DynamicFactoryBase& operator=(const DynamicFactoryBase&) = delete;

  /// Starts every informer that does not run yet; call it again after asking for more.
  void Start();
  /// Blocks until every informer's store has its first full list; false when `stop` was requested
  /// first.
  bool WaitForCacheSync(std::stop_token stop) const;
  /// Stops and joins all informers. When a handler of one of them calls it nothing is waited for;
  /// the next Shutdown, or the destructor, does that. Start may be called again.
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

/// T is Unstructured or PartialObjectMetadata; use DynamicSharedInformerFactory or
/// MetadataSharedInformerFactory. Whoever asks for a resource's informer gets the same one. As
/// client-go's dynamicinformer and metadatainformer. Thread-safe.
template <class T>
class DynamicFactory : public DynamicFactoryBase {
 public:
  explicit DynamicFactory(std::shared_ptr<rest::RESTClient> client,
                          DynamicFactoryOptions options = {});

  /// The informer of `resource`, made on the first call, whose `options` are then used; its clock
  /// and registry are the factory's. It runs after the next Start.
  std::shared_ptr<cache::SharedInformer<T>> InformerFor(
      const apimachinery::GroupVersionResource& resource, cache::InformerOptions options = {}) {
    return std::static_pointer_cast<cache::SharedInformer<T>>(FindOrAdd(
        resource, std::move(options),
        [](std::shared_ptr<cache::ListerWatcher> source,
           cache::InformerOptions complete) -> InformerPtr {
          return std::make_shared<cache::SharedInformer<T>>(std::move(source), std::move(complete));
        }));
  }

  /// Reads the store of the resource's informer.
  cache::Lister<T> ListerFor(const apimachinery::GroupVersionResource& resource) {
    return cache::Lister<T>(InformerFor(resource));
  }
};

/// Informers of whole objects whose types are known at run time only.
using DynamicSharedInformerFactory = DynamicFactory<Unstructured>;
/// Informers of the metadata of such objects.
using MetadataSharedInformerFactory = DynamicFactory<PartialObjectMetadata>;

template <>
DynamicFactory<Unstructured>::DynamicFactory(std::shared_ptr<rest::RESTClient> client,
                                             DynamicFactoryOptions options);
template <>
DynamicFactory<PartialObjectMetadata>::DynamicFactory(std::shared_ptr<rest::RESTClient> client,
                                                      DynamicFactoryOptions options);

}  // namespace kubexx::dynamic

#endif  // KUBEXX_DYNAMIC_DYNAMIC_INFORMER_H_
