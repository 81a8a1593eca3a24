/// @file
/// Deadlines: requests stops when their time has come.
#ifndef KUBEXX_CONTROLLER_INTERNAL_DEADLINES_H_
#define KUBEXX_CONTROLLER_INTERNAL_DEADLINES_H_

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <stop_token>
#include <thread>
#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/subscription.h"

namespace kubexx::controller::internal {

/// Watches any number of deadlines on one thread. It requests each stop on a separate thread, so
/// that a callback that hangs does not delay later deadlines; the destructor waits for these
/// threads. Thread-safe.
class Deadlines {
 public:
  explicit Deadlines(base::Clock& clock);

  /// Requests a stop of `source` at `at`, unless the subscription has ended by then.
  base::Subscription Arm(std::stop_source source, base::TimePoint at);

 private:
  using Entry = std::pair<base::TimePoint, std::uint64_t>;

  struct StopRequest {
    std::atomic<bool> done = false;
    std::jthread thread{};
  };

  void Run(const std::stop_token& stop);
  void Request(const std::stop_source& due);

  base::Clock& clock_;
  base::Mutex mu_;
  base::CondVar changed_;
  std::map<Entry, std::stop_source> armed_ KX_GUARDED_BY(mu_);
  std::uint64_t next_ KX_GUARDED_BY(mu_) = 0;
  std::list<StopRequest> requests_{};  // only the thread uses them
  std::jthread thread_;                // This is the last member, so that it ends first.
};

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_DEADLINES_H_
