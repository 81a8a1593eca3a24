/// @file
/// Makes the history that is written on workloads together with their rollouts.
#ifndef KUBEXX_RELOADER_HISTORY_HISTORY_KEEPER_H_
#define KUBEXX_RELOADER_HISTORY_HISTORY_KEEPER_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "kubexx/apimachinery/time.h"
#include "kubexx/base/clock.h"
#include "kubexx/reloader/history/history.h"
#include "kubexx/reloader/history/rollout_ends.h"
#include "kubexx/reloader/history/source_changes.h"
#include "kubexx/reloader/model/source_trace.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/plan/planner.h"

namespace kubexx::reloader {

/// What an informer keeps of a source.
struct TracedSource {
  Digest digest{};  ///< of all data
  std::optional<SourceTrace> trace{};
};

/// Knows what has changed and what has ended, and makes the text of kHistoryAnnotation of it. It
/// causes no request: the text belongs in writes that are made anyway. Thread-safe.
class HistoryKeeper {
 public:
  struct Options {
    /// How many rollouts are kept of each workload; at most History::kMaxRollouts.
    std::size_t rollouts = 10;
    /// Returns the source as the informers have it; std::nullopt when they do not.
    std::function<std::optional<TracedSource>(const SourceId&)> source{};
  };
  explicit HistoryKeeper(Options options) : options_(std::move(options)) {}

  /// Which changes of sources have been seen; whoever handles their events adds them.
  SourceChanges& changes() { return changes_; }
  /// When rollouts ended; whoever handles events of workloads tells of them.
  RolloutEnds& ends() { return ends_; }

  /// The text to write together with the rollout that `plan` asks for, at the time `now`: the
  /// workload's history, with the outcome of its last rollout, and with this one. A history that
  /// cannot be read is logged, and replaced.
  std::string WithRollout(const Workload& workload, const Plan& plan, apimachinery::Time now) const;
  /// A reload without a rollout that has ended well.
  struct InPlace {
    apimachinery::Time at{};  ///< when it began
    base::Duration took{};
    std::string action{};
  };
  /// The same for the changes of `plan`, which the pods of the workload have been given `in_place`.
  std::string WithReload(const Workload& workload, const Plan& plan, const InPlace& in_place) const;
  /// The text with the outcome of the workload's last rollout, which has ended; std::nullopt when
  /// that is recorded already, or there is nothing to record.
  std::optional<std::string> WithOutcome(const Workload& workload) const;

 private:
  std::string WithEntry(const Workload& workload, const Plan& plan, HistoryEntry entry) const;
  HistorySource SourceOfRollout(const SourceId& id, const Change& change, const Plan& plan,
                                const std::optional<apimachinery::Time>& last,
                                bool is_in_place) const;

  const Options options_;
  SourceChanges changes_;
  RolloutEnds ends_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_HISTORY_HISTORY_KEEPER_H_
