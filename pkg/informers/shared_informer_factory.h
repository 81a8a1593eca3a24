/// @file
/// SharedInformerFactory: one informer for each type, all over one client.
#ifndef KUBEXX_INFORMERS_SHARED_INFORMER_FACTORY_H_
#define KUBEXX_INFORMERS_SHARED_INFORMER_FACTORY_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/api/resource.h"
#include "kubexx/apimachinery/group_version.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/executor/executor.h"
#include "kubexx/base/mutex.h"
#include "kubexx/cache/list_watch_from_client.h"
#include "kubexx/cache/lister.h"
#include "kubexx/cache/shared_informer.h"
#include "kubexx/informers/complete_type.h"
#include "kubexx/informers/type_options.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::informers {

/// Settings for all informers of a factory.
struct FactoryOptions {
  /// The only namespace to watch; empty means all, unless `namespaces` names some. Cluster-scoped
  /// types are not affected.
  std::string namespace_{};
  base::Clock& clock = base::Clock::Real();
  /// If set, the informers' metrics are recorded here; must outlive the factory.
  metrics::Registry* registry = nullptr;
  /// The resync period of informers that set none of their own; zero means never.
  base::Duration resync_period{0};
  /// The selectors and encodings of every type.
  cache::ListWatchOptions list_watch{};
  /// Changes `list_watch` for one type, for example to add a label selector for pods only. Called
  /// once for each type, one call at a time, on any thread; it must not call the factory. An
  /// exception goes to the caller that needed the answer, and the next caller tries again.
  std::function<void(const apimachinery::ResourceInfo&, cache::ListWatchOptions&)> tweak{};
  /// The transform of informers that set none of their own.
  std::function<apimachinery::Result<void>(cache::Object&)> transform{};
  /// The namespaces to watch. Each informer lists and watches every one of them separately and
  /// shows their objects together; a namespace that is refused or breaks does not stop the others
  /// (see SharedInformerBase).
  std::vector<std::string> namespaces{};
  /// Whether informers of namespaced types keep the index cache::kNamespaceIndex, with which
  /// listers read a namespace without walking over the others. It takes some thirty bytes for each
  /// object.
  bool index_namespaces = true;
  /// The tuning of informers whose own tuning is the default.
  cache::WatchTuning tuning{};
  /// Namespaces, selectors and transforms of single types, which replace those above; see ForType.
  /// `tweak` gets the resulting selectors.
  TypeOptionsMap by_type{};
  /// Runs the distribution and the handlers of the informers; the factory and they share in owning
  /// it. Several factories of one process may share one. Null: the factory makes one.
  std::shared_ptr<base::Executor> executor{};
  /// Stands before the names of the informers, with a slash: "west/configmaps". Two factories whose
  /// metrics are in one registry need different names.
  std::string name{};
};

/// Makes informers and shares them: all who ask for a type's informer get the same one, so that the
/// type is listed, watched and stored once. Semantics: client-go's SharedInformerFactory.
/// Thread-safe.
class SharedInformerFactory {
 public:
  using MetadataInformer = cache::SharedInformer<api::meta::v1::PartialObjectMetadata>;

  explicit SharedInformerFactory(std::shared_ptr<rest::RESTClient> client,
                                 FactoryOptions options = {});
  /// Calls Shutdown.
  ~SharedInformerFactory();
  SharedInformerFactory(const SharedInformerFactory&) = delete;
  SharedInformerFactory& operator=(const SharedInformerFactory&) = delete;

  /// Returns the informer of T. The first call makes it; the `options` of later calls are ignored.
  /// Its clock and registry are those of the factory. It runs after the next Start. T needs
  /// api::ResourceOf<T>() and codec::SchemaOf<T>().
  template <class T>
  std::shared_ptr<cache::SharedInformer<T>> InformerFor() {
    if constexpr (CheckComplete<T>()) {
      return std::static_pointer_cast<cache::SharedInformer<T>>(
          FindOrMake(typeid(T), api::ResourceOf<T>(), nullptr, Make<T>));
    } else {
      return nullptr;
    }
  }
  /// The same with settings for this informer.
  template <class T>
  std::shared_ptr<cache::SharedInformer<T>> InformerFor(const cache::InformerOptions& options) {
    if constexpr (CheckComplete<T>()) {
      return std::static_pointer_cast<cache::SharedInformer<T>>(
          FindOrMake(typeid(T), api::ResourceOf<T>(), &options, Make<T>));
    } else {
      return nullptr;
    }
  }

  /// Returns an informer that lists, watches and keeps only the metadata of T's objects. It is not
  /// the informer of T: a program that reads both has both. Its namespaces and selectors are those
  /// of T; a transform gets objects that have only metadata. Semantics: controller-runtime's
  /// PartialObjectMetadata. T need not be complete.
  template <class T>
  std::shared_ptr<MetadataInformer> MetadataInformerFor() {
    return std::static_pointer_cast<MetadataInformer>(
        FindOrMake(MetadataTypeOf<T>(), api::ResourceOf<T>(), nullptr,
                   Make<api::meta::v1::PartialObjectMetadata>, Form::kMetadata));
  }
  /// The type by which FindUntyped finds MetadataInformerFor<T>.
  template <class T>
  static std::type_index MetadataTypeOf() {
    return typeid(MetadataOf<T>);
  }

