/// @file
/// The gate that keeps reload policies.
#ifndef KUBEXX_RELOADER_POLICY_POLICY_GATE_H_
#define KUBEXX_RELOADER_POLICY_POLICY_GATE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/plan/rollout_gate.h"
#include "kubexx/reloadpolicy/gate.h"

namespace kubexx::reloader {

/// The reason of the notice that a rollout has failed; there is one for each rollout.
inline constexpr char kRolloutFailed[] = "RolloutFailed";

/// Something that the users of a workload should know.
struct PolicyNotice {
  WorkloadId workload{};
  std::string uid{};
  bool warning = false;
  /// What it warns of has been told for all workloads at once.
  bool is_one_of_many = false;
  std::string reason{};  ///< in UpperCamelCase, for Events
  std::string message{};
};

/// A policy and its figures at one moment.
struct PolicyState {
  struct Waiting {
    reloadpolicy::ObjectRef workload{};
    reloadpolicy::Hold hold{};
    base::WallTime since{};
  };
  struct Failed {
    reloadpolicy::ObjectRef workload{};
    std::string uid{};
    base::WallTime rolled_at{};
  };
  reloadpolicy::PolicyId id{};
  std::int64_t generation = 0;
  std::vector<std::string> problems{};
  int active = 0;
  int failed = 0;
  bool stopped = false;
  std::size_t pending = 0;
  /// The first kMaxListed of those that wait.
  std::vector<Waiting> listed{};
  /// The one that has waited for others for longest, and since when it has; nothing when none does.
  std::optional<Waiting> longest_for_others{};
  /// The first kMaxFailedListed of those that have failed and are not mended.
  std::vector<Failed> failures{};
};

/// A reloadpolicy::Gate for the operator: locks it, asks it, wakes those that may go on. Holds an
/// entry for each rollout that waits, is under way or has failed, and none for others. Thread-safe.
class PolicyGate final : public RolloutGate {
 public:
  static constexpr std::size_t kMaxListed = 20;
  static constexpr std::size_t kMaxFailedListed = 100;

  struct Options {
    reloadpolicy::Settings flags{};
    base::Clock& clock = base::Clock::Real();
    /// Told when a workload begins to wait, or waits for another reason, when its rollout has
    /// failed, and of annotations that cannot be read; on the operator's threads, outside locks.
    /// Must not block.
    std::function<void(const PolicyNotice&)> notify{};
    /// See WaitForSync; by default there is nothing to wait for.
    std::function<bool(const std::stop_token&)> wait_for_policies{};
    /// In a sentence, why the policies about a namespace are not known, so that nothing may be
    /// rolled there and no rollout ends; nothing when they are. Asked before each rollout and
    /// whenever one is looked at, outside locks. Empty: they always are.
    std::function<std::optional<std::string>(const std::string& namespace_)> unread{};
  };
  explicit PolicyGate(Options options);
  ~PolicyGate() override;

  /// `failed`: what its status said of failures when it was first seen. Once the operator has
  /// synced, which of these workloads are gone or mended is looked at here and now.
  void SetPolicy(reloadpolicy::Policy policy,
                 const std::vector<reloadpolicy::Remembered>& failed = {});
  void RemovePolicy(const reloadpolicy::PolicyId& id);
  /// Where policies are not known may be others now. Has the rollouts looked at again soon that
  /// wait because of that, or are followed by longer times.
  void AskTheUnread();
  /// Of every policy, by id.
  std::vector<PolicyState> States() const;
  /// Figures over all workloads and policies.
  struct Totals {
    std::map<reloadpolicy::HoldReason, int> held{};
    int active = 0;
    int failed = 0;
    int policies = 0;
    int invalid = 0;
    int stopped = 0;
  };
  Totals TotalsNow() const;
  /// A copy of what it knows.
  reloadpolicy::Gate Snapshot() const;
  /// Whether an operator is attached.
  bool attached() const;

  base::Subscription Attach(GateHost host) override;
  bool WaitForSync(const std::stop_token& stop) override;
  void OnSynced() override;
  AnnotationEdits Marks(const Workload& workload) override;
  bool Admit(const Workload& workload, std::vector<Change>& changes,
             AnnotationEdits& annotations) override;
  void OnWritten(const WorkloadId& workload, WriteEnd end) override;
  void OnNothing(const WorkloadId& workload) override;
  void OnUpToDate(const Workload& workload) override;
  void OnWorkload(const WorkloadId& id, const Workload* workload) override;
  std::optional<base::Duration> SettleWindow(const WorkloadId& workload) override;
  std::string KeysOf(const SourceId& source, const std::string& own) override;

 private:
  struct HeldSources {
    std::vector<Change> changes{};
    std::optional<reloadpolicy::Hold> hold{};
  };
  /// Keeps the host alive while a call to it runs.
  class HostUse;

  HeldSources TakePaused(std::vector<Change>& changes);
  /// Those of the causes that say so themselves.
  std::set<SourceId> PausedByAnnotation(const std::vector<Change>& changes);
  std::vector<reloadpolicy::ObjectRef> Before(const Workload& workload,
                                              const std::vector<Change>& changes);
  int OrderOf(const Workload& workload) const;
  /// Whose notice it is, is filled in.
  void Notify(const Workload& workload, PolicyNotice notice) const;
  /// Has those looked at that use a source whose list of keys is another now.
  void WakeUsers(const reloadpolicy::PolicyId& policy, const std::set<SourceId>& sources);
  /// Has the workload looked at again, and tells of a reason that is new.
  void Hold(const Workload& workload, const reloadpolicy::Hold& hold, bool is_news);
  /// Tells, once each, of annotations that cannot be read and of settings that are not allowed.
  void ReportSettings(const Workload& workload);
  /// Shows the gate, once the caches have all there is, the workloads that it was only told of.
  void LookAtUnseen();
  /// Tells the gate in which of the namespaces, and of those that it knows of, policies are not
  /// known.
  void LookAtUnread(std::set<std::string> names);
  void Wake(const WorkloadId& workload, base::Duration after);
  /// Makes a change with the lock held, then wakes those that may go on because of it.
  void Update(base::FunctionRef<void(reloadpolicy::Gate&, base::WallTime)> change);

  const Options options_;
  mutable base::Mutex mu_;
  reloadpolicy::Gate gate_ KX_GUARDED_BY(mu_);
  /// The caches of the operator that is attached have all there is.
  bool synced_ KX_GUARDED_BY(mu_) = false;
  /// Hashes of what is wrong with a workload's settings and was reported, so that each is once; as
  /// long as it is so, and the workload there.
  std::map<WorkloadId, std::set<std::size_t>> reported_ KX_GUARDED_BY(mu_);

  mutable base::Mutex host_mu_;
  base::CondVar host_idle_;
  std::shared_ptr<const GateHost> host_ KX_GUARDED_BY(host_mu_);
  int host_users_ KX_GUARDED_BY(host_mu_) = 0;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_POLICY_POLICY_GATE_H_
