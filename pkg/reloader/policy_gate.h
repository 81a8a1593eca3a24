/// @file
/// The gate that keeps reload policies.
#ifndef KUBEXX_RELOADER_POLICY_GATE_H_
#define KUBEXX_RELOADER_POLICY_GATE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/rollout_gate.h"
#include "kubexx/reloadpolicy/gate.h"

namespace kubexx::reloader {

/// Something that the users of a workload should know.
struct PolicyNotice {
  WorkloadId workload{};
  std::string uid{};
  bool warning = false;
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
  reloadpolicy::PolicyId id{};
  std::int64_t generation = 0;
  std::vector<std::string> problems{};
  int active = 0;
  int failed = 0;
  bool stopped = false;
  std::size_t pending = 0;
  /// The first kMaxListed of those that wait.
  std::vector<Waiting> listed{};
};

/// A reloadpolicy::Gate for the operator: locks it, asks it, wakes those that may go on. Holds an
/// entry for each rollout that waits, is under way or has failed, and none for others. Thread-safe.
class PolicyGate final : public RolloutGate {
 public:
  static constexpr std::size_t kMaxListed = 20;

  struct Options {
    reloadpolicy::Settings flags{};
    base::Clock& clock = base::Clock::Real();
    /// Told when a workload begins to wait, or waits for another reason, and of annotations that
    /// cannot be read; on the operator's threads, outside locks. Must not block.
    std::function<void(const PolicyNotice&)> notify{};
    /// See WaitForSync; by default there is nothing to wait for.
    std::function<bool(const std::stop_token&)> wait_for_policies{};
  };
  explicit PolicyGate(Options options);
  ~PolicyGate() override;

  void SetPolicy(reloadpolicy::Policy policy);
  void RemovePolicy(const reloadpolicy::PolicyId& id);
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
  bool Admit(const Workload& workload, std::vector<Change>& changes,
             AnnotationEdits& annotations) override;
  void OnWritten(const WorkloadId& workload, bool rolled) override;
  void OnNothing(const WorkloadId& workload) override;
  void OnWorkload(const WorkloadId& id, const Workload* workload, bool initial) override;
  std::optional<base::Duration> SettleWindow(const WorkloadId& workload) override;
  std::string KeysOf(const SourceId& source) override;

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
  /// Has those looked at that use a source whose list of keys is another now.
  void WakeUsers(const reloadpolicy::PolicyId& policy, const std::set<SourceId>& sources);
  /// Has the workload looked at again, and tells of a reason that is new.
  void Hold(const Workload& workload, const reloadpolicy::Hold& hold, bool is_news);
  void ReportAnnotations(const Workload& workload);
  void Wake(const WorkloadId& workload, base::Duration after);
  /// Makes a change with the lock held, then wakes those that may go on because of it.
  void Update(base::FunctionRef<void(reloadpolicy::Gate&, base::WallTime)> change);

  const Options options_;
  mutable base::Mutex mu_;
  reloadpolicy::Gate gate_ KX_GUARDED_BY(mu_);
  /// Annotations that were reported, so that each is once.
  std::set<std::pair<WorkloadId, std::string>> reported_ KX_GUARDED_BY(mu_);

  mutable base::Mutex host_mu_;
  base::CondVar host_idle_;
  std::shared_ptr<const GateHost> host_ KX_GUARDED_BY(host_mu_);
  int host_users_ KX_GUARDED_BY(host_mu_) = 0;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_POLICY_GATE_H_
