/// @file
/// The rollout gate that enforces reload policies.
#ifndef KUBEXX_RELOADER_POLICY_POLICY_ENFORCER_H_
#define KUBEXX_RELOADER_POLICY_POLICY_ENFORCER_H_

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
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/plan/rollout_gate.h"
#include "kubexx/reloader/restore/restore_standing.h"
#include "kubexx/reloadpolicy/arbiter.h"
#include "kubexx/reloadpolicy/wave_line.h"

namespace kubexx::reloader {

/// The reason of the notice that a rollout has failed. Each failed rollout has one such notice.
inline constexpr char kRolloutFailed[] = "RolloutFailed";

/// Something that the users of a workload should know.
struct PolicyNotice {
  WorkloadId workload{};
  std::string uid{};
  bool warning = false;
  /// A warning about the same cause has been given for all workloads together.
  bool is_one_of_many = false;
  std::string reason{};  ///< in UpperCamelCase, for Events
  std::string message{};
  /// With kRolloutFailed: a reload of the running pods has failed, and no rollout.
  bool is_in_place = false;
};

/// A policy and its figures at a moment.
struct PolicyState {
  struct Waiting {
    reloadpolicy::ObjectRef workload{};
    reloadpolicy::Hold hold{};
    base::WallTime since{};
    bool operator==(const Waiting&) const = default;
  };
  struct Failed {
    reloadpolicy::ObjectRef workload{};
    std::string uid{};
    base::WallTime rolled_at{};
    bool operator==(const Failed&) const = default;
  };
  reloadpolicy::PolicyId id{};
  std::int64_t generation = 0;
  std::vector<std::string> problems{};
  std::vector<std::string> overruled{};  ///< see reloadpolicy::PolicySet::Overruled
  int active = 0;
  int failed = 0;
  bool stopped = false;
  std::size_t pending = 0;
  /// The first kMaxListed rollouts that wait.
  std::vector<Waiting> listed{};
  /// The rollout that has waited longest for other rollouts, and since when it has; std::nullopt
  /// when none does.
  std::optional<Waiting> longest_for_others{};
  /// The first kMaxFailedListed rollouts that have failed and whose workloads have not become
  /// healthy since.
  std::vector<Failed> failures{};
  bool has_waves = false;
  struct FailedWave {
    reloadpolicy::ObjectRef workload{};
    std::string uid{};
    reloadpolicy::DataVersions data{};
    base::WallTime since{};
    bool operator==(const FailedWave&) const = default;
  };
  /// The number of workloads that have failed in a wave, and the first kMaxListed of them, or fewer
  /// where they have many sources.
  std::size_t failed_waves = 0;
  std::vector<FailedWave> failed_in_waves{};
  /// Its waves have OnWaveFailure::kRestore.
  bool restores = false;
  bool may_restore = false;  ///< see PolicyEnforcer::Options::consider
  /// What has come of its last restore; std::nullopt when nothing has, as far as this process
  /// knows.
  std::optional<RestoreReport> restore{};
  /// What keeps a snapshot from being taken, beginning with the source; empty: nothing does.
  std::string no_snapshot{};
  bool operator==(const PolicyState&) const = default;
};

/// The RolloutGate of reload policies. It connects a reloadpolicy::Arbiter, which decides, to the
/// operator: locks it, asks it, and wakes the workloads that may go on. Keeps an entry for each
/// rollout that waits, is under way or has failed, and for no other workloads. Thread-safe.
class PolicyEnforcer final : public RolloutGate {
 public:
  static constexpr std::size_t kMaxListed = 20;
  static constexpr std::size_t kMaxFailedListed = 100;
  /// All of PolicyState::failed_in_waves have no more versions of data together, which is several
  /// times what twenty workloads with some sources each have: an object has room for 1.5 MiB.
  static constexpr std::size_t kMaxVersionsListed = 2 * reloadpolicy::kMaxDataVersions;

