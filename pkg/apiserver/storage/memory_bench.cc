#include <benchmark/benchmark.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/base/testing/temporary_folder.h"
#include "kubexx/codec/codec.h"

namespace kubexx::apiserver::storage {
namespace {

using api::core::v1::Pod;
using apimachinery::Result;

// Makes a pod of 1.3 KB whose values differ from those of its neighbours, as kube-apiserver would
// store it.
std::string MakeValue(std::size_t i) {
  const std::string number = std::to_string(i * 2654435761U % 1000000007U);
  Pod pod;
  pod.metadata.namespace_ = "namespace-" + std::to_string(i % 50);
  pod.metadata.name = "deployment-" + std::to_string(i % 500) + "-" + number;
  pod.metadata.uid = "0b1c2d3e-" + number + "-4f5a-9b8c-" + number;
  for (int k = 0; k < 5; ++k) {
    pod.metadata.labels["app.kubernetes.io/label-" + std::to_string(k)] =
        "value-" + std::to_string((i + static_cast<std::size_t>(k)) % 97);
    pod.metadata.annotations["example.com/annotation-" + std::to_string(k)] =
        "some text about " + number;
  }
  auto& container = pod.spec.containers.emplace_back();
  container.name = "container";
  container.image = "registry.example.com/team/image-" + std::to_string(i % 40) + ":v" + number;
  for (int e = 0; e < 9; ++e) {
    auto& env = container.env.emplace_back();
    env.name = "ENVIRONMENT_VARIABLE_" + std::to_string(e);
    env.value = "value of variable " + std::to_string(e) + " in " + number;
  }
  return codec::EncodeProtobuf(pod);
}

std::string MakeKey(std::size_t i) {
  return "/registry/pods/namespace-" + std::to_string(i % 50) + "/deployment-" +
         std::to_string(i % 500) + "-" + std::to_string(i);
}

double HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

std::unique_ptr<MemoryStorage> Filled(std::size_t objects, MemoryOptions options) {
  auto storage = std::move(*NewMemoryStorage(std::move(options)));
  for (std::size_t i = 0; i < objects; ++i) {
    if (!storage->Create(MakeKey(i), MakeValue(i), {})) {
      std::abort();
    }
  }
  return storage;
}

/// Measures the memory of each of so many objects, including the history.
void BM_Memory(benchmark::State& state) {
  const auto objects = static_cast<std::size_t>(state.range(0));
  MemoryOptions options;
  options.keep_revisions = state.range(1) != 0 ? objects : 1;
  for (auto _ : state) {
    const double before = HeapBytes();
    const auto storage = Filled(objects, options);
    state.counters["heap_per_object"] = (HeapBytes() - before) / static_cast<double>(objects);
    state.counters["value_per_object"] =
        static_cast<double>(storage->Usage().value_bytes) / static_cast<double>(objects);
  }
  state.counters["raw_per_object"] = static_cast<double>(MakeValue(1).size());
}
BENCHMARK(BM_Memory)
    ->ArgNames({"objects", "history"})
    ->Args({100000, 0})
    ->Args({100000, 1})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

/// Updates 10,000 objects, one after the other, on so many threads.
void BM_Write(benchmark::State& state) {
  static std::unique_ptr<MemoryStorage> storage;
  static std::vector<std::string> values;
  constexpr std::size_t kObjects = 10000;
  if (state.thread_index() == 0) {
    storage = Filled(kObjects, {});
    for (std::size_t i = 0; i < 100; ++i) {
      values.push_back(MakeValue(i));
    }
  }
  std::size_t i = static_cast<std::size_t>(state.thread_index()) * 1000;
  for (auto _ : state) {
    const std::string key = MakeKey(i % kObjects);
    const Result<KeyValue> now = storage->Get(key, 0, {});
    benchmark::DoNotOptimize(
        storage->CompareAndSwap(key, now->mod_revision, values[i % values.size()], {}));
    ++i;
  }
  state.SetItemsProcessed(state.iterations());
  if (state.thread_index() == 0) {
    storage.reset();
    values.clear();
  }
}
BENCHMARK(BM_Write)->Threads(1)->Threads(4)->UseRealTime();

/// The same with a file: so many threads share a sync.
void BM_WriteToFile(benchmark::State& state) {
  static std::unique_ptr<MemoryStorage> storage;
  static std::optional<base::testing::TemporaryFolder> folder;
  if (state.thread_index() == 0) {
    folder.emplace();
    MemoryOptions options;
    options.file = *folder / "store";
    storage = Filled(0, options);
  }
  const std::string value = MakeValue(7);
  std::size_t i = 0;
  for (auto _ : state) {
    const std::string key = MakeKey(++i) + "-" + std::to_string(state.thread_index());
    benchmark::DoNotOptimize(storage->Create(key, value, {}));
  }
  state.SetItemsProcessed(state.iterations());
  if (state.thread_index() == 0) {
    storage.reset();
    folder.reset();
  }
}
BENCHMARK(BM_WriteToFile)->Threads(1)->Threads(16)->UseRealTime();

/// Updates 10,000 objects with a file in $TMPDIR, at random. The rewrites of the file are included.
void BM_UpdateInFile(benchmark::State& state) {
  constexpr std::size_t kObjects = 10000;
  const base::testing::TemporaryFolder folder;
  const std::string file = folder / "store";
  const auto storage = Filled(kObjects, {.keep_revisions = 1000, .file = file});
  const std::string value = MakeValue(7);
  std::size_t i = 1;
  std::size_t largest = 0;
  for (auto _ : state) {
    i = i * 6364136223846793005U + 1442695040888963407U;
    const std::string key = MakeKey((i >> 33U) % kObjects);
    const Result<KeyValue> now = storage->Get(key, 0, {});
    benchmark::DoNotOptimize(storage->CompareAndSwap(key, now->mod_revision, value, {}));
    largest = std::max(largest, storage->Usage().file_bytes);
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["largest_file"] = static_cast<double>(largest);
}
BENCHMARK(BM_UpdateInFile)->UseRealTime();

/// One thread writes, and so many watchers get every event.
void BM_FanOut(benchmark::State& state) {
  const auto watchers = static_cast<std::size_t>(state.range(0));
  constexpr std::size_t kWrites = 1000;
  std::vector<std::string> values;
  for (std::size_t i = 0; i < kWrites; ++i) {
    values.push_back(MakeValue(i));
  }
  for (auto _ : state) {
    state.PauseTiming();
    const auto storage = Filled(1, {});
    std::atomic<std::size_t> given = 0;
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < watchers; ++i) {
      threads.emplace_back([&storage, &given](const std::stop_token& stop) {
        const auto sink = [&given](std::shared_ptr<const Event>) -> Result<void> {
          given.fetch_add(1);
          given.notify_one();
          return {};
        };
        (void)storage->Watch("/registry/pods/", {.from_revision = 1}, sink, stop).has_value();
      });
    }
    state.ResumeTiming();
    for (std::size_t i = 0; i < kWrites; ++i) {
      benchmark::DoNotOptimize(storage->Create(MakeKey(i + 1), values[i], {}));
    }
    for (std::size_t seen = given; seen < watchers * kWrites; seen = given) {
      given.wait(seen);
    }
    state.PauseTiming();
    threads.clear();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(watchers * kWrites));
}
BENCHMARK(BM_FanOut)->Arg(1)->Arg(100)->Arg(1000)->Iterations(1)->MeasureProcessCPUTime()->Unit(
    benchmark::kMillisecond);

}  // namespace
}  // namespace kubexx::apiserver::storage
