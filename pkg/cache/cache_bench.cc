#include <benchmark/benchmark.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apimachinery/labels.h"
#include "kubexx/cache/internal/packed/packed_store.h"
#include "kubexx/cache/lister.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/codec/codec.h"

namespace kubexx::cache {
namespace {

using api::core::v1::Pod;

// Makes a pod whose values differ from those of its neighbours. It has a few kilobytes, or less
// when its three containers have fewer environment variables.
Object MakePod(std::size_t i, int variables = 20) {
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
    for (int e = 0; e < variables; ++e) {
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

// The memory of the process that is resident, in megabytes.
double ResidentMegabytes() {
  std::ifstream statm("/proc/self/statm");
  double total = 0;
  double resident = 0;
  statm >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

// Measures the first full state, with the training of the dictionary and an index by namespace. The
// time in which the pods are made is not counted.
void BM_Replace(benchmark::State& state) {
  const auto objects = static_cast<std::size_t>(state.range(0));
  const double before = ResidentMegabytes();
  for (auto _ : state) {
    PackedStore store;
    (void)store.AddIndexers(NamespaceIndexer());
    EntryTable table;
    std::chrono::duration<double> spent{0};
    for (std::size_t i = 0; i < objects; ++i) {
      const Object pod = MakePod(i);
      const auto began = std::chrono::steady_clock::now();
      table.Insert(*store.Pack(pod));
      spent += std::chrono::steady_clock::now() - began;
    }
    const auto began = std::chrono::steady_clock::now();
    store.Swap(std::move(table), "1");
    spent += std::chrono::steady_clock::now() - began;
    state.SetIterationTime(spent.count());
    state.counters["us_per_pod"] = spent.count() * 1e6 / static_cast<double>(objects);
    state.counters["raw_bytes"] = static_cast<double>(MakePod(0).bytes.size());
    state.counters["store_bytes_per_pod"] =
        static_cast<double>(store.bytes()) / static_cast<double>(objects);
    state.counters["resident_mb"] = ResidentMegabytes();
    state.counters["resident_bytes_per_pod"] =
        (ResidentMegabytes() - before) * (1 << 20) / static_cast<double>(objects);
  }
}
BENCHMARK(BM_Replace)
    ->Arg(1000)
    ->Arg(10000)
    ->Arg(100000)
    ->Arg(1000000)
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

// Makes an informer with `objects` pods, each of which has `variables` environment variables.
std::shared_ptr<SharedInformer<Pod>> PodsInCache(std::size_t objects, int variables) {
  const auto source = std::make_shared<testing::FakeSource>();
  for (std::size_t i = 0; i < objects; ++i) {
    source->PutObject(MakePod(i, variables));
  }
  const auto informer = std::make_shared<SharedInformer<Pod>>(
      source, InformerOptions{.name = "pods", .use_watch_list = false});
  informer->Start();
  (void)informer->WaitForSync({});
  return informer;
}

// Lists the pods with one value of a label, which are about 1 % of all pods. The first list, which
// makes the index of labels, is not timed.
void BM_ListBySelector(benchmark::State& state) {
  const auto objects = static_cast<std::size_t>(state.range(0));
  const auto informer = PodsInCache(objects, static_cast<int>(state.range(1)));
  const Lister<Pod> lister(informer);
  const Selection selection{
      .labels = apimachinery::LabelSelector::FromMap({{"app.kubernetes.io/label-0", "value-7"}})};
  const std::size_t before = informer->StoreBytes();
  const auto began = std::chrono::steady_clock::now();
  std::size_t found = lister.List(selection).value().size();
  const std::chrono::duration<double, std::milli> first = std::chrono::steady_clock::now() - began;
  for (auto _ : state) {
    found = lister.List(selection).value().size();
  }
  state.counters["found"] = static_cast<double>(found);
  state.counters["first_ms"] = first.count();
  state.counters["index_bytes_per_pod"] =
      static_cast<double>(informer->StoreBytes() - before) / static_cast<double>(objects);
}
BENCHMARK(BM_ListBySelector)->Args({5000, 0})->Args({5000, 20})->Unit(benchmark::kMillisecond);

// Measures how long it takes to decode every pod and to drop those that the selector does not
// match.
void BM_ListAll(benchmark::State& state) {
  const auto objects = static_cast<std::size_t>(state.range(0));
  const auto informer = PodsInCache(objects, static_cast<int>(state.range(1)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(Lister<Pod>(informer).List().value().size());
  }
}
BENCHMARK(BM_ListAll)->Args({5000, 0})->Args({5000, 20})->Unit(benchmark::kMillisecond);

// A store of small objects with two indexes: one by a term that ten objects share, and one by
// namespace.
class Queries : public benchmark::Fixture {
 public:
  void SetUp(const benchmark::State& state) override {
    objects_ = static_cast<std::size_t>(state.range(0));
    store_ = std::make_unique<PackedStore>();
    (void)store_->AddIndexers(NamespaceIndexer());
    (void)store_->AddIndexers({{"owner", [](const Object& object) {
                                  return std::vector<std::string>{OwnerOf(object.key.name)};
                                }}});
    EntryTable table;
    for (std::size_t i = 0; i < objects_; ++i) {
      Object object{.bytes = "some bytes of object " + std::to_string(i), .key = KeyOf(i)};
      object.resource_version = std::to_string(i);
      table.Insert(*store_->Pack(object));
    }
    store_->Swap(std::move(table), "1");
  }
  void TearDown(const benchmark::State&) override { store_.reset(); }

 protected:
  static apimachinery::ObjectKey KeyOf(std::size_t i) {
    return {"namespace-" + std::to_string(i % 50), "deployment-7c9d8-" + std::to_string(i)};
  }
  static std::string OwnerOf(const std::string& name) { return name.substr(0, name.size() - 1); }

  std::size_t objects_ = 0;
  std::unique_ptr<PackedStore> store_;
};

BENCHMARK_DEFINE_F(Queries, FindKey)(benchmark::State& state) {
  std::vector<apimachinery::ObjectKey> keys;
  for (std::size_t i = 0; i < 1000; ++i) {
    keys.push_back(KeyOf(i * 7919 % objects_));
  }
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(store_->Find(keys[i++ % keys.size()]));
  }
}
BENCHMARK_REGISTER_F(Queries, FindKey)->Arg(1000)->Arg(1000000);

BENCHMARK_DEFINE_F(Queries, CountByIndex)(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(store_->CountByIndex(kNamespaceIndex, "namespace-7"));
  }
}
BENCHMARK_REGISTER_F(Queries, CountByIndex)->Arg(1000)->Arg(1000000);

// Finds ten keys.
BENCHMARK_DEFINE_F(Queries, KeysByIndex)(benchmark::State& state) {
  const std::string owner = OwnerOf(KeyOf(123).name);
  for (auto _ : state) {
    benchmark::DoNotOptimize(store_->KeysByIndex("owner", owner));
  }
}
BENCHMARK_REGISTER_F(Queries, KeysByIndex)->Arg(1000)->Arg(1000000);

// Finds one key that is among ten objects by one index, and among a fiftieth of all objects by the
// other.
BENCHMARK_DEFINE_F(Queries, KeysByTwoIndexes)(benchmark::State& state) {
  const apimachinery::ObjectKey key = KeyOf(123);
  const IndexTerms terms{{"owner", OwnerOf(key.name)}, {"namespace", key.namespace_}};
  for (auto _ : state) {
    benchmark::DoNotOptimize(store_->KeysByIndex(terms));
  }
}
BENCHMARK_REGISTER_F(Queries, KeysByTwoIndexes)->Arg(1000)->Arg(1000000);

}  // namespace
}  // namespace kubexx::cache
