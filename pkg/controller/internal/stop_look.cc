#include "kubexx/controller/internal/stop_look.h"

#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"

namespace kubexx::controller::internal {
namespace {

constexpr base::Duration kLook = std::chrono::milliseconds(500);

void EndWith(const std::stop_token& stop, std::stop_source& ended) {
  base::Clock& real = base::Clock::Real();
  base::Mutex mu;
  base::CondVar never;
  {
    const base::MutexLock lock(mu);
    while (!stop.stop_requested() && !ended.stop_requested()) {
      real.WaitUntil(mu, never, ended.get_token(), real.Now() + kLook);
    }
  }
  ended.request_stop();
}

}  // namespace

StopLook::StopLook(std::stop_token stop, std::stop_source ended)
    : thread_([stop = std::move(stop), ended = std::move(ended)]() mutable {
        if (stop.stop_possible()) {
          EndWith(stop, ended);
        }
      }) {}

}  // namespace kubexx::controller::internal
