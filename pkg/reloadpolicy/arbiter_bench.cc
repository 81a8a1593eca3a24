// Measures the time that an event takes in an arbiter while many rollouts are in progress and many
// wait.
#include <benchmark/benchmark.h>

#include <chrono>
#include <string>

#include "kubexx/apimachinery/time.h"
#include "kubexx/reloadpolicy/arbiter.h"

namespace kubexx::reloadpolicy {
namespace {

const base::WallTime kStart = base::WallTime(std::chrono::seconds(1'795'000'000));

ObjectRef App(const std::string& name, int i) {
  return {"Deployment", {"ns" + std::to_string(i % 100), name + std::to_string(i)}};
}

/// An arbiter with 500 rollouts in progress and `waiting` that wait, under a limit for the cluster.
Arbiter BusyArbiter(int waiting) {
  Arbiter arbiter;
  arbiter.SetPolicy({.id = {"", "all"}, .settings = {.max_in_cluster = 500}});
  for (int i = 0; i < 500; ++i) {
    (void)arbiter.Begin({App("busy", i), {}, {}, "u"}, kStart);
  }
  for (int i = 0; i < waiting; ++i) {
    (void)arbiter.Begin({App("waits", i), {}, {}, "u"}, kStart);
  }
  (void)arbiter.TakeWakes(kStart);
  return arbiter;
}

void StatusEvent(benchmark::State& state) {
  Arbiter arbiter = BusyArbiter(static_cast<int>(state.range(0)));
  const Annotations rolled{
      {std::string(kLastRolloutAnnotation), apimachinery::Time::From(kStart).ToString()}};
  bool waits = false;
  for (auto _ : state) {
    waits = !waits;  // both have a place
    arbiter.Observe(
        App("busy", 0),
        {.uid = "u", .annotations = rolled, .phase = waits ? Phase::kWaiting : Phase::kUpdating},
        kStart);
    benchmark::DoNotOptimize(arbiter.TakeWakes(kStart));
  }
}
BENCHMARK(StatusEvent)->Arg(1000)->Arg(10000)->Unit(benchmark::kMicrosecond);

void Reports(benchmark::State& state) {
  Arbiter arbiter = BusyArbiter(10000);
  for (int i = 0; i < state.range(0); ++i) {
    arbiter.SetPolicy({.id = {"ns" + std::to_string(i % 100), "p" + std::to_string(i)}});
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(arbiter.Reports(kStart));
  }
}
BENCHMARK(Reports)->Arg(10)->Arg(1000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace kubexx::reloadpolicy
