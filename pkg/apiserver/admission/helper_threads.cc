#include "kubexx/apiserver/admission/helper_threads.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace kubexx::apiserver::admission {

std::size_t HelperThreads::Take(std::size_t wanted) {
  base::MutexLock lock(mu_);
  const std::size_t taken = std::min({wanted, limits_.one, (left_ + 1) / 2});
  left_ -= taken;
  return taken;
}

void HelperThreads::GiveBack(std::size_t count) {
  base::MutexLock lock(mu_);
  left_ += count;
}

void HelperThreads::ForEach(std::size_t count, base::FunctionRef<void(std::size_t)> work) {
  if (count == 0) {
    return;
  }
  std::atomic<std::size_t> next = 0;
  const auto work_on = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      work(i);
    }
  };
  const std::size_t taken = Take(count - 1);
  std::vector<std::jthread> helpers;  // joined at the end
  helpers.reserve(taken);
  try {
    while (helpers.size() < taken) {
      helpers.emplace_back([this, &work_on] {
        work_on();
        GiveBack(1);
      });
    }
  } catch (const std::system_error&) {  // The system has no more threads; this one does the rest.
    GiveBack(taken - helpers.size());
  }
  work_on();
}

}  // namespace kubexx::apiserver::admission
