/// @file
/// ControllerBuilder: configures what a controller watches and how it works, and makes it.
#ifndef KUBEXX_CONTROLLER_BUILDER_H_
#define KUBEXX_CONTROLLER_BUILDER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/api/resource.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/controller/cluster.h"
#include "kubexx/controller/controller.h"
#include "kubexx/controller/event.h"
#include "kubexx/controller/manager.h"
#include "kubexx/controller/owner_mapping.h"
#include "kubexx/controller/predicate.h"
#include "kubexx/controller/reconciler.h"
#include "kubexx/controller/source.h"
#include "kubexx/events/recorder.h"
#include "kubexx/informers/complete_type.h"

namespace kubexx::controller {

/// The part of ControllerBuilder that does not depend on its type. Use ControllerBuilder.
class ControllerBuilderBase {
 public:
  ControllerBuilderBase(const ControllerBuilderBase&) = delete;
  ControllerBuilderBase& operator=(const ControllerBuilderBase&) = delete;

 protected:
  using Made = apimachinery::Result<std::shared_ptr<Controller>>;
  using MetadataFunction = const api::meta::v1::ObjectMeta& (*)(const void* object);

  /// A type that the controller watches.
  struct Watched {
    std::shared_ptr<cache::SharedInformerBase> informer{};
    const apimachinery::ResourceInfo& resource;
    cache::UntypedDecoder decode = nullptr;
    std::string cluster{};
  };

  ControllerBuilderBase(Manager& manager, const Cluster& cluster,
                        const apimachinery::ResourceInfo& resource);
  ControllerBuilderBase(ControllerBuilderBase&& other) noexcept;
  ~ControllerBuilderBase();

  template <class U>
  Watched WatchedOf(const Cluster& cluster) {
    if constexpr (informers::CheckComplete<U>()) {
      watched_clusters_.push_back(&cluster);
      return {cluster.template InformerFor<U>(), api::ResourceOf<U>(), cache::DecodeUntyped<U>,
              cluster.name()};
    } else {
      std::unreachable();  // one error is enough
    }
  }
  template <class U>
  Watched WatchedMetadataOf() {
    return {cluster_.caches()->template MetadataInformerFor<U>(), api::ResourceOf<U>(),
            cache::DecodeUntyped<api::meta::v1::PartialObjectMetadata>, cluster_.name()};
  }
  template <class U>
  static const api::meta::v1::ObjectMeta& MetadataOf(const void* object) {
    if constexpr (informers::IsComplete<U>) {
      return static_cast<const U*>(object)->metadata;
    } else {
      std::unreachable();
    }
  }
  void AddMapped(Watched watched, UntypedMapping map, std::vector<UntypedPredicate> predicates);
  void AddOwned(Watched watched, MetadataFunction metadata_of,
                const apimachinery::ResourceInfo& owner, OwnerMatch match,
                std::vector<UntypedPredicate> predicates);
  Made Make(Watched watched, ReconcileFunction reconcile);
  Made Make(Watched watched, std::shared_ptr<Reconciler> reconciler);

  Manager& manager_;
  const Cluster& cluster_;
  ControllerOptions options_;
  int priority_ = 0;
  std::vector<UntypedPredicate> for_predicates_{};
  /// Whether of the controller's own type only the metadata are watched, and the predicates of
  /// that.
  bool for_metadata_ = false;
  std::vector<UntypedPredicate> metadata_predicates_{};
  /// These functions make the sources in Complete, because a source's name contains the
  /// controller's name, which the user may set after adding the source.
  std::vector<std::function<Source(const ControllerBuilderBase&, std::size_t number)>> sources_{};

 private:
  apimachinery::Result<void> Check() const;
  UntypedSource SourceOf(Watched watched, std::vector<UntypedPredicate> predicates,
                         std::size_t number) const;

  /// Only compared, and asked for their names.
  std::vector<const Cluster*> watched_clusters_{};
};

/// Makes a controller of T and adds it to a manager:
///
///     auto made = ControllerBuilder<Website>(manager)
///                     .WithPredicates(predicates::GenerationChanged())
///                     .Owns<Deployment>()
///                     .Watches<Secret>([](const Secret& secret) { return UsersOf(secret); })
///                     .MaxConcurrentReconciles(4)
///                     .Complete(Reconcile);
///
/// A controller may also work in another cluster of its manager, or watch types there; see
/// Manager::AddCluster. Every type that it watches needs api::ResourceOf<>(), codec::SchemaOf<>()
/// and a member `metadata`. Modelled on controller-runtime's builder. Not thread-safe. A builder
/// can be used once.
template <class T>
class ControllerBuilder : public ControllerBuilderBase {
 public:
  /// Makes a controller of the T in the manager's own cluster. Its name is T's kind in lower case
  /// unless Named sets another one.
  explicit ControllerBuilder(Manager& manager)
      : ControllerBuilderBase(manager, *manager.cluster(), api::ResourceOf<T>()) {}
  /// Makes a controller of the T in `cluster`: its sources, its reconciles' client and their Events
  /// are those of that cluster. Its name is T's kind, a hyphen and the cluster's name.
  ControllerBuilder(Manager& manager, const Cluster& cluster)
      : ControllerBuilderBase(manager, cluster, api::ResourceOf<T>()) {}

