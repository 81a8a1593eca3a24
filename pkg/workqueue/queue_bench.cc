#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "kubexx/workqueue/queue.h"

namespace kubexx::workqueue {
namespace {

std::vector<Key> MakeKeys(std::size_t n, const std::string& prefix) {
  std::vector<Key> keys;
  for (std::size_t i = 0; i < n; ++i) {
    keys.push_back({"", {"team-" + std::to_string(i % 100), prefix + std::to_string(i)}});
  }
  return keys;
}

/// One key through the queue by one thread, with `state.range(0)` other keys waiting.
void BM_AddGetDone(benchmark::State& state) {
  metrics::Registry registry;
  Queue queue({.name = "bench", .registry = &registry});
  const auto waiting = MakeKeys(static_cast<std::size_t>(state.range(0)), "waiting-web-7c9d8f");
  for (const Key& key : waiting) {
    queue.Add(key);
  }
  const auto keys = MakeKeys(1024, "payments-web-7c9d8f-");
  std::size_t i = 0;
  for (auto _ : state) {
    queue.Add(keys[i++ & 1023]);
    queue.Done(*queue.Get());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_AddGetDone)->Arg(0)->Arg(1000)->Arg(100000);

/// Adds of a key that waits already: what a burst of events on one object costs.
void BM_AddAgain(benchmark::State& state) {
  Queue queue({});
  const Key key{"", {"team-1", "payments-web"}};
  queue.Add(key);
  for (auto _ : state) {
    queue.Add(key);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_AddAgain);

/// Delayed adds that move a key's time forward each time.
void BM_AddAfter(benchmark::State& state) {
  Queue queue({});
  const auto keys = MakeKeys(static_cast<std::size_t>(state.range(0)), "web-");
  std::size_t i = 0;
  for (auto _ : state) {
    queue.AddAfter(keys[i], std::chrono::hours(1));
    i = i + 1 == keys.size() ? 0 : i + 1;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_AddAfter)->Arg(1000)->Arg(100000);

std::unique_ptr<Queue> shared_queue;

/// Eight threads that each add, take and finish keys of one queue.
void BM_Threads(benchmark::State& state) {
  if (state.thread_index() == 0) {
    shared_queue = std::make_unique<Queue>(Queue::Options{});
  }
  const auto keys = MakeKeys(256, "t" + std::to_string(state.thread_index()) + "-");
  std::size_t i = 0;
  for (auto _ : state) {
    shared_queue->Add(keys[i++ & 255]);
    // Each thread adds before it takes, so there is a key for it.
    if (const auto key = shared_queue->Get()) {
      shared_queue->Done(*key);
    }
  }
  state.SetItemsProcessed(state.iterations());
  if (state.thread_index() == 0) {
    shared_queue.reset();
  }
}
BENCHMARK(BM_Threads)->Threads(1)->Threads(2)->Threads(8)->UseRealTime();

}  // namespace
}  // namespace kubexx::workqueue
