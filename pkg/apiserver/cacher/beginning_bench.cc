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

/// The state that watches share, and one of 16 of its objects changed: with more, the cache makes
/// another state.
struct SharedState {
  explicit SharedState(std::size_t count) {
    base = std::make_shared<ObjectsAtATime>();
    for (std::size_t i = 0; i < count; ++i) {
      base->objects.push_back(ObjectNumber(i));
    }
    std::ranges::sort(base->objects, {},
                      [](const CachedObjectRef& object) { return object->key.ToString(); });
    for (std::size_t i = 0; i < count; i += 16) {
      changes.push_back({.type = codec::WatchEventType::kModified, .object = ObjectNumber(i)});
    }
  }
  std::shared_ptr<ObjectsAtATime> base{};
  std::vector<CacheEvent> changes{};
};

/// The whole beginning of one watch of `state.range(0)` objects.
void BM_Beginning(benchmark::State& state) {
  const SharedState shared(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    Beginning beginning(shared.base, shared.changes, {}, {});
    while (beginning.left() > 0) {
      benchmark::DoNotOptimize(beginning.Next());
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Beginning)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

/// The beginning of a watch that selects one of `state.range(1)` objects and that nobody reads.
/// Counts how many objects it keeps in memory when the cache has replaced all of them, and how many
/// bytes it needs itself.
void BM_SelectiveBeginning(benchmark::State& state) {
  SharedState shared(static_cast<std::size_t>(state.range(0)));
  for (std::size_t i = 0; i < shared.base->objects.size(); ++i) {
    auto object = std::make_shared<CachedObject>(*shared.base->objects[i]);
    object->attributes.labels["part"] =
        std::to_string(i % static_cast<std::size_t>(state.range(1)));
    shared.base->objects[i] = std::move(object);
  }
  Selection selection;
  selection.labels = *apimachinery::LabelSelector::Parse("part=0");
  for (auto _ : state) {
    benchmark::DoNotOptimize(Beginning(shared.base, shared.changes, selection, {}));
  }
  const Beginning unread(shared.base, shared.changes, selection, {});
  const std::vector<std::weak_ptr<const CachedObject>> objects(shared.base->objects.begin(),
                                                               shared.base->objects.end());
  shared.base.reset();
  state.counters["kept_objects"] = static_cast<double>(
      std::ranges::count_if(objects, [](const auto& object) { return !object.expired(); }));
  state.counters["own_bytes"] = static_cast<double>(unread.bytes());
}
BENCHMARK(BM_SelectiveBeginning)
    ->Args({100'000, 2})
    ->Args({100'000, 100})
    ->Args({100'000, 10'000})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kubexx::apiserver
