#include <benchmark/benchmark.h>

#include "kubexx/apiserver/server/testing/api_server.h"

namespace kubexx::testing {
namespace {

// Measures what a test pays for a server of its own: the start until it answers, and the stop.
void BM_StartAndStop(benchmark::State& state) {
  for (auto _ : state) {
    const ApiServer server;
    benchmark::DoNotOptimize(server.url());
  }
}
BENCHMARK(BM_StartAndStop)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace kubexx::testing
