// Measures how long it takes to find the settings of a workload, which the operator does under the
// lock of its policies.
#include <benchmark/benchmark.h>

#include <string>

#include "kubexx/reloadpolicy/policy_set.h"

namespace kubexx::reloadpolicy {
namespace {

/// Annotations with so many maintenance windows; without any where there are none.
Annotations WithWindows(int windows) {
  Annotations annotations{{"reloader.kubexx.io/last-rollout", "2026-11-30T22:00:00Z"},
                          {"reloader.stakater.com/auto", "true"}};
  std::string text;
  for (int i = 0; i < windows; ++i) {
    text += std::to_string(i) + " 2 * * 1-5 3h Europe/Berlin;";
  }
  if (windows > 0) {
    annotations["reloader.kubexx.io/maintenance-windows"] = text;
  }
  return annotations;
}

void Resolve(benchmark::State& state) {
  PolicySet policies;
  policies.Set({.id = {"", "all"}, .settings = {.max_in_cluster = 5}});
  const Annotations annotations = WithWindows(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(policies.Resolve({"Deployment", {"shop", "web"}}, annotations));
  }
}
BENCHMARK(Resolve)->Arg(0)->Arg(1)->Arg(4)->Arg(16)->Unit(benchmark::kNanosecond);

void ResolveOrder(benchmark::State& state) {
  PolicySet policies;
  policies.Set({.id = {"", "all"}, .settings = {.max_in_cluster = 5}});
  const Annotations annotations{{"reloader.kubexx.io/order", "3"},
                                {"reloader.kubexx.io/min-interval", "15m"}};
  for (auto _ : state) {
    benchmark::DoNotOptimize(policies.Resolve({"Deployment", {"shop", "web"}}, annotations));
  }
}
BENCHMARK(ResolveOrder)->Unit(benchmark::kNanosecond);

}  // namespace
}  // namespace kubexx::reloadpolicy
