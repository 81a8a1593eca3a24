#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apiserver/cacher/beginning.h"

namespace kubexx::apiserver {
namespace {

CachedObjectRef ObjectNumber(std::size_t i) {
  auto object = std::make_shared<CachedObject>();
  object->key = {.namespace_ = "namespace-" + std::to_string(i % 50),
                 .name = "deployment-" + std::to_string(i % 500) + "-" + std::to_string(i)};
  return object;
}

/// The whole beginning of one watch of `state.range(0)` objects, one of 16 of which has changed
/// since the state that it shares: with more, the cache makes another state.
void BM_Beginning(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  auto base = std::make_shared<ObjectsAtATime>();
  for (std::size_t i = 0; i < count; ++i) {
    base->objects.push_back(ObjectNumber(i));
  }
  std::ranges::sort(base->objects, {},
                    [](const CachedObjectRef& object) { return object->key.ToString(); });
  std::vector<CacheEvent> changes;
  for (std::size_t i = 0; i < count; i += 16) {
    changes.push_back({.type = codec::WatchEventType::kModified, .object = ObjectNumber(i)});
  }
  for (auto _ : state) {
    Beginning beginning(base, changes, {});
    while (beginning.left() > 0) {
      benchmark::DoNotOptimize(beginning.Next());
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Beginning)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kubexx::apiserver
