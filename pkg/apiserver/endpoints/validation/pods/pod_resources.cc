#include "kubexx/apiserver/endpoints/validation/pods/pod_resources.h"

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace kubexx::apiserver {
namespace {

using apimachinery::Quantity;
using codec::JsonTree;

constexpr std::int64_t kKibiInMilli = 1'024'000;

/// Whether a quantity is written as "1e3".
bool HasExponent(std::string_view text) {
  const std::size_t e = text.find_first_of("eE");
  return e != std::string_view::npos && e + 1 < text.size();
}

/// Returns the thousandths in the format of `like`.
Quantity OfMilli(std::int64_t milli, std::string_view like) {
  std::string text;
  if (like.ends_with('i') && milli % kKibiInMilli == 0) {
    text = std::to_string(milli / kKibiInMilli) + "Ki";
  } else {
    text = std::to_string(milli) + (HasExponent(like) ? "e-3" : "m");
  }
  return Quantity::Parse(text).value_or(Quantity());
}

Quantity Sum(const Quantity& a, const Quantity& b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a.MilliValue(), b.MilliValue(), &sum)) {
    sum = std::numeric_limits<std::int64_t>::max();
  }
  const std::string& first = a.ToString();
  return OfMilli(sum, first == "0" ? b.ToString() : first);
}

void AddAmounts(const ResourceAmounts& added, ResourceAmounts& to) {
  for (const auto& [name, amount] : added) {
    const auto [at, is_new] = to.try_emplace(name, amount);
    if (!is_new) {
      at->second = Sum(at->second, amount);
    }
  }
}

void TakeGreater(const ResourceAmounts& others, ResourceAmounts& of) {
  for (const auto& [name, amount] : others) {
    const auto [at, is_new] = of.try_emplace(name, amount);
    if (!is_new && Quantity::Compare(at->second, amount) < 0) {
      at->second = amount;
    }
  }
}

ResourceAmounts ContainerAmounts(const JsonTree& container, std::string_view list) {
  const JsonTree* const resources = container.Find("resources");
  return AmountsOf(resources == nullptr ? nullptr : resources->Find(list));
}

void SetAmounts(JsonTree& resources, std::string_view list, const ResourceAmounts& amounts) {
  if (amounts.empty()) {
    return;
  }
  std::vector<JsonTree::Member> members;
  for (const auto& [name, amount] : amounts) {
    members.push_back({.key = name, .value = JsonTree(amount.ToString())});
  }
  resources[list] = JsonTree::Object(std::move(members));
}

}  // namespace

ResourceAmounts AmountsOf(const JsonTree* list) {
  ResourceAmounts amounts;
  if (list != nullptr) {
    for (const JsonTree::Member& one : list->members()) {
      if (const std::string* const text = one.value.AsString()) {
        amounts.emplace(one.key, Quantity::FromCanonical(*text));
      }
    }
  }
  return amounts;
}

ResourceAmounts SumOfContainers(const JsonTree& pod_spec, std::string_view list) {
  ResourceAmounts sum;
  if (const JsonTree* const containers = pod_spec.Find("containers")) {
    for (const JsonTree& one : containers->elements()) {
      AddAmounts(ContainerAmounts(one, list), sum);
    }
  }
  ResourceAmounts running;    // of the containers that began before and go on running
  ResourceAmounts beginning;  // the largest sum while the pod starts
  if (const JsonTree* const containers = pod_spec.Find("initContainers")) {
    for (const JsonTree& one : containers->elements()) {
      ResourceAmounts own = ContainerAmounts(one, list);
      // A resource that the container does not name is as large as before, and `beginning` already
      // has it.
      if (one.TextAt("restartPolicy") == "Always") {
        AddAmounts(own, sum);
        AddAmounts(own, running);
        for (auto& [name, amount] : own) {
          amount = running.at(name);
        }
      } else {
        for (auto& [name, amount] : own) {
          if (const auto before = running.find(name); before != running.end()) {
            amount = Sum(amount, before->second);
          }
        }
      }
      TakeGreater(own, beginning);
    }
  }
  TakeGreater(beginning, sum);
  return sum;
}

bool IsHugePages(std::string_view resource) { return resource.starts_with("hugepages-"); }

bool IsOfPods(std::string_view resource) {
  return resource == "cpu" || resource == "memory" || IsHugePages(resource);
}

bool MayBeOvercommitted(std::string_view resource) {
  const bool native = resource.find('/') == std::string_view::npos ||
                      resource.find("kubernetes.io/") != std::string_view::npos;
  return native && !IsHugePages(resource);
}

void RoundAmounts(JsonTree& object, std::string_view list) {
  JsonTree* const amounts = object.Find(list);
  if (amounts == nullptr) {
    return;
  }
  for (JsonTree::Member& one : amounts->members()) {
    const std::string* const text = one.value.AsString();
    if (text != nullptr &&
        (text->ends_with('u') || text->ends_with('n') || text->find("e-") != std::string::npos)) {
      one.value = OfMilli(Quantity::FromCanonical(*text).MilliValue(), *text).ToString();
    }
  }
}

void RoundResources(JsonTree& resources) {
  RoundAmounts(resources, "requests");
  RoundAmounts(resources, "limits");
}

void DefaultResourcesOfPod(JsonTree& pod_spec) {
  JsonTree* const resources = pod_spec.Find("resources");
  if (resources == nullptr || !resources->IsObject()) {
    return;
  }
  ResourceAmounts limits = AmountsOf(resources->Find("limits"));
  ResourceAmounts requests = AmountsOf(resources->Find("requests"));
  if (limits.empty() && requests.empty()) {
    return;
  }
  for (const auto& [name, amount] : SumOfContainers(pod_spec, "limits")) {
    if (IsHugePages(name) && !requests.contains(name)) {
      limits.try_emplace(name, amount);
    }
  }
  SetAmounts(*resources, "limits", limits);
  if (limits.empty()) {
    return;
  }
  for (const auto& [name, amount] : SumOfContainers(pod_spec, "requests")) {
    if (IsOfPods(name) && MayBeOvercommitted(name)) {
      requests.try_emplace(name, amount);
    }
  }
  for (const auto& [name, amount] : limits) {
    if (IsOfPods(name)) {
      requests.try_emplace(name, amount);
    }
  }
  SetAmounts(*resources, "requests", requests);
}

}  // namespace kubexx::apiserver
