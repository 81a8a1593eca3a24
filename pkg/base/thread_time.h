/// @file
/// How long a thread has worked.
#ifndef KUBEXX_BASE_THREAD_TIME_H_
#define KUBEXX_BASE_THREAD_TIME_H_

#include <time.h>

#include <chrono>

#include "kubexx/base/clock.h"

namespace kubexx::base {

/// Processor time that the calling thread has used since it began. Other work of the machine hardly
/// changes how it grows, so costs are counted by it. It takes a system call.
inline Duration ThreadCpuTime() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_THREAD_TIME_H_