  struct Options {
    reloadpolicy::Settings flags{};
    base::Clock& clock = base::Clock::Real();
    /// Called when a workload begins to wait, when it waits for another reason, when its rollout
    /// has failed, and when its annotations cannot be read; on the operator's threads, outside
    /// locks. Must not block.
    std::function<void(const PolicyNotice&)> notify{};
    /// Implements WaitForSync. Empty: there is nothing to wait for.
    std::function<bool(const std::stop_token&)> wait_for_policies{};
    /// Returns a sentence that says why the policies for a namespace are not known, so that nothing
    /// may be rolled there and no rollout ends; std::nullopt when they are known. Called outside
    /// locks before each rollout, and whenever a rollout is looked at. Empty: policies are always
    /// known.
    std::function<std::optional<std::string>(const std::string& namespace_)> unread{};
    /// Something has changed that may concern snapshots or restores of these sources, on the
    /// operator's threads, outside locks. Must not block. Empty: the operator may not restore data,
    /// and OnWaveFailure::kRestore is as kHold.
    std::function<void(const std::vector<SourceId>&)> consider{};
    /// An object was deleted that may have been a snapshot of this source; called likewise. May be
    /// empty.
    std::function<void(const SourceId&)> snapshot_gone{};
  };
  explicit PolicyEnforcer(Options options);
  ~PolicyEnforcer() override;

  /// Adds or replaces a policy. `failed` and `failed_data`: the failures in its status when it was
  /// first seen. If the operator has synced, the call looks at these workloads immediately and
  /// drops those that were deleted or are healthy.
  void SetPolicy(reloadpolicy::Policy policy,
                 const std::vector<reloadpolicy::Remembered>& failed = {},
                 const std::vector<reloadpolicy::RememberedData>& failed_data = {});
  void RemovePolicy(const reloadpolicy::PolicyId& id);
  /// The places where policies are not known may have changed. Makes the operator look soon at the
  /// rollouts that wait for that reason, or are followed with longer timeouts because of it.
  void AskTheUnread();
  /// The states of all policies, sorted by id.
  std::vector<PolicyState> States() const;
  /// Sums over all workloads and policies.
  struct Totals {
    std::map<reloadpolicy::HoldReason, int> held{};
    int active = 0;
    int failed = 0;
    int policies = 0;
    int invalid = 0;
    int stopped = 0;
    int failed_waves = 0;  ///< workloads that have failed in a wave
  };
  Totals TotalsNow() const;
  /// The policies that apply to the workload: first those of its namespace, then those of the
  /// cluster, each ordered by name.
  std::vector<reloadpolicy::PolicyId> Governing(const reloadpolicy::ObjectRef& workload) const;
  /// Returns a copy of the arbiter.
  reloadpolicy::Arbiter Snapshot() const;
  /// How a source stands with policies that restore data. `good`: data for which it does not matter
  /// whether they are settled. Empty while no operator is attached.
  RestoreStanding StandingOf(const SourceId& source, const std::optional<Digest>& good);
  /// Keeps what has come of a restore, for the states of policies. Returns whether users should be
  /// told: of a failure with several sources each of these reports the same.
  bool NoteRestore(const RestoreReport& report);
  /// Whether an operator is attached.
  bool attached() const;

  base::Subscription Attach(GateHost host) override;
  bool WaitForSync(const std::stop_token& stop) override;
  void OnSynced() override;
  AnnotationEdits Marks(const Workload& workload) override;
  bool Admit(const Workload& workload, std::vector<Change>& changes,
             AnnotationEdits& annotations) override;
  bool AdmitNewer(const Workload& workload, std::vector<Change>& changes,
                  AnnotationEdits& annotations) override;
  void OnWritten(const WorkloadId& workload, WriteEnd end, std::uint64_t version) override;
  void OnRefused(const WorkloadId& workload, const std::string& why) override;
  void OnNothing(const WorkloadId& workload) override;
  void OnUpToDate(const Workload& workload) override;
  void OnWorkload(const WorkloadId& id, const Workload* workload) override;
  void OnSourceGone(const SourceId& source) override;
  std::optional<base::Duration> SettleWindow(const WorkloadId& workload) override;
  std::string KeysOf(const SourceId& source, const std::string& own) override;
  bool CountsUsedKeysOnly(const Workload& workload) override;

