#include "kubexx/kubelet/config/update_json.h"

#include <algorithm>
#include <array>

#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/kubelet/config/static_pod.h"

namespace kubexx::kubelet {
namespace {

using Row = std::array<std::string, 5>;

Row RowOf(const Pod& pod) {
  const auto source = pod.metadata.annotations.find(std::string(kConfigSourceAnnotation));
  return {source == pod.metadata.annotations.end() ? std::string() : source->second,
          pod.metadata.namespace_, pod.metadata.name, pod.status.phase,
          IsMirrorPod(pod)   ? "mirror"
          : IsStaticPod(pod) ? "static"
                             : "pod"};
}

}  // namespace

std::string ToJsonLine(const PodUpdate& update) {
  std::string line = R"({"operation":")" + std::string(ToString(update.operation)) +
                     R"(","source":)" + codec::JsonTree(update.source).ToJson() + R"(,"pods":[)";
  const char* separator = "";
  for (const PodRef& pod : update.pods) {
    line += separator;
    codec::EncodeJson(codec::SchemaOf<Pod>(), pod.get(), line);
    separator = ",";
  }
  return line + "]}\n";
}

std::string ToTable(const std::vector<PodRef>& pods) {
  std::vector<Row> rows{{"SOURCE", "NAMESPACE", "NAME", "PHASE", "KIND"}};
  for (const PodRef& pod : pods) {
    rows.push_back(RowOf(*pod));
  }
  std::array<std::size_t, 5> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string table;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      table += row[i] + std::string(widths[i] - row[i].size() + 3, ' ');
    }
    table += row.back() + "\n";
  }
  return table;
}

}  // namespace kubexx::kubelet
