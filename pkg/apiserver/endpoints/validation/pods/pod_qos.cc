#include "kubexx/apiserver/endpoints/validation/pods/pod_qos.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "kubexx/apiserver/endpoints/validation/pods/pod_resources.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Quantity;
using codec::JsonTree;

/// The sums of cpu and memory in thousandths, for the resources that are given.
using Totals = std::map<std::string, std::int64_t, std::less<>>;

/// Adds the resources to the sums. Returns how many there were.
std::size_t Add(const JsonTree* list, Totals& totals) {
  std::size_t found = 0;
  for (const auto& [name, amount] : AmountsOf(list)) {
    const std::int64_t milli = amount.MilliValue();
    if ((name != "cpu" && name != "memory") || milli <= 0) {
      continue;
    }
    ++found;
    std::int64_t& total = totals[name];
    if (__builtin_add_overflow(total, milli, &total)) {
      total = std::numeric_limits<std::int64_t>::max();
    }
  }
  return found;
}

}  // namespace

std::string_view QosClassOf(const JsonTree& pod_spec) {
  Totals requests;
  Totals limits;
  bool all_limited = true;
  const auto take = [&](const JsonTree& holder) {
    Add(holder.At({"resources", "requests"}), requests);
    all_limited = Add(holder.At({"resources", "limits"}), limits) == 2 && all_limited;
  };
  if (const JsonTree* const own = pod_spec.Find("resources"); own != nullptr && own->IsObject()) {
    take(pod_spec);
  } else {
    for (const char* const list : {"containers", "initContainers"}) {
      if (const JsonTree* const containers = pod_spec.Find(list)) {
        std::ranges::for_each(containers->elements(), take);
      }
    }
  }
  if (requests.empty() && limits.empty()) {
    return "BestEffort";
  }
  return all_limited && requests == limits ? "Guaranteed" : "Burstable";
}

void CheckQosClass(const JsonTree& current, JsonTree& pod, FieldCauses& causes) {
  constexpr const char* kField = "qosClass";
  const std::string before = StringAt(current, {"status", kField});
  const std::string given = StringAt(pod, {"status", kField});
  if (given.empty() && !before.empty()) {
    pod["status"][kField] = before;
  } else if (!before.empty() && given != before) {
    causes.Invalid("status.qosClass", JsonTree(given).ToJson(), "field is immutable");
  }
}

}  // namespace kubexx::apiserver