  /// Returns the informer of T, or null if nobody has asked for it yet.
  template <class T>
  std::shared_ptr<cache::SharedInformer<T>> FindInformer() const {
    return std::static_pointer_cast<cache::SharedInformer<T>>(FindUntyped(typeid(T)));
  }
  /// The same for a type that is known only at run time.
  std::shared_ptr<cache::SharedInformerBase> FindUntyped(std::type_index type) const;

  /// The part of a type's objects in a namespace that the caches have.
  enum class Scope : std::uint8_t {
    kNone,      ///< the namespace is not watched
    kSelected,  ///< only those that match a selector
    kAll,
  };
  /// Returns which objects of `resource` in `namespace_` the caches have. `namespace_` is empty for
  /// a cluster-scoped type.
  Scope ScopeOf(const apimachinery::ResourceInfo& resource, std::string_view namespace_) const;

  /// Stops T's informer for good, if there is one, and forgets it. Holders of the informer may
  /// still read its store, but nobody can start it again. Its handlers get no more events; the log
  /// names those that are still registered, such as the source of a controller, which learns of
  /// nothing from then on. The next InformerFor<T> makes a new informer. A handler of the informer
  /// may call Remove (see SharedInformerBase::Stop); the factory then keeps the informer until its
  /// threads have ended.
  template <class T>
  void Remove() {
    StopAndRemove(typeid(T));
  }
  /// The same for the informer of MetadataInformerFor<T>.
  template <class T>
  void RemoveMetadata() {
    StopAndRemove(MetadataTypeOf<T>());
  }

  /// Returns a lister that reads the store of T's informer.
  template <class T>
  cache::Lister<T> ListerFor() {
    return cache::Lister<T>(InformerFor<T>());
  }

  /// Starts every informer that does not run yet. Call it again after asking for more informers,
  /// and after it threw std::system_error because the system had too few threads.
  void Start();
  /// Blocks until the store of every informer has its first full list. Returns false if `stop` was
  /// requested first.
  bool WaitForCacheSync(std::stop_token stop) const;
  /// Returns the informers that have no first list yet, each with the reason as far as it is known.
  std::vector<std::string> Unsynced() const;
  /// Stops all informers and waits until their threads have ended. When a handler of an informer
  /// calls it, it does not wait; the next Shutdown or the destructor does. Start may be called
  /// again.
  void Shutdown();
  /// Whether Shutdown was called after the last Start, so that the stores stay as they are.
  bool IsShutDown() const { return is_shut_down_; }

 private:
  using InformerPtr = std::shared_ptr<cache::SharedInformerBase>;

  // The part of its objects that an informer keeps.
  enum class Form : std::uint8_t { kWhole, kMetadata };
  // A type that stands for the metadata of T's objects.
  template <class T>
  struct MetadataOf {};

  using Maker = InformerPtr (*)(cache::InformerSources&& sources, cache::InformerOptions&& options);

  // The only code that depends on the type; the rest is compiled once.
  template <class T>
  static InformerPtr Make(cache::InformerSources&& sources, cache::InformerOptions&& options) {
    return std::make_shared<cache::SharedInformer<T>>(std::move(sources), std::move(options));
  }

  // `options` may be null, which means the defaults.
  InformerPtr FindOrMake(std::type_index type, const apimachinery::ResourceInfo& resource,
                         const cache::InformerOptions* options, Maker make,
                         Form form = Form::kWhole);
  void StopAndRemove(std::type_index type);
  // Returns the settings of the type, or null if it has none.
  const TypeOptions* OptionsOf(const apimachinery::ResourceInfo& resource) const;
  // The namespaces of the type's informer: `one` for a single source (empty means all), or
  // `several` with a source each.
  struct Namespaces {
    std::string one{};
    std::set<std::string> several{};
  };
  Namespaces NamespacesOf(const apimachinery::ResourceInfo& resource) const;
  cache::ListWatchOptions ListWatchOf(const apimachinery::ResourceInfo& resource) const;
  std::shared_ptr<cache::ListerWatcher> NewSource(const apimachinery::ResourceInfo& resource,
                                                  const std::string& namespace_, Form form) const;
  cache::InformerSources NewSources(const apimachinery::ResourceInfo& resource, Form form) const;
  void AddIndexes(const apimachinery::ResourceInfo& resource,
                  cache::SharedInformerBase& informer) const;
  cache::InformerOptions Complete(const apimachinery::ResourceInfo& resource,
                                  const cache::InformerOptions& options) const;
  std::vector<InformerPtr> All() const;
  std::vector<InformerPtr> TakeRemoved();
  // Takes the removed informers that have ended. Nobody needs them, as their handlers are gone.
  std::vector<InformerPtr> TakeEndedLocked() KX_REQUIRES(mu_);

  const std::shared_ptr<rest::RESTClient> client_;
  const FactoryOptions options_;
  std::atomic<bool> is_shut_down_ = false;
  mutable base::Mutex mu_;
  std::vector<std::pair<std::type_index, InformerPtr>> informers_ KX_GUARDED_BY(mu_);
  std::vector<InformerPtr> removed_ KX_GUARDED_BY(mu_);  // informers that one of their own handlers
                                                         // has removed
};

}  // namespace kubexx::informers

#endif  // KUBEXX_INFORMERS_SHARED_INFORMER_FACTORY_H_
