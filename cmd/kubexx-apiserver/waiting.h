/// @file
/// How the programs' main threads spend their time.
#ifndef KUBEXX_CMD_KUBEXX_APISERVER_WAITING_H_
#define KUBEXX_CMD_KUBEXX_APISERVER_WAITING_H_

#include <stop_token>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"

namespace kubexx::cmd {

/// Returns when `stop` is requested.
inline void WaitUntilStopped(const std::stop_token& stop) {
  base::Mutex mu;
  base::CondVar never;
  base::MutexLock lock(mu);
  while (!stop.stop_requested()) {
    base::Clock::Real().WaitUntil(mu, never, stop, base::TimePoint::max());
  }
}

}  // namespace kubexx::cmd

#endif  // KUBEXX_CMD_KUBEXX_APISERVER_WAITING_H_
