#include "kubexx/rest/testing/network_threads.h"

#include <latch>
#include <memory>
#include <utility>

// Boost 1.74 uses <utility> without including it.
#include <pplx/threadpool.h>

#include "kubexx/base/testing/await.h"
#include "kubexx/rest/internal/transport/network_pool.h"

namespace kubexx::rest::testing {
namespace {

// A request that was given up ends in a chain of tasks, each of which is queued by the one before
// it.
constexpr int kGenerations = 64;

/// Returns when all tasks that were queued before have run: then every thread of the pool has
/// arrived here.
void AwaitQueued(int threads) {
  // The latch is shared, because a thread of the pool may leave it after this thread has.
  const auto all_here = std::make_shared<std::latch>(threads + 1);
  for (int i = 0; i < threads; ++i) {
    PostOnNetworkThread([all_here] {
      all_here->count_down();
      KX_AWAIT(all_here->try_wait());
    });
  }
  all_here->count_down();
  KX_AWAIT(all_here->try_wait());
}

}  // namespace

void PostOnNetworkThread(std::function<void()> work) {
  crossplat::threadpool::shared_instance().service().post(std::move(work));
}

void DrainNetworkThreads() {
  const int threads = internal::NetworkThreads();
  for (int i = 0; threads > 0 && i < kGenerations; ++i) {
    AwaitQueued(threads);
  }
}

}  // namespace kubexx::rest::testing
