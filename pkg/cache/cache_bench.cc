#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/cache/packed_store.h"
#include "kubexx/codec/codec.h"

namespace kubexx::cache {
namespace {

using api::core::v1::Pod;

// A pod of a few kilobytes whose values differ from its neighbours'.
Object MakePod(std::size_t i) {
  const std::string number = std::to_string(i * 2654435761U % 1000000007U);
  Pod pod;
  pod.metadata.namespace_ = "namespace-" + std::to_string(i % 50);
  pod.metadata.name = "deployment-" + std::to_string(i % 500) + "-" + number;
  pod.metadata.uid = "0b1c2d3e-" + number + "-4f5a-9b8c-" + number;
  pod.metadata.resource_version = std::to_string(1000000 + i);
  for (int k = 0; k < 10; ++k) {
    pod.metadata.labels["app.kubernetes.io/label-" + std::to_string(k)] =
        "value-" + std::to_string((i + static_cast<std::size_t>(k)) % 97);
    pod.metadata.annotations["example.com/annotation-" + std::to_string(k)] =
        "some text about " + number;
  }
  for (int c = 0; c < 3; ++c) {
    auto& container = pod.spec.containers.emplace_back();
    container.name = "container-" + std::to_string(c);
    container.image = "registry.example.com/team/image-" + std::to_string(i % 40) + ":v" + number;
    container.termination_message_path = "/dev/termination-log";
    for (int e = 0; e < 20; ++e) {
      auto& env = container.env.emplace_back();
      env.name = "ENVIRONMENT_VARIABLE_" + std::to_string(e);
      env.value = "value of variable " + std::to_string(e) + " in " + number;
    }
  }
  return {.encoding = codec::Encoding::kProtobuf,
          .bytes = codec::EncodeProtobuf(pod),
          .key = {pod.metadata.namespace_, pod.metadata.name},
          .resource_version = pod.metadata.resource_version};
}

std::vector<Object> MakePods(std::size_t n) {
  std::vector<Object> pods;
  for (std::size_t i = 0; i < n; ++i) {
    pods.push_back(MakePod(i));
  }
  return pods;
}

void Fill(PackedStore& store, const std::vector<Object>& pods) {
  EntryTable table;
  for (const Object& pod : pods) {
    table.Insert(*store.Pack(pod));
  }
  store.Swap(std::move(table), "1");
}

void BM_Pack(benchmark::State& state) {
  const auto pods = MakePods(1000);
  PackedStore store;
  Fill(store, pods);
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(store.Pack(pods[i++ % pods.size()]));
  }
  state.counters["raw_bytes"] = static_cast<double>(pods[0].bytes.size());
  state.counters["store_bytes_per_pod"] = static_cast<double>(store.bytes() / pods.size());
}
BENCHMARK(BM_Pack);

void BM_Unpack(benchmark::State& state) {
  PackedStore store;
  Fill(store, MakePods(1000));
  const auto entries = store.Entries();
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(store.Unpack(*entries[i++ % entries.size()]));
  }
}
BENCHMARK(BM_Unpack);

void BM_UnpackAndDecode(benchmark::State& state) {
  PackedStore store;
  Fill(store, MakePods(1000));
  const auto entries = store.Entries();
  std::size_t i = 0;
  for (auto _ : state) {
    const auto object = store.Unpack(*entries[i++ % entries.size()]);
    benchmark::DoNotOptimize(codec::Decode<Pod>(object->encoding, object->bytes));
  }
}
BENCHMARK(BM_UnpackAndDecode);

// A first full state, with the training of the dictionary.
void BM_Replace(benchmark::State& state) {
  const auto pods = MakePods(static_cast<std::size_t>(state.range(0)));
  std::size_t bytes = 0;
  for (auto _ : state) {
    PackedStore store;
    Fill(store, pods);
    bytes = store.bytes();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.counters["store_bytes_per_pod"] =
      static_cast<double>(bytes) / static_cast<double>(state.range(0));
}
BENCHMARK(BM_Replace)->Arg(1000)->Arg(10000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kubexx::cache
