/// @file
/// ElectionRun: whether a manager's process leads, and the runnables that run while it does.
#ifndef KUBEXX_CONTROLLER_INTERNAL_ELECTION_RUN_H_
#define KUBEXX_CONTROLLER_INTERNAL_ELECTION_RUN_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/controller/internal/runnable_group.h"
#include "kubexx/controller/leadership.h"

namespace kubexx::controller::internal {

/// Runs an election on a thread of its own, and runnables while this process leads. Thread-safe;
/// Use and Begin are called once each, in this order.
class ElectionRun {
 public:
  /// `leaders` has the runnables, and must outlive the thread; see Join. `on_failure` is called
  /// when the leadership was lost or the election has failed, before the running runnables are told
  /// to stop.
  ElectionRun(base::Clock& clock, RunnableGroup& leaders,
              std::function<void(apimachinery::Status)> on_failure)
      : clock_(clock), leaders_(leaders), on_failure_(std::move(on_failure)) {}
  ElectionRun(const ElectionRun&) = delete;
  ElectionRun& operator=(const ElectionRun&) = delete;

  /// Sets the leadership. With null, this process leads from Begin on.
  void Use(std::shared_ptr<Leadership> leadership);
  /// Starts the runnables, or the election that starts them. Throws std::system_error when the
  /// system has no thread for it.
  void Begin();
  void RequestStop() { stop_.request_stop(); }
  /// Blocks until the election and all runnables have ended, `deadline` has come, or `cut` is
  /// requested. Returns whether they have ended.
  bool Await(base::TimePoint deadline, const std::stop_token& cut);
  /// Ends the leadership of a process that leads without an election.
  void End() { leads_ = false; }
  /// Waits for the thread, whose stop must have been requested.
  void Join() { thread_ = {}; }

  /// Whether this process leads. It is false as soon as the leadership is lost, even while
  /// runnables are still stopping, and as soon as its time is over by the clock.
  bool leads() const {
    // A leadership is there before anybody leads.
    return leads_ && !has_lost_ && (!leadership_ || leadership_->Leads());
  }
  /// How long runnables may go on after a loss.
  base::Duration grace_after_loss() const;
  bool has_lost() const { return has_lost_; }
  /// A token that is requested when the leadership is lost.
  std::stop_token lost() const { return lost_.get_token(); }

 private:
  void Elect();
  void Lead(const std::stop_token& stop);

  base::Clock& clock_;
  RunnableGroup& leaders_;
  const std::function<void(apimachinery::Status)> on_failure_;
  std::shared_ptr<Leadership> leadership_{};
  std::atomic<bool> leads_ = false;
  std::atomic<bool> has_lost_ = false;
  std::atomic<bool> loss_told_ = false;
  std::stop_source stop_;
  std::stop_source lost_;
  std::optional<std::stop_callback<std::function<void()>>> on_lost_;
  base::Mutex mu_;
  base::CondVar changed_;
  bool ended_ KX_GUARDED_BY(mu_) = false;
  std::jthread thread_;  // This is the last member, so that it ends first.
};

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_ELECTION_RUN_H_