  /// Sets the controller's name, which is a label of its metrics and must be unique in the manager.
  ControllerBuilder& Named(std::string name) {
    options_.name = std::move(name);
    return *this;
  }

  /// The controller ignores an event of T unless all of these predicates return true for it.
  template <class... P>
  ControllerBuilder& WithPredicates(P... predicates) {
    (for_predicates_.push_back(Untyped<T>(std::move(predicates))), ...);
    return *this;
  }

  /// Lists, watches and keeps only the metadata of the T, which costs a fraction for large objects,
  /// as OwnsMetadata does for other types. `predicates` are functions of
  /// Event<PartialObjectMetadata>, and take the place of WithPredicates. A reconcile reads the T
  /// with Client::GetMetadata<T>; Client::Get<T> would make a second cache, of whole objects. As
  /// controller-runtime's builder.OnlyMetadata.
  template <class... P>
  ControllerBuilder& ForMetadata(P... predicates) {
    using Metadata = api::meta::v1::PartialObjectMetadata;
    for_metadata_ = true;
    (metadata_predicates_.push_back(Untyped<Metadata>(std::move(predicates))), ...);
    return *this;
  }

  /// Reconciles the T that controls a U when the U changes; see SetControllerReference.
  template <class U, class... P>
  ControllerBuilder& Owns(P... predicates) {
    return OwnsMatching<U>(OwnerMatch::kController, std::move(predicates)...);
  }
  /// Like Owns, but `match` chooses the owners: with OwnerMatch::kAny, every T that owns the U is
  /// reconciled.
  template <class U, class... P>
  ControllerBuilder& OwnsMatching(OwnerMatch match, P... predicates) {
    AddOwned(WatchedOf<U>(cluster_), MetadataOf<U>, api::ResourceOf<T>(), match,
             {Untyped<U>(std::move(predicates))...});
    return *this;
  }

  /// When a U changes, reconciles the requests that `map`, a function std::vector<Request>(const
  /// U&), returns for it. The controller calls `map` with the new state, and for an update also
  /// with the old one. `map` runs on the informer's thread, so it must not block.
  template <class U, class M, class... P>
  ControllerBuilder& Watches(M map, P... predicates) {
    return WatchesIn<U>(cluster_, std::move(map), std::move(predicates)...);
  }
  /// Like Watches, for the U in `cluster`. The reconcile reads them with Client::In.
  template <class U, class M, class... P>
  ControllerBuilder& WatchesIn(const Cluster& cluster, M map, P... predicates) {
    constexpr bool kMaps = std::is_invocable_r_v<std::vector<Request>, M&, const U&>;
    static_assert(kMaps,
                  "kubexx: Watches<U> takes a function std::vector<Request>(const U&), which says "
                  "what is to be reconciled when a U changes.");
    if constexpr (kMaps) {
      AddMapped(WatchedOf<U>(cluster),
                UntypedMap<U>(std::function<std::vector<Request>(const U&)>(std::move(map))),
                {Untyped<U>(std::move(predicates))...});
    }
    return *this;
  }

  /// Like Owns, but lists, watches and keeps only the metadata of the U, which is enough to know
  /// their owners and costs a fraction for large objects. Predicates are functions of
  /// Event<PartialObjectMetadata>. A reconcile reads them with Client::GetMetadata<U>;
  /// Client::Get<U> would make a second cache, of whole objects. As controller-runtime's
  /// builder.OnlyMetadata.
  template <class U, class... P>
  ControllerBuilder& OwnsMetadata(P... predicates) {
    using Metadata = api::meta::v1::PartialObjectMetadata;
    AddOwned(WatchedMetadataOf<U>(), MetadataOf<Metadata>, api::ResourceOf<T>(),
             OwnerMatch::kController, {Untyped<Metadata>(std::move(predicates))...});
    return *this;
  }
  /// Like Watches, for the metadata of the U: `map` is a function std::vector<Request>(const
  /// PartialObjectMetadata&).
  template <class U, class M, class... P>
  ControllerBuilder& WatchesMetadata(M map, P... predicates) {
    using Metadata = api::meta::v1::PartialObjectMetadata;
    constexpr bool kMaps = std::is_invocable_r_v<std::vector<Request>, M&, const Metadata&>;
    static_assert(kMaps,
                  "kubexx: WatchesMetadata<U> takes a function std::vector<Request>(const "
                  "PartialObjectMetadata&), which says what is to be reconciled when a U changes.");
    if constexpr (kMaps) {
      AddMapped(WatchedMetadataOf<U>(),
                UntypedMap<Metadata>(
                    std::function<std::vector<Request>(const Metadata&)>(std::move(map))),
                {Untyped<Metadata>(std::move(predicates))...});
    }
    return *this;
  }

