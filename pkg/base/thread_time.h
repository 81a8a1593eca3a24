/// @file
/// Measures the processor time of a thread.
#ifndef KUBEXX_BASE_THREAD_TIME_H_
#define KUBEXX_BASE_THREAD_TIME_H_

#include <time.h>

#include <chrono>

#include "kubexx/base/clock.h"

namespace kubexx::base {

/// Returns the processor time that the calling thread has used since it began. Other work of the
/// machine hardly influences it, so costs are measured with it. It takes a system call.
inline Duration ThreadCpuTime() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_THREAD_TIME_H_
