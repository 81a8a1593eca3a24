/// @file
/// Mailbox: passes inputs of other threads to the thread that runs an election.
#ifndef KUBEXX_LEADERELECTION_INTERNAL_MAILBOX_H_
#define KUBEXX_LEADERELECTION_INTERNAL_MAILBOX_H_

#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/leaderelection/election.h"

namespace kubexx::leaderelection::internal {

/// Holds at most one input of each kind, and of leases and replies the newest. Thread-safe.
class Mailbox {
 public:
  explicit Mailbox(base::Clock& clock) : clock_(clock) {}

  void Put(Reply&& reply) {
    {
      const base::MutexLock lock(mu_);
      // A reply that nobody waits for any more may still come while a newer one lies here.
      if (!reply_ || reply_->op < reply.op) {
        reply_ = std::move(reply);
      }
    }
    cv_.notify_one();
  }
  void Put(Seen&& seen) {
    {
      const base::MutexLock lock(mu_);
      seen_ = std::move(seen);
    }
    cv_.notify_one();
  }
  void Put(Stop /*stop*/) {
    {
      const base::MutexLock lock(mu_);
      stop_ = true;
    }
    cv_.notify_one();
  }
  void Put(WorkEnded /*ended*/) {
    {
      const base::MutexLock lock(mu_);
      work_ended_ = true;
    }
    cv_.notify_one();
  }

  /// Waits until there are inputs or `stop` is requested, until `wake` at the latest. Returns the
  /// inputs, with a Stop if `stop` is requested; a Tick if there are none.
  std::vector<Input> Take(const std::stop_token& stop, base::TimePoint wake) {
    base::MutexLock lock(mu_);
    while (!reply_ && !seen_ && !stop_ && !work_ended_ && !stop.stop_requested() &&
           clock_.Now() < wake) {
      clock_.WaitUntil(mu_, cv_, stop, wake);
    }
    std::vector<Input> out;
    if (auto reply = std::exchange(reply_, std::nullopt)) {
      out.emplace_back(*std::move(reply));
    }
    if (auto seen = std::exchange(seen_, std::nullopt)) {
      out.emplace_back(*std::move(seen));
    }
    if (std::exchange(work_ended_, false)) {
      out.emplace_back(WorkEnded());
    }
    if (std::exchange(stop_, false) || stop.stop_requested()) {
      out.emplace_back(Stop());
    }
    if (out.empty()) {
      out.emplace_back(Tick());
    }
    return out;
  }

 private:
  base::Clock& clock_;
  base::Mutex mu_;
  base::CondVar cv_;
  std::optional<Reply> reply_ KX_GUARDED_BY(mu_);
  std::optional<Seen> seen_ KX_GUARDED_BY(mu_);
  bool stop_ KX_GUARDED_BY(mu_) = false;
  bool work_ended_ KX_GUARDED_BY(mu_) = false;
};

}  // namespace kubexx::leaderelection::internal

#endif  // KUBEXX_LEADERELECTION_INTERNAL_MAILBOX_H_
