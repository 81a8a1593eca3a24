#include "kubexx/controller/internal/briefly.h"

#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "kubexx/base/mutex.h"

namespace kubexx::controller::internal {
namespace {

struct Done {
  base::Mutex mu;
  base::CondVar changed;
  bool is KX_GUARDED_BY(mu) = false;
};

}  // namespace

void Briefly(std::function<void()> act) {
  const auto done = std::make_shared<Done>();
  try {
    std::thread([act = std::move(act), done] {
      act();
      const base::MutexLock lock(done->mu);
      done->is = true;
      done->changed.notify_all();
    }).detach();
  } catch (const std::system_error&) {
    return;  // the system has no thread left, so the process ends without this call
  }
  base::Clock& clock = base::Clock::Real();
  const base::TimePoint until = clock.Now() + kMoment;
  const base::MutexLock lock(done->mu);
  while (!done->is) {
    if (clock.WaitUntil(done->mu, done->changed, {}, until) == base::Wake::kTimeout) {
      return;
    }
  }
}

}  // namespace kubexx::controller::internal
