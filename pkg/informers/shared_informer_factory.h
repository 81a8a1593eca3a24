/// @file
/// SharedInformerFactory: one informer a type, all over one client.
#ifndef KUBEXX_INFORMERS_SHARED_INFORMER_FACTORY_H_
#define KUBEXX_INFORMERS_SHARED_INFORMER_FACTORY_H_

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
#include "kubexx/base/mutex.h"
#include "kubexx/cache/list_watch_from_client.h"
#include "kubexx/cache/lister.h"
#include "kubexx/cache/shared_informer.h"
#include "kubexx/informers/type_options.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::informers {

/// Settings for all informers of a factory.
struct FactoryOptions {
  /// Watch this namespace only; empty means all, unless `namespaces` names some. Cluster-scoped
  /// types are not affected.
  std::string namespace_{};
  base::Clock& clock = base::Clock::Real();
  /// Records the informers' metrics there when set; must outlive the factory.
  metrics::Registry* registry = nullptr;
  /// For informers that set none of their own; zero means never.
  base::Duration resync_period{0};
  /// Selectors and encodings of every type...
  cache::ListWatchOptions list_watch{};
  /// ...which this may change for one type, for example to add a label selector for pods only.
  /// Asked once for each type, one at a time, on any thread; it must not call the factory. What it
  /// throws whoever needed its answer gets, and it is asked again the next time.
  std::function<void(const apimachinery::ResourceInfo&, cache::ListWatchOptions&)> tweak{};
  /// For informers that set none of their own.
  std::function<apimachinery::Result<void>(cache::Object&)> transform{};
  /// Watch these namespaces: each informer is one view over them, with a list and watch each. One
  /// that is forbidden or breaks stops no other; see SharedInformerBase.
  std::vector<std::string> namespaces{};
  /// Keep the index cache::kNamespaceIndex of namespaced types, by which listers read a namespace
  /// without walking over the others. Some thirty bytes an object.
  bool index_namespaces = true;
  /// For informers whose own tuning is the default.
  cache::WatchTuning tuning{};
  /// Namespaces, selectors and transforms of single types, instead of the above; see ForType.
  /// `tweak` gets the selectors that result.
  TypeOptionsMap by_type{};
};

/// As client-go's SharedInformerFactory: whoever asks for a type's informer gets the same one, so
/// that a type is listed, watched and stored once. Thread-safe.
class SharedInformerFactory {
 public:
  using MetadataInformer = cache::SharedInformer<api::meta::v1::PartialObjectMetadata>;

  explicit SharedInformerFactory(std::shared_ptr<rest::RESTClient> client,
                                 FactoryOptions options = {});
  /// Shuts down.
  ~SharedInformerFactory();
  SharedInformerFactory(const SharedInformerFactory&) = delete;
  SharedInformerFactory& operator=(const SharedInformerFactory&) = delete;

  /// The informer of T, made on the first call, whose `options` are then used; its clock and
  /// registry are the factory's. It runs after the next Start. T needs api::ResourceOf<T>() and
  /// codec::SchemaOf<T>().
  template <class T>
  std::shared_ptr<cache::SharedInformer<T>> InformerFor() {
    return std::static_pointer_cast<cache::SharedInformer<T>>(
        FindOrMake(typeid(T), api::ResourceOf<T>(), nullptr, Make<T>));
  }
  /// The same with settings of its own.
  template <class T>
  std::shared_ptr<cache::SharedInformer<T>> InformerFor(const cache::InformerOptions& options) {
    return std::static_pointer_cast<cache::SharedInformer<T>>(
        FindOrMake(typeid(T), api::ResourceOf<T>(), &options, Make<T>));
  }

  /// The informer of the metadata of T's objects, which lists, watches and keeps nothing else of
  /// them. It is not the informer of T: a program that reads both has both. Its namespaces and
  /// selectors are those of T; a transform gets objects without anything but metadata. As
  /// controller-runtime's PartialObjectMetadata. T need not be complete.
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

