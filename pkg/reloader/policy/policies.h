/// @file
/// Reload policies in a running operator: their watch, enforcer, status and Events.
#ifndef KUBEXX_RELOADER_POLICY_POLICIES_H_
#define KUBEXX_RELOADER_POLICY_POLICIES_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/executor/executor.h"
#include "kubexx/base/subscription.h"
#include "kubexx/events/recorder.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/policy/policy_enforcer.h"
#include "kubexx/reloader/policy/policy_status.h"
#include "kubexx/reloader/policy/policy_watch.h"
#include "kubexx/reloader/policy/trouble_reporter.h"
#include "kubexx/reloader/restore/restorer.h"
#include "kubexx/reloader/restore/source_store.h"
#include "kubexx/reloader/watch/served_apis.h"
#include "kubexx/reloader/write/notifier.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// The Event about a notice. It refers to the notice's workload.
events::Occurrence EventAbout(const PolicyNotice& notice);

/// Whether the notice is logged as a warning; otherwise it is logged as information.
bool LogsAsWarning(const PolicyNotice& notice);

/// The trouble that observers are told because of a notice: that a rollout, or a reload in place,
/// has failed. std::nullopt for other notices.
std::optional<RolloutTrouble> TroubleIn(const PolicyNotice& notice);

/// The Event about a restore, or about why there is none. It refers to the source.
events::Occurrence EventAbout(const RestoreReport& report);

/// The trouble that observers are told because of a restore; std::nullopt when nothing has failed.
std::optional<RolloutTrouble> TroubleIn(const RestoreReport& report);

/// Combines all parts that enforce reload policies. Thread-safe.
class Policies {
 public:
  struct Options {
    /// The settings from the flags.
    reloadpolicy::Settings flags{};
    /// Whether to watch policies. The settings from the flags apply in any case.
    bool watch = true;
    /// The namespaces in which to watch ReloadPolicies; empty: all.
    std::vector<std::string> namespaces{};
    /// See PolicyWatch::Options.
    bool cluster_needed = false;
    metrics::Registry* registry = nullptr;
    /// See PolicyWatch::Options.
    Refusals* refusals = nullptr;
    /// See PolicyWatch::Options.
    std::shared_ptr<ServedApis> served{};
    /// See cache::InformerOptions::executor.
    std::shared_ptr<base::Executor> executor{};
    /// Called when the result of Unread may change soon, on threads of informers. Must not block.
    std::function<void()> on_unread{};
    /// Write neither status nor Events.
    bool read_only = false;
    /// Whether this replica writes the status of the policies in a namespace ("" for
    /// ClusterReloadPolicies). Empty: it writes all of them.
    std::function<bool(std::string_view namespace_)> reports{};
    /// How often the status of policies is compared with what they allow; changes within an
    /// interval share one write.
    base::Duration status_interval = std::chrono::seconds(1);
    /// Informed once of each rollout that fails, of policies that have stopped rollouts, and of
    /// rollouts that have waited for a long time. Must outlive this object.
    TroubleObservers troubles{};
    /// Whether the operator may take snapshots of sources and write sources, for policies whose
    /// waves restore data. Not with `read_only`.
    bool allow_restore = false;
    /// The operator's own namespace, where the key of snapshots is. Needed with `allow_restore`.
    std::string own_namespace{};
    /// See SnapshotOf.
    std::string ignore_annotation = AnnotationKeys().ignore;
  };

  /// Makes no request yet.
  Policies(std::shared_ptr<rest::RESTClient> client, const Options& options);
  /// Stops.
  ~Policies();
  Policies(const Policies&) = delete;
  Policies& operator=(const Policies&) = delete;

  /// For Operator::Options. Valid as long as this object.
  RolloutGate& gate() { return enforcer_; }
  /// A copy of what decides, for previews. Thread-safe.
  reloadpolicy::Arbiter Snapshot() const { return enforcer_.Snapshot(); }
  /// See PolicyEnforcer::Governing. Thread-safe.
  std::vector<reloadpolicy::PolicyId> Governing(const reloadpolicy::ObjectRef& workload) const {
    return enforcer_.Governing(workload);
  }
  /// Begins to watch. Call it once only.
  void Start();
  /// See PolicyWatch::AllUnread. Call it after Start.
  std::map<std::string, std::string> Unread();
  /// Ends the watch and the writing of status. The destructor sends the remaining Events, for up to
  /// a second.
  void Stop();

 private:
  void Notify(const PolicyNotice& notice) const;
  void OnRestore(const RestoreReport& report);
  PolicyWatch::Options WatchOptions();

  const std::shared_ptr<rest::RESTClient> client_;
  const Options options_;
  std::unique_ptr<events::Recorder> recorder_;
  const std::unique_ptr<SourceStore> store_;  ///< null: nothing may be restored
  PolicyEnforcer enforcer_;
  std::unique_ptr<Restorer> restorer_;  ///< null: nothing may be restored
  std::unique_ptr<PolicyWatch> watch_;
  std::unique_ptr<TroubleReporter> troubles_;
  std::unique_ptr<PolicyStatusWriter> status_;
  base::Subscription metrics_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_POLICY_POLICIES_H_
