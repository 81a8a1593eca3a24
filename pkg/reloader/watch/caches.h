/// @file
/// The operator's view of the cluster: informers of sources and workloads, and the index between
/// them.
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

/// Where workloads of one namespace come from, or of all when it is empty.
struct NamespacedWorkloads {
  std::string namespace_{};
  std::shared_ptr<WorkloadListWatch> list_watch{};
};

/// The informers of some namespaces, each one view over them, or of all namespaces. They must have
/// been made with TransformFor of their type as transform and must not run yet.
struct InformerSet {
  /// Empty: all.
  std::set<std::string, std::less<>> namespaces{};
  /// For SecretProviderClasses, of the statuses of their pods.
  std::map<SourceType, std::shared_ptr<cache::SharedInformerBase>> sources{};
  /// SecretProviderClasses, with TransformForProviderClass; null when they do not count.
  std::shared_ptr<cache::SharedInformerBase> provider_classes{};
  /// Only classes that `provider_classes` has count: it selects some.
  bool selects_provider_classes = false;
  std::map<WorkloadKind, std::shared_ptr<cache::SharedInformerBase>> workloads{};
  /// Where workloads come from, when it can be that they are not watched.
  std::map<WorkloadKind, std::vector<NamespacedWorkloads>> workload_list_watches{};
  /// Of sources in all namespaces: stops when the API server refuses them, so that nobody waits for
  /// their first list. Informers over several namespaces see to that by themselves.
  std::map<SourceType, std::stop_token> refused{};
  /// Stops when there is still no first list of the kind and the API server has answered nothing
  /// but errors for so long that nobody is to wait for it any more. What is not here is waited for.
  std::map<WorkloadKind, std::stop_token> late{};
  /// Kept as long as the informers: what made them.
  std::shared_ptr<const void> owner{};

  bool Covers(std::string_view namespace_) const;
  std::stop_token LateOf(WorkloadKind kind) const;
};

/// What informers of the type need as InformerOptions::transform.
std::function<apimachinery::Result<void>(cache::Object&)> TransformFor(SourceType type,
                                                                       AnnotationKeys keys);
std::function<apimachinery::Result<void>(cache::Object&)> TransformFor(WorkloadKind kind,
                                                                       AnnotationKeys keys);

/// The same for InformerSet::provider_classes.
std::function<apimachinery::Result<void>(cache::Object&)> TransformForProviderClass(
    AnnotationKeys keys);

/// Index terms of a workload: the sources it references and may roll for, the plain names and the
/// types with patterns in its reload lists.
cache::IndexTerms WorkloadTerms(const Workload& workload, const DecisionRules& rules);

/// Thread-safe once constructed.
class Caches {
 public:
  /// Adds the indexes.
  Caches(std::vector<InformerSet> informers, const DecisionRules& rules);

  void Start();
  void Stop();
  /// Whether every informer holds its first list, but for what the API server refuses, and some of
  /// sources is there. A kind of workloads that is late (see InformerSet::late) is still missing.
  bool HasSynced() const;
  /// Blocks until all informers hold their first list, are refused it, or are late; false when
  /// `stop` was requested first.
  bool WaitForSync(const std::stop_token& stop) const;
  /// As WaitForSync, for those of workloads.
  bool WaitForWorkloads(const std::stop_token& stop) const;

  /// Whether the sources of the type in the namespace have been listed: what GetSource does not
  /// have then is not there, or not selected. Once true it stays so, also when a right is lost.
  bool Knows(SourceType type, std::string_view namespace_) const;
  /// Whether a workload that is not found is not there: its kind is not late. True also for what is
  /// not watched.
  bool Knows(WorkloadKind kind, std::string_view namespace_) const;
  /// What is watched, but has not been listed yet.
  std::set<SourceSpace> UnknownSpaces() const;

  /// Nothing when there is none.
  std::optional<Source> GetSource(const SourceId& id) const;
  /// A Rollout that runs a Deployment's template has that template's volumes and containers.
  std::optional<Workload> GetWorkload(const WorkloadId& id) const;
  /// Each workload that can be read, as it is stored.
  void ForEachWorkload(base::FunctionRef<void(const Workload&)> each) const;
  /// What pods report of SecretProviderClasses. Whoever handles the events of their statuses feeds
  /// it...
  ProviderClasses& provider_classes() const { return *provider_classes_; }
  /// ...or, without a handler, this does, once the first lists are held.
  void LoadPodReports() const;
  /// Names of all sources of a type in a namespace.
  std::vector<std::string> SourceNames(SourceType type, std::string_view namespace_) const;

  /// Where there is a source of that type and name.
  std::vector<std::string> NamespacesWith(SourceType type, std::string_view name) const;

  /// Workloads that a change of a source may concern.
  struct Concerned {
    /// Reference the source, or have its plain name in their reload list.
    std::vector<WorkloadId> by_name{};
    /// Have patterns in their reload list for the type; whether one matches is for the caller to
    /// see.
    std::vector<WorkloadId> by_pattern{};
  };
  Concerned WorkloadsOf(const SourceId& source) const;
  /// Rollouts whose pods are made from that Deployment's template.
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
