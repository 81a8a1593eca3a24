#include <benchmark/benchmark.h>

#include <cstdint>
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

/// One thread passes one key through the queue while `state.range(0)` other keys wait.
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
    benchmark::DoNotOptimize(queue.Get());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_AddGetDone)->Arg(0)->Arg(1000)->Arg(100000);

/// Adds a key that waits already, as a burst of events on one object does.
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

/// Each delayed add moves the key's time forward.
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

/// Debounced adds of keys that are not quiet, as in a burst of events in which each event postpones
/// its key.
void BM_AddDebounced(benchmark::State& state) {
  Queue queue({});
  const auto keys = MakeKeys(static_cast<std::size_t>(state.range(0)), "web-");
  std::size_t i = 0;
  for (auto _ : state) {
    queue.AddDebounced(keys[i], {.window = std::chrono::hours(1)});
    i = i + 1 == keys.size() ? 0 : i + 1;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_AddDebounced)->Arg(1)->Arg(1000)->Arg(100000);

std::unique_ptr<Queue> shared_queue;

/// Eight threads add, take and finish keys of one queue.
void BM_Threads(benchmark::State& state) {
  if (state.thread_index() == 0) {
    shared_queue = std::make_unique<Queue>(Queue::Options{});
  }
  // Each add has another key. If the same key were still being processed by another thread, the add
  // would not add a key, and in the end there would be fewer keys than threads that wait for one.
  Key key{"", {"team-1", "t" + std::to_string(state.thread_index()) + "-0000000000000000"}};
  std::uint64_t i = 0;
  for (auto _ : state) {
    ++i;
    for (std::size_t digit = 0; digit < 16; ++digit) {
      key.object.name[key.object.name.size() - 1 - digit] =
          "0123456789abcdef"[(i >> (4 * digit)) & 15];
    }
    shared_queue->Add(key);
    // Each thread adds a key before it takes one, so there is always a key for it.
    benchmark::DoNotOptimize(shared_queue->Get());
  }
  state.SetItemsProcessed(state.iterations());
  if (state.thread_index() == 0) {
    shared_queue.reset();
  }
}
BENCHMARK(BM_Threads)->Threads(1)->Threads(2)->Threads(8)->UseRealTime();

}  // namespace
}  // namespace kubexx::workqueue
