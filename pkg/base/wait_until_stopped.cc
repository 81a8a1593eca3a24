#include "kubexx/base/wait_until_stopped.h"

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"

namespace kubexx::base {

void WaitUntilStopped(const std::stop_token& stop) {
  Mutex mu;
  CondVar never;
  const MutexLock lock(mu);
  while (!stop.stop_requested()) {
    Clock::Real().WaitUntil(mu, never, stop, TimePoint::max());
  }
}

}  // namespace kubexx::base
