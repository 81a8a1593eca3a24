#include "kubexx/base/testing/scarce_threads/scarce_threads.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>

namespace kubexx::base::testing {
namespace {

/// How many threads may still be started; below zero: any number.
std::atomic<int> threads_left{-1};

}  // namespace

ScarceThreads::ScarceThreads(int threads) { threads_left = threads; }
ScarceThreads::~ScarceThreads() { threads_left = -1; }

}  // namespace kubexx::base::testing

#if !KX_SANITIZED
namespace kubexx::base::testing {
namespace {

bool TakeThread() {
  int left = threads_left.load();
  while (left > 0 && !threads_left.compare_exchange_weak(left, left - 1)) {
  }
  return left != 0;
}

}  // namespace
}  // namespace kubexx::base::testing

// A program's own function comes before the C library's, also for libstdc++.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) {
  static const auto real =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return kubexx::base::testing::TakeThread() ? real(thread, attributes, start, argument) : EAGAIN;
}
#endif
