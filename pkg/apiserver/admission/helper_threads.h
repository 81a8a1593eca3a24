/// @file
/// The threads on which requests ask several webhooks at the same time.
#ifndef KUBEXX_APISERVER_ADMISSION_HELPER_THREADS_H_
#define KUBEXX_APISERVER_ADMISSION_HELPER_THREADS_H_

#include <cstddef>

#include "kubexx/base/function_ref.h"
#include "kubexx/base/mutex.h"

namespace kubexx::apiserver::admission {

/// Threads that help requests, as long as there are any: a request does all of its work on its own
/// thread when there are none, so webhooks that hang cannot keep others from being asked. A request
/// gets at most half of those that are left, so that a few requests whose webhooks hang do not have
/// all of them. Thread-safe.
class HelperThreads {
 public:
  /// Of all requests together, and of one.
  struct Limits {
    std::size_t all = 64;
    std::size_t one = 15;
  };

  explicit HelperThreads(Limits limits) : limits_(limits), left_(limits.all) {}
  HelperThreads() : HelperThreads(Limits()) {}

  /// Calls `work` with each number below `count`, on this thread and on helpers, and returns when
  /// all calls have returned. They may run at the same time, and begin in the order of their
  /// numbers. `work` must not throw.
  void ForEach(std::size_t count, base::FunctionRef<void(std::size_t)> work);

 private:
  std::size_t Take(std::size_t wanted);
  void GiveBack(std::size_t count);

  const Limits limits_;
  base::Mutex mu_;
  std::size_t left_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::apiserver::admission

#endif  // KUBEXX_APISERVER_ADMISSION_HELPER_THREADS_H_
