// Decoding and encoding of a Pod: upstream's with every field set (13 KB of protobuf), and one as a
// cluster has it.

#include <benchmark/benchmark.h>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apimachinery/read_file.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/envelope.h"
#include "kubexx/codec/list_reader.h"
#include "kubexx/codec/object_fields.h"
#include "kubexx/codec/object_meta.h"
#include "kubexx/codec/testing/testdata.h"

namespace kubexx::codec {
namespace {

using api::core::v1::Pod;

// Two containers with environment, mounts and probes; conditions; managedFields of three managers:
// about 6 KB.
Pod RealisticPod() {
  Pod pod;
  pod.metadata.name = "checkout-7d9c5b6f4-x2x9z";
  pod.metadata.namespace_ = "shop";
  pod.metadata.uid = "0c5f2a0e-5d0c-4f0c-9d57-3a0f8b8f3a11";
  pod.metadata.resource_version = "184467440";
  for (int i = 0; i < 8; ++i) {
    pod.metadata.labels["app.kubernetes.io/label-" + std::to_string(i)] =
        "value-" + std::to_string(i);
    pod.metadata.annotations["example.com/annotation-" + std::to_string(i)] = std::string(40, 'a');
  }
  for (int i = 0; i < 3; ++i) {
    auto& entry = pod.metadata.managed_fields.emplace_back();
    entry.manager = "kube-controller-manager";
    entry.operation = "Update";
    entry.api_version = "v1";
    entry.fields_type = "FieldsV1";
    entry.fields_v1.emplace().raw =
        R"({"f:metadata":{"f:labels":{".":{},"f:app":{},"f:tier":{}}},"f:spec":{"f:containers":)"
        R"({"k:{\"name\":\"app\"}":{".":{},"f:env":{},"f:image":{},"f:imagePullPolicy":{},"f:name":{}}}}})";
  }
  for (int c = 0; c < 2; ++c) {
    auto& container = pod.spec.containers.emplace_back();
    container.name = "container-" + std::to_string(c);
    container.image = "registry.example.com/shop/checkout:1.24.3";
    for (int i = 0; i < 12; ++i) {
      auto& env = container.env.emplace_back();
      env.name = "VARIABLE_" + std::to_string(i);
      env.value = "some value of medium length " + std::to_string(i);
    }
    for (int i = 0; i < 4; ++i) {
      auto& mount = container.volume_mounts.emplace_back();
      mount.name = "volume-" + std::to_string(i);
      mount.mount_path = "/etc/config/" + std::to_string(i);
    }
    container.resources.limits["cpu"] = apimachinery::Quantity::FromCanonical("500m");
    container.resources.limits["memory"] = apimachinery::Quantity::FromCanonical("512Mi");
    container.resources.requests["cpu"] = apimachinery::Quantity::FromCanonical("100m");
    container.resources.requests["memory"] = apimachinery::Quantity::FromCanonical("256Mi");
  }
  for (int i = 0; i < 5; ++i) {
    auto& condition = pod.status.conditions.emplace_back();
    condition.type = "Condition" + std::to_string(i);
    condition.status = "True";
    condition.last_transition_time = {1'700'000'000 + i};
  }
  for (int i = 0; i < 2; ++i) {
    auto& status = pod.status.container_statuses.emplace_back();
    status.name = "container-" + std::to_string(i);
    status.image = "registry.example.com/shop/checkout:1.24.3";
    status.container_id = "containerd://" + std::string(64, 'b');
    status.image_id = "registry.example.com/shop/checkout@sha256:" + std::string(64, 'c');
  }
  return pod;
}

Pod FullPod() {
  const auto bytes = apimachinery::ReadFile(std::string(KUBEXX_TESTDATA) + "/core.v1.Pod.pb");
  return bytes ? DecodeProtobuf<Pod>(ReadEnvelope(*bytes)->raw).value_or(Pod()) : Pod();
}

Pod PodFor(const benchmark::State& state) {
  return state.range(0) == 0 ? RealisticPod() : FullPod();
}

void SetBytes(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
  state.counters["bytes"] = static_cast<double>(bytes);
}

