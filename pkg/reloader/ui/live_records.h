/// @file
/// Keeps the records of the page up to date.
#ifndef KUBEXX_RELOADER_UI_LIVE_RECORDS_H_
#define KUBEXX_RELOADER_UI_LIVE_RECORDS_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/ui/state_feed.h"

namespace kubexx::reloader {

/// The key of a workload's record: "w/Deployment/shop/web".
std::string RecordKeyOf(const WorkloadId& id);

/// Makes the records anew of what has been touched, and gives them to a StateFeed, all that has
/// changed within `gap` at once. Workloads that wait or roll are looked at again each `interval`,
/// because that may end with time, or with others. The work for one change is bounded by `budget`:
/// what is left is done in the next turn, after the others have been told what is ready.
/// Thread-safe.
class LiveRecords {
 public:
  /// What becomes of a workload.
  struct Look {
    std::optional<std::string> json{};  ///< std::nullopt: it does not exist
    bool is_settled = true;             ///< its record changes only when it is touched
    /// It could not be looked at: a record that there is already stays as it is.
    bool is_postponed = false;
  };
  struct Options {
    base::Clock& clock = base::Clock::Real();
    base::Duration gap = std::chrono::milliseconds(100);
    base::Duration budget = std::chrono::milliseconds(60);
    base::Duration interval = std::chrono::seconds(1);
    /// How many workloads the page shows at most; those that come later are only counted.
    std::size_t max_workloads = 20'000;
    /// Looks at a workload. Runs on the thread of this object, and may block.
    std::function<Look(const WorkloadId&, const std::stop_token&)> look{};
    /// Makes the other records, in each interval; those that it does not return any more are gone.
    /// Gets the number of workloads that are beyond `max_workloads`. May be empty.
    std::function<std::map<std::string, std::string>(std::size_t left_out, const std::stop_token&)>
        others{};
  };
  /// `feed` must outlive this object.
  LiveRecords(StateFeed& feed, Options options);
  /// Ends the thread.
  ~LiveRecords() = default;
  LiveRecords(const LiveRecords&) = delete;
  LiveRecords& operator=(const LiveRecords&) = delete;

  /// Something that concerns the workload has changed. Does not block.
  void Touch(const WorkloadId& id);
  /// Something that concerns all workloads has changed. Does not block.
  void TouchAll();

 private:
  void Run(const std::stop_token& stop);
  /// Waits until there is something to do, and returns what has been touched.
  std::set<WorkloadId> AwaitWork(const std::stop_token& stop);
  /// Looks at workloads until the budget is spent, and takes those out of `todo`.
  void LookAt(std::set<WorkloadId>& todo, RecordEdits& edits, const std::stop_token& stop);
  void LookAtOthers(RecordEdits& edits, const std::stop_token& stop);

  StateFeed& feed_;
  const Options options_;
  base::Mutex mu_;
  base::CondVar touched_cv_;
  std::set<WorkloadId> touched_ KX_GUARDED_BY(mu_);
  bool all_touched_ KX_GUARDED_BY(mu_) = false;
  // What follows is used by the thread only.
  std::set<WorkloadId> known_;
  std::set<WorkloadId> left_out_;
  std::set<WorkloadId> unsettled_;
  std::set<std::string> others_;
  WorkloadId last_look_{};
  base::TimePoint last_turn_ = base::TimePoint::min();
  base::TimePoint next_look_ = base::TimePoint::min();
  std::jthread thread_;  // last: ends first
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_UI_LIVE_RECORDS_H_
