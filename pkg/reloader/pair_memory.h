/// @file
/// What the process remembers of workloads and their sources.
#ifndef KUBEXX_RELOADER_PAIR_MEMORY_H_
#define KUBEXX_RELOADER_PAIR_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/reloader/planner.h"

namespace kubexx::reloader {

/// The Knowledge of all workloads. One thread at a time works on a workload (the queue sees to
/// that) while others report changes of its sources. Thread-safe. Holds an entry for each pair that
/// a rule asks for, once it has been planned or has changed.
class PairMemory {
 public:
  /// A source of `workload` changed from `before`. What is known already stays: it is older and
  /// still unacted on. Not so what a plan took from the present data because it knew nothing
  /// (PairState::taken_at), when that was this change's, or a later one's: the store of an informer
  /// has a change before its handlers are told.
  /// `now`: what it changed to, when that is known.
  void RecordChange(const WorkloadId& workload, const SourceId& source, const Digest& before,
                    const std::optional<Move>& now = std::nullopt);
  /// A source, whose data were `before`, was deleted at `version`; 0: it is not known when. What is
  /// known already stays, as of a change.
  void RecordEnd(const WorkloadId& workload, const SourceId& source, const Digest& before,
                 std::uint64_t version);
  /// The versions begin anew: the store has been restored.
  void ForgetVersions(const WorkloadId& workload);
  /// A change of a pod template.
  struct TemplateChange {
    std::uint64_t since = 0;  ///< it was made at this resource version or later; 0: not known
    std::string before{};     ///< digests of the template
    std::string now{};
    bool was_rolled_out = true;  ///< the template before had made all pods
    bool is_own = false;         ///< a rollout of the operator: who undoes it is left alone
  };
  /// Whether a rollout of the operator was undone before it was through: pods that began with the
  /// data from before live on, as whoever undid it wanted.
  bool TemplateChanged(const WorkloadId& workload, const TemplateChange& change);
  /// Another replica, which works on the workload while this one looks on, has recorded a baseline:
  /// it counts more than what this one has concluded so far.
  void RecordedByOthers(const WorkloadId& workload);
  /// Another replica has rolled the workload and recorded no baseline: what this one has concluded
  /// was true of pods that are gone.
  void RolledByOthers(const WorkloadId& workload);
  /// All pods are of the present template.
  void TemplateRolledOut(const WorkloadId& workload);
  /// This replica works on the workload in that tenure (see FreshReads). Others may have in
  /// between, so that what they recorded is newer than what is known here.
  void BeginTenure(const WorkloadId& workload, std::uint64_t tenure);
  /// The workload was there before the process.
  void MarkNew(const WorkloadId& workload);
  /// The workload was made at `version`, while the process runs: its pods begin with what was
  /// written before.
  void MarkAdded(const WorkloadId& workload, std::uint64_t version);
  Knowledge Get(const WorkloadId& workload) const;
  /// Takes over what a plan found, changes apart. False when the plan is wrong about something: a
  /// change was told of while it was made.
  bool Apply(const WorkloadId& workload, const Plan& plan);
  /// A write is about to be sent: from now on nothing is certain until Confirm. The sources that
  /// this is about.
  std::vector<SourceId> BeginWrite(const WorkloadId& workload, const std::vector<Change>& changes);
  /// The write has certainly not arrived. `begun`: what BeginWrite said of it.
  void CancelWrite(const WorkloadId& workload, const std::vector<SourceId>& begun);
  /// The write has arrived. `rolled`: new pods begin, with all data as they are now.
  void Confirm(const WorkloadId& workload, const std::vector<Change>& changes, bool rolled);
  /// The workload is gone, or another has taken its place.
  void Forget(const WorkloadId& workload);
  /// Pairs with an entry.
  std::size_t size() const;

 private:
  mutable base::Mutex mu_;
  std::map<WorkloadId, Knowledge> states_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PAIR_MEMORY_H_