  /// Adds a source of requests that is not an informer of this manager, for example a timer.
  ControllerBuilder& WatchesSource(Source source) {
    sources_.push_back([source = std::move(source)](const ControllerBuilderBase& /*builder*/,
                                                    std::size_t /*number*/) { return source; });
    return *this;
  }

  ControllerBuilder& MaxConcurrentReconciles(int count) {
    options_.max_concurrent_reconciles = count;
    return *this;
  }
  /// Sets how long a reconcile may take; after that its stop_token is requested. Zero: no limit.
  ControllerBuilder& ReconcileTimeout(base::Duration timeout) {
    options_.reconcile_timeout = timeout;
    return *this;
  }
  ControllerBuilder& CacheSyncTimeout(base::Duration timeout) {
    options_.cache_sync_timeout = timeout;
    return *this;
  }
  ControllerBuilder& RateLimiter(std::shared_ptr<workqueue::RateLimiter> limiter) {
    options_.rate_limiter = std::move(limiter);
    return *this;
  }
  /// Sets the order in which the controller takes requests from its queue. The default is by
  /// priority.
  ControllerBuilder& Queue(workqueue::Order order, workqueue::FairOptions fair = {}) {
    options_.order = order;
    options_.fair = std::move(fair);
    return *this;
  }
  /// Sets the priority of requests that events of T cause; the default is 0. Requests that only a
  /// first list or a resync causes have kLowPriority instead.
  ControllerBuilder& Priority(int priority) {
    priority_ = priority;
    return *this;
  }
  /// Whether the controller runs only while this process is the leader, which is the default.
  ControllerBuilder& NeedsLeaderElection(bool needs) {
    options_.needs_leader_election = needs;
    return *this;
  }
  /// Whether the controller fills its queue before this process leads, so that it can start at
  /// once.
  ControllerBuilder& WarmStandby(bool warm) {
    options_.warm_standby = warm;
    return *this;
  }
  /// Sets the recorder of Events that reconciles get. The default is the manager's recorder for the
  /// controller's name.
  ControllerBuilder& EventRecorder(std::shared_ptr<events::Recorder> recorder) {
    options_.recorder = std::move(recorder);
    return *this;
  }
  /// Whether a reconcile waits until the caches contain what earlier reconciles of its request
  /// wrote; the default is true. See ConsistencyStore.
  ControllerBuilder& ReadYourWrites(bool wait) {
    options_.read_your_writes = wait;
    return *this;
  }

  /// Makes the controller and adds it to the manager, which runs it. `reconcile` is a
  /// ReconcileFunction or something that converts to one, or a std::shared_ptr to a Reconciler.
  /// Returns kInvalidConfig for invalid options and for a cluster of another manager, and
  /// kAlreadyExists when the manager has a controller of the same name.
  template <class R>
  apimachinery::Result<std::shared_ptr<Controller>> Complete(R reconcile) {
    constexpr bool kIsReconciler = std::is_convertible_v<R, std::shared_ptr<Reconciler>>;
    constexpr bool kIsFunction =
        std::is_invocable_r_v<apimachinery::Result<Action>, R&, const Request&, Context&>;
    static_assert(kIsReconciler || kIsFunction,
                  "kubexx: Complete takes a function apimachinery::Result<Action>(const Request&, "
                  "Context&) or a std::shared_ptr of a class derived from Reconciler.");
    if constexpr (kIsReconciler) {
      return Make(Own(), std::shared_ptr<Reconciler>(std::move(reconcile)));
    } else if constexpr (kIsFunction) {
      return Make(Own(), ReconcileFunction(std::move(reconcile)));
    } else {
      std::unreachable();  // one error is enough
    }
  }

 private:
  Watched Own() {
    return for_metadata_ ? this->template WatchedMetadataOf<T>()
                         : this->template WatchedOf<T>(cluster_);
  }
};

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_BUILDER_H_