void BM_DecodeProtobuf(benchmark::State& state) {
  const std::string bytes = EncodeProtobuf(PodFor(state));
  for (auto _ : state) {
    benchmark::DoNotOptimize(DecodeProtobuf<Pod>(bytes));
  }
  SetBytes(state, bytes.size());
}
BENCHMARK(BM_DecodeProtobuf)->ArgName("full")->Arg(0)->Arg(1);

// Two fields of a pod as a cluster has it, without decoding it: a text, and the value of a label.
void BM_ReadFields(benchmark::State& state) {
  const std::string bytes = EncodeProtobuf(RealisticPod());
  const Fields<Pod> fields{std::string_view(bytes)};
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        fields.Text(&Pod::metadata, &api::meta::v1::ObjectMeta::resource_version));
    benchmark::DoNotOptimize(fields.Entry("app.kubernetes.io/label-3", &Pod::metadata,
                                          &api::meta::v1::ObjectMeta::labels));
  }
}
BENCHMARK(BM_ReadFields);

void BM_EncodeProtobuf(benchmark::State& state) {
  const Pod pod = PodFor(state);
  std::string out;
  for (auto _ : state) {
    out.clear();
    EncodeProtobuf(SchemaOf<Pod>(), &pod, out);
    benchmark::DoNotOptimize(out.data());
  }
  SetBytes(state, out.size());
}
BENCHMARK(BM_EncodeProtobuf)->ArgName("full")->Arg(0)->Arg(1);

void BM_DecodeJson(benchmark::State& state) {
  const std::string text = EncodeJson(PodFor(state));
  for (auto _ : state) {
    benchmark::DoNotOptimize(DecodeJson<Pod>(text));
  }
  SetBytes(state, text.size());
}
BENCHMARK(BM_DecodeJson)->ArgName("full")->Arg(0)->Arg(1);

void BM_EncodeJson(benchmark::State& state) {
  const Pod pod = PodFor(state);
  std::string out;
  for (auto _ : state) {
    out.clear();
    EncodeJson(SchemaOf<Pod>(), &pod, out);
    benchmark::DoNotOptimize(out.data());
  }
  SetBytes(state, out.size());
}
BENCHMARK(BM_EncodeJson)->ArgName("full")->Arg(0)->Arg(1);

void BM_ScanObjectMeta(benchmark::State& state) {
  const Encoding encoding = state.range(0) == 0 ? Encoding::kProtobuf : Encoding::kJson;
  const Pod pod = RealisticPod();
  const std::string bytes = encoding == Encoding::kProtobuf ? EncodeProtobuf(pod) : EncodeJson(pod);
  for (auto _ : state) {
    benchmark::DoNotOptimize(ScanObjectMeta(encoding, bytes));
  }
  SetBytes(state, bytes.size());
}
BENCHMARK(BM_ScanObjectMeta)->ArgName("json")->Arg(0)->Arg(1);

// A list of 2,000 pods in chunks of 64 KiB.
void BM_ReadList(benchmark::State& state) {
  const Encoding encoding = state.range(0) == 0 ? Encoding::kProtobuf : Encoding::kJson;
  api::core::v1::PodList list;
  list.items.assign(2000, RealisticPod());
  std::string bytes;
  if (encoding == Encoding::kProtobuf) {
    WriteEnvelope("v1", "PodList", EncodeProtobuf(list), bytes);
  } else {
    bytes = EncodeJson(list);
  }
  constexpr std::size_t kChunk = 64 << 10;
  for (auto _ : state) {
    ListReader reader(encoding);
    std::size_t total = 0;
    for (std::size_t at = 0; at < bytes.size(); at += kChunk) {
      const auto fed = reader.Feed(std::string_view(bytes).substr(at, kChunk),
                                   [&total](std::string_view item) -> apimachinery::Result<void> {
                                     total += item.size();
                                     return {};
                                   });
      benchmark::DoNotOptimize(fed.has_value());
    }
    benchmark::DoNotOptimize(reader.Finish());
    benchmark::DoNotOptimize(total);
  }
  SetBytes(state, bytes.size());
}
BENCHMARK(BM_ReadList)->ArgName("json")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kubexx::codec