 private:
  struct HeldSources {
    std::vector<Change> changes{};
    std::optional<reloadpolicy::Hold> hold{};
  };
  /// Keeps the host alive during a call to it.
  class HostUse;

  /// Admit and AdmitNewer; see reloadpolicy::Request::goes_on.
  bool Answer(bool goes_on, const Workload& workload, std::vector<Change>& changes,
              AnnotationEdits& annotations);
  /// Takes the changes whose sources are paused out of `changes`.
  HeldSources TakePaused(std::vector<Change>& changes);
  /// The causes of the changes that are paused by their own annotations.
  std::set<SourceId> PausedByAnnotation(const std::vector<Change>& changes);
  /// The workloads with a lower order that must be rolled before this one.
  std::vector<reloadpolicy::ObjectRef> Before(const Workload& workload,
                                              const std::vector<Change>& changes);
  int OrderOf(const Workload& workload) const;
  /// Whether `other` must be rolled before `workload`, by their orders: not where waves that both
  /// belong to say the opposite.
  bool HasLowerOrder(const Workload& other, const Workload& workload) const;
  /// The waves of the workloads that a source concerns, as they were a moment ago.
  struct Line {
    base::TimePoint made{};
    Digest digest{};  ///< of the source
    std::shared_ptr<const reloadpolicy::WaveLine> line{};
    /// So many members, counted from the first, have been rolled for that digest and are healthy.
    std::size_t done = 0;
  };
  using LineKey = std::pair<SourceId, reloadpolicy::PolicyId>;
  /// Adds to `request` what waves need: the data, and the earlier wave that is not done.
  void AddWaves(const Workload& workload, const std::vector<Change>& changes,
                reloadpolicy::Request& request);
  /// Another description of a kind says nothing of the data that have failed under the former one.
  /// They are taken to be the present ones, so that nobody gets them. In one namespace.
  void RenewFailedData(const std::string& namespace_);
  /// Tells the arbiter whether the data with which the workload has failed in a wave are present.
  void LookAtFailedData(const Workload& workload);
  /// The waves of the workload, if their policy restores data and the operator may.
  std::optional<reloadpolicy::Setting<reloadpolicy::Waves>> RestoringWaves(
      const reloadpolicy::ObjectRef& workload, const Annotations& annotations) const;
  /// Has the sources considered with whose data the workload has failed in a wave.
  void ConsiderFailed(const Workload& workload);
  /// Has the sources considered that the workload uses: it may have been the last that was due.
  void ConsiderSettled(const Workload& workload);
  /// Sets RestoreStanding::failure. `present`: the source; std::nullopt: it does not exist.
  void AddFailure(const SourceId& source, const std::optional<Source>& present,
                  const GateHost& host, RestoreStanding& standing) const;
  /// Whether the workload still has what it failed with, and nothing is going to be tried with it,
  /// though the source has other data by now, or is gone.
  bool HasFailedWithOthers(const Workload& workload, const SourceId& source,
                           const reloadpolicy::FailedData& failed, const GateHost& host) const;
  /// What the policy's users should know of its restores: what somebody has to do comes first, and
  /// then the latest restore.
  std::optional<RestoreReport> LastRestoreOf(const reloadpolicy::PolicyId& policy) const
      KX_REQUIRES(mu_);
  /// Whether a workload has failed in a wave with data of this source.
  bool IsOfFailure(const SourceId& source) const;
  /// Sets what RestoreStanding says without a failure.
  void AddSettled(const SourceId& source, const std::optional<Digest>& good, const GateHost& host,
                  RestoreStanding& standing) const;
  /// How much longer all pods of the workload have to be of its template and available, until that
  /// has been so for this time; std::nullopt: they are not now.
  std::optional<base::Duration> HealthLeft(const Workload& workload,
                                           base::Duration healthy_for) const;
  /// Makes the operator look at the workloads that the policy governs, when it begins to restore.
  void WakeRestoring(const std::optional<reloadpolicy::Policy>& before,
                     const std::optional<reloadpolicy::Policy>& now);
  /// The line of the workloads that the source concerns and that these waves of a policy are for.
  Line LineOf(const LineKey& key, const reloadpolicy::Waves& waves, const GateHost& host);
  /// The first workload before `wave` that has to be rolled for the source, or to be healthy for
  /// that long.
  std::optional<reloadpolicy::EarlierWave> FirstUndone(const LineKey& key, const Line& line,
                                                       std::size_t wave, base::Duration healthy_for,
                                                       const GateHost& host);
  /// Completes the notice with the workload and passes it on.
  void Notify(const Workload& workload, PolicyNotice notice) const;
  /// Makes the operator look at the workloads that use a source whose list of keys has changed.
  void WakeUsers(const reloadpolicy::PolicyId& policy, const std::set<SourceId>& sources);
  /// Makes the operator look at the workloads that one of two states of a policy governs, where
  /// they differ in which keys count for whom. std::nullopt: there is no policy in that state.
  void WakeRescoped(const std::optional<reloadpolicy::Policy>& before,
                    const std::optional<reloadpolicy::Policy>& now);
  /// Makes the operator look at the workload again, and notifies about a reason that is new.
  void Hold(const Workload& workload, const reloadpolicy::Hold& hold, bool is_news);
  /// Notifies, once each, about annotations that cannot be read and settings that are not allowed.
  void ReportSettings(const Workload& workload);
  /// When the caches are complete: shows the arbiter the workloads that it was only told of by a
  /// status.
  void LookAtUnseen();
  /// Tells the arbiter in which of these namespaces, and of those where policies were unknown
  /// before, policies are not known now.
  void LookAtUnread(std::set<std::string> names);
  void Wake(const WorkloadId& workload, base::Duration after);
  /// Applies `change` with the lock held, then wakes the workloads that may go on because of it.
  void Update(base::FunctionRef<void(reloadpolicy::Arbiter&, base::WallTime)> change);