  /// The informer of T, or null when nobody has asked for it yet.
  template <class T>
  std::shared_ptr<cache::SharedInformer<T>> FindInformer() const {
    return std::static_pointer_cast<cache::SharedInformer<T>>(FindUntyped(typeid(T)));
  }
  /// The same by a type that is known only at run time.
  std::shared_ptr<cache::SharedInformerBase> FindUntyped(std::type_index type) const;

  /// Which objects of a type in a namespace the caches have.
  enum class Scope : std::uint8_t {
    kNone,      ///< the namespace is not watched
    kSelected,  ///< those that a selector selects
    kAll,
  };
  /// `namespace_` is empty for a cluster-scoped type, whose objects are all watched.
  Scope ScopeOf(const apimachinery::ResourceInfo& resource, std::string_view namespace_) const;

  /// Stops T's informer for good, if there is one, and forgets it. Whoever has it may still read
  /// its store, but nobody can start it again. Its handlers get no more events: the log names those
  /// that are still registered, such as the source of a controller, which is deaf from then on. The
  /// next InformerFor<T> makes a new one. A handler of the informer may call it; see
  /// SharedInformerBase::Stop. The factory then keeps the informer until its threads have ended.
  template <class T>
  void Remove() {
    StopAndRemove(typeid(T));
  }
  /// The same with the informer of MetadataInformerFor<T>.
  template <class T>
  void RemoveMetadata() {
    StopAndRemove(MetadataTypeOf<T>());
  }

  /// Reads the store of T's informer.
  template <class T>
  cache::Lister<T> ListerFor() {
    return cache::Lister<T>(InformerFor<T>());
  }

  /// Starts every informer that does not run yet; call it again after asking for more, and after it
  /// threw std::system_error because the system had not enough threads.
  void Start();
  /// Blocks until the store of every informer has its first full list; false when `stop` was
  /// requested first.
  bool WaitForCacheSync(std::stop_token stop) const;
  /// The informers that have no first list, each with the reason as far as it is known.
  std::vector<std::string> Unsynced() const;
  /// Stops and joins all informers. When a handler of one of them calls it nothing is waited for;
  /// the next Shutdown, or the destructor, does that. Start may be called again.
  void Shutdown();

 private:
  using InformerPtr = std::shared_ptr<cache::SharedInformerBase>;

  // What an informer keeps of its objects.
  enum class Form : std::uint8_t { kWhole, kMetadata };
  // Stands for the metadata of T's objects among the types.
  template <class T>
  struct MetadataOf {};

  using Maker = InformerPtr (*)(cache::InformerSources&& sources, cache::InformerOptions&& options);

  // All that depends on the type; the rest is compiled once.
  template <class T>
  static InformerPtr Make(cache::InformerSources&& sources, cache::InformerOptions&& options) {
    return std::make_shared<cache::SharedInformer<T>>(std::move(sources), std::move(options));
  }

  // `options` may be null: the defaults.
  InformerPtr FindOrMake(std::type_index type, const apimachinery::ResourceInfo& resource,
                         const cache::InformerOptions* options, Maker make,
                         Form form = Form::kWhole);
  void StopAndRemove(std::type_index type);
  // The settings of the type; null when there are none.
  const TypeOptions* OptionsOf(const apimachinery::ResourceInfo& resource) const;
  // The namespaces of the type's informer: either one, of one source, or several sources.
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
  // Those of them that have ended: without their handlers nobody needs them.
  std::vector<InformerPtr> TakeEndedLocked() KX_REQUIRES(mu_);

  const std::shared_ptr<rest::RESTClient> client_;
  const FactoryOptions options_;
  mutable base::Mutex mu_;
  std::vector<std::pair<std::type_index, InformerPtr>> informers_ KX_GUARDED_BY(mu_);
  std::vector<InformerPtr> removed_ KX_GUARDED_BY(mu_);  // by handlers of their own
};

}  // namespace kubexx::informers

#endif  // KUBEXX_INFORMERS_SHARED_INFORMER_FACTORY_H_
