/// @file
/// The operator's view of the cluster: informers of sources and workloads, and an index from
/// sources to the workloads that use them.
#ifndef KUBEXX_RELOADER_WATCH_CACHES_H_
#define KUBEXX_RELOADER_WATCH_CACHES_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/cache/indexer_set.h"
#include "kubexx/cache/object.h"
#include "kubexx/reloader/history/history_keeper.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/plan/decision.h"
#include "kubexx/reloader/watch/provider_classes.h"
#include "kubexx/reloader/watch/source_spaces.h"
#include "kubexx/reloader/watch/workload_list_watch.h"

namespace kubexx::cache {
class SharedInformerBase;
}

namespace kubexx::reloader {

/// The source of the workloads in one namespace; in all namespaces when `namespace_` is empty.
struct NamespacedWorkloads {
  std::string namespace_{};
  std::shared_ptr<WorkloadListWatch> list_watch{};
};

/// The informers for some namespaces, or for all; each informer covers all these namespaces. They
/// must have been created with TransformFor of their type as transform, and must not run yet.
struct InformerSet {
  /// Empty: all namespaces.
  std::set<std::string, std::less<>> namespaces{};
  /// For SecretProviderClasses: informers of the SecretProviderClassPodStatuses.
  std::map<SourceType, std::shared_ptr<cache::SharedInformerBase>> sources{};
  /// An informer of SecretProviderClasses, created with TransformForProviderClass; null when they
  /// are not watched.
  std::shared_ptr<cache::SharedInformerBase> provider_classes{};
  /// `provider_classes` has a label selector: classes that it does not contain are ignored.
  bool selects_provider_classes = false;
  std::map<WorkloadKind, std::shared_ptr<cache::SharedInformerBase>> workloads{};
  /// The sources of workloads that may turn out not to be watchable.
  std::map<WorkloadKind, std::vector<NamespacedWorkloads>> workload_list_watches{};
  /// Only for informers of all namespaces: requested when the API server refuses the sources, so
  /// that nobody waits for their first list. Informers of several namespaces handle that
  /// themselves.
  std::map<SourceType, std::stop_token> refused{};
  /// Requested when the first list of the kind is still missing and the API server has answered
  /// only with errors for so long that nobody should wait any longer. Kinds without an entry are
  /// always waited for.
  std::map<WorkloadKind, std::stop_token> late{};
  /// Keeps the object that created the informers alive as long as they are.
  std::shared_ptr<const void> owner{};

  /// Whether the informers include the namespace.
  bool Covers(std::string_view namespace_) const;
  /// The token in `late` for the kind; one that is never requested when there is none.
  std::stop_token LateOf(WorkloadKind kind) const;
};

/// The index terms of a workload: the sources that it references and may be rolled for, and from
/// its reload lists the plain names and the types with patterns, and the sources of other
/// namespaces that it names.
cache::IndexTerms WorkloadTerms(const Workload& workload, const DecisionRules& rules);

/// Combines the informers. Thread-safe once constructed.
class Caches {
 public:
  /// Adds the indexes to the informers.
  Caches(std::vector<InformerSet> informers, const DecisionRules& rules);

  void Start();
  void Stop();
  /// Whether every informer has its first list or has been refused it by the API server, and at
  /// least some sources are known. Returns false while a kind of workloads is late (see
  /// InformerSet::late).
  bool HasSynced() const;
  /// Blocks until every informer has its first list, has been refused it, or is late. Returns false
  /// when `stop` was requested first.
  bool WaitForSync(const std::stop_token& stop) const;
  /// Does the same for the informers of workloads only.
  bool WaitForWorkloads(const std::stop_token& stop) const;

  /// Whether the sources of the type in the namespace have been listed. Then a source that
  /// GetSource does not return does not exist, or is not selected. Stays true once it is true, even
  /// when the right to list them is lost.
  bool Knows(SourceType type, std::string_view namespace_) const;
  /// Whether a workload that is not found does not exist, because its kind is not late. Also true
  /// for kinds that are not watched.
  bool Knows(WorkloadKind kind, std::string_view namespace_) const;
  /// What is watched but has not been listed yet.
  std::set<SourceSpace> UnknownSpaces() const;

  /// The resource version up to which the caches have every write of a source of the type in the
  /// namespace: that of the watch's last event or bookmark, or of the list. 0: not known. It says
  /// something about objects of other types only where the API server numbers all writes in one
  /// sequence, as it does unless types have an etcd of their own.
  std::uint64_t SeenUpTo(SourceType type, std::string_view namespace_) const;

  /// Returns std::nullopt when the caches do not contain the source. Of another namespace's source
  /// they always contain something: one that is not there, or does not allow the namespace of the
  /// workloads, has Source::unknown.
  std::optional<Source> GetSource(const SourceId& id) const;
  /// What the caches keep of a ConfigMap or Secret for the history of rollouts. Returns
  /// std::nullopt when they do not contain it.
  std::optional<TracedSource> GetTraced(const SourceId& id) const;
  /// Returns std::nullopt when the caches do not contain the workload. A Rollout that uses a
  /// Deployment's template gets that template's volumes and containers.
  std::optional<Workload> GetWorkload(const WorkloadId& id) const;
  /// Calls `each` with every workload that can be read, as it is stored.
  void ForEachWorkload(base::FunctionRef<void(const Workload&)> each) const;
  /// What pods report about SecretProviderClasses. The handler of SecretProviderClassPodStatus
  /// events must pass them to it...
  ProviderClasses& provider_classes() const { return *provider_classes_; }
  /// ...or, if there is no such handler, call this after the first lists have arrived.
  void LoadPodReports() const;
  /// The names of all sources of a type in a namespace.
  std::vector<std::string> SourceNames(SourceType type, std::string_view namespace_) const;

  /// The namespaces that contain a source of this type and name.
  std::vector<std::string> NamespacesWith(SourceType type, std::string_view name) const;

  /// The workloads that a change of a source may concern.
  struct Concerned {
    /// Workloads that reference the source, or have its plain name in their reload list.
    std::vector<WorkloadId> by_name{};
    /// Workloads with patterns in their reload list for this type; the caller must check whether
    /// one matches.
    std::vector<WorkloadId> by_pattern{};
  };
  Concerned WorkloadsOf(const SourceId& source) const;
  /// The ids under which workloads of other namespaces name this object, whether or not it allows
  /// that: one for each namespace.
  std::vector<SourceId> ForeignIdsOf(const SourceId& object) const;
  /// The Rollouts whose pods are made from this Deployment's template.
  std::vector<WorkloadId> RolloutsOf(const apimachinery::ObjectKey& deployment) const;

  const std::vector<InformerSet>& informers() const { return informers_; }

 private:
  std::optional<Workload> FindWorkload(const WorkloadId& id) const;
  std::optional<Source> GetProviderClass(const SourceId& id) const;

  std::vector<InformerSet> informers_;
  const std::unique_ptr<ProviderClasses> provider_classes_ = std::make_unique<ProviderClasses>();
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WATCH_CACHES_H_