  const Options options_;
  mutable base::Mutex mu_;
  reloadpolicy::Arbiter arbiter_ KX_GUARDED_BY(mu_);
  /// The caches of the attached operator are complete.
  bool synced_ KX_GUARDED_BY(mu_) = false;
  /// Since when this process has seen how the workloads are.
  base::WallTime looked_since_ KX_GUARDED_BY(mu_){};
  /// Hashes of the problems with a workload's settings that have been reported, so that each is
  /// reported once. Kept as long as the problem and the workload exist.
  std::map<WorkloadId, std::set<std::size_t>> reported_ KX_GUARDED_BY(mu_);
  /// Those made within the last second.
  std::map<LineKey, Line> lines_ KX_GUARDED_BY(mu_);
  /// What keeps snapshots of these sources from being taken, and by which policy they are to be.
  std::map<SourceId, std::pair<reloadpolicy::PolicyId, std::string>> unsettled_ KX_GUARDED_BY(mu_);
  /// What has come of restores, of policies that exist.
  std::map<SourceId, RestoreReport> restores_ KX_GUARDED_BY(mu_);

  mutable base::Mutex host_mu_;
  base::CondVar host_idle_;
  std::shared_ptr<const GateHost> host_ KX_GUARDED_BY(host_mu_);
  int host_users_ KX_GUARDED_BY(host_mu_) = 0;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_POLICY_POLICY_ENFORCER_H_
