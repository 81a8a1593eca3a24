#include "kubexx/apiserver/endpoints/validation/pods/pod_resize.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "kubexx/apiserver/endpoints/validation/pods/pod_qos.h"
#include "kubexx/apiserver/endpoints/validation/pods/pod_resources.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/codec/member_index.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Quantity;
using codec::JsonTree;

constexpr std::string_view kResizedLists[] = {"initContainers", "containers"};
constexpr std::string_view kAmountLists[] = {"requests", "limits"};
constexpr const char* kStaticPodAnnotation = "kubernetes.io/config.mirror";
// Kube-apiserver writes the path of the pod itself like this.
constexpr const char* kOfNothing = "[]";
constexpr const char* kOnlyCpuAndMemory = "only cpu and memory resources are mutable";

const JsonTree& MemberOrNothing(const JsonTree& object, std::string_view member) {
  static const JsonTree kEmpty = JsonTree::Object();
  const JsonTree* const found = object.Find(member);
  return found == nullptr || found->IsNull() ? kEmpty : *found;
}

bool IsResizable(std::string_view resource) { return resource == "cpu" || resource == "memory"; }

void TakeMemberOf(const JsonTree& from, std::string_view member, JsonTree& to) {
  if (const JsonTree* const found = from.Find(member)) {
    to[member] = *found;
  } else {
    to.Erase(member);
  }
}

bool HasSameNames(std::span<const JsonTree> a, std::span<const JsonTree> b) {
  return std::ranges::equal(
      a, b, {}, [](const JsonTree& one) { return one.TextAt("name"); },
      [](const JsonTree& one) { return one.TextAt("name"); });
}

/// Whether the pod itself has resources, even if they are empty.
bool HasOwnResources(const JsonTree& spec) {
  const JsonTree* const resources = spec.Find("resources");
  return resources != nullptr && !resources->IsNull();
}

/// Whether a kubelet that supports resizing reports what the containers have.
bool IsOnNodeThatResizes(const JsonTree& pod) {
  for (const JsonTree& status : ElementsAt(pod, {"status", "containerStatuses"})) {
    if (status.At({"state", "running"}) != nullptr) {
      return status.Find("resources") != nullptr;
    }
  }
  return true;
}

/// Whether the resources differ in nothing but cpu and memory.
bool DiffersInResizableOnly(const JsonTree& before, const JsonTree& after) {
  const auto others = [](const JsonTree& resources, std::string_view list) {
    ResourceAmounts amounts = AmountsOf(&MemberOrNothing(resources, list));
    std::erase_if(amounts, [](const auto& one) { return IsResizable(one.first); });
    return amounts;
  };
  const auto is_same = [](const auto& a, const auto& b) {
    return a.first == b.first && Quantity::Compare(a.second, b.second) == 0;
  };
  return std::ranges::all_of(kAmountLists, [&](std::string_view list) {
    return std::ranges::equal(others(before, list), others(after, list), is_same);
  });
}

void CheckRemoved(const JsonTree& before, const JsonTree& after, const std::string& path,
                  const std::string& what, FieldCauses& causes) {
  for (const std::string_view list : kAmountLists) {
    const codec::MemberIndex now(&MemberOrNothing(after, list));
    const auto is_gone = [&now](const JsonTree::Member& one) {
      return now.Find(one.key) == nullptr;
    };
    if (std::ranges::any_of(MemberOrNothing(before, list).members(), is_gone)) {
      const std::string one(list);
      causes.Forbidden(path + "." + one, what + " " + one + " cannot be removed");
    }
  }
}

void CheckResourcesOfPod(const JsonTree& before, const JsonTree& after, FieldCauses& causes) {
  const JsonTree& former = MemberOrNothing(before, "resources");
  const JsonTree& now = MemberOrNothing(after, "resources");
  if (former.size() > 0 && now.size() == 0) {
    causes.Forbidden("spec.resources", "pod-level resources cannot be removed");
    return;
  }
  CheckRemoved(former, now, "spec.resources", "pod-level resource", causes);
  if (!DiffersInResizableOnly(former, now)) {
    causes.Forbidden("spec", "only cpu and memory resources are mutable at pod-level");
  }
}

/// Checks whether the containers are the same ones, in the same order.
bool CheckOrder(const JsonTree& before, const JsonTree& after, FieldCauses& causes) {
  bool is_same = true;
  for (const std::string_view list : {kResizedLists[1], kResizedLists[0]}) {
    const std::span<const JsonTree> former = ElementsAt(before, {list});
    const std::span<const JsonTree> now = ElementsAt(after, {list});
    const std::string path = "spec." + std::string(list);
    if (former.size() != now.size()) {
      is_same = false;
      causes.Forbidden(path, std::string(list) + " may not be added or removed on resize");
      continue;
    }
    for (std::size_t i = 0; i < former.size(); ++i) {
      if (former[i].TextAt("name") != now[i].TextAt("name")) {
        is_same = false;
        causes.Forbidden(path + "[" + std::to_string(i) + "].name",
                         std::string(list) + " may not be renamed or reordered on resize");
      }
    }
  }
  return is_same;
}

void CheckContainerResize(const JsonTree& before, const JsonTree& after, const std::string& path,
                          bool is_init, FieldCauses& causes) {
  const JsonTree& former = MemberOrNothing(before, "resources");
  const JsonTree& now = MemberOrNothing(after, "resources");
  CheckRemoved(former, now, path + ".resources", "resource", causes);
  const bool same_policy =
      MemberOrNothing(before, "resizePolicy") == MemberOrNothing(after, "resizePolicy");
  if (!same_policy || former.Find("claims") != nullptr || now.Find("claims") != nullptr ||
      !DiffersInResizableOnly(former, now)) {
    causes.Forbidden(is_init ? path : "spec", is_init ? "only cpu and memory resources for init or "
                                                        "sidecar containers are mutable"
                                                      : kOnlyCpuAndMemory);
  }
  const auto restarts = [](const JsonTree& policy) {
    return policy.TextAt("restartPolicy") == "RestartContainer";
  };
  if (is_init && before.TextAt("restartPolicy") != "Always" && former != now &&
      std::ranges::any_of(ElementsAt(after, {"resizePolicy"}), restarts)) {
    causes.Forbidden(path,
                     "non-sidecar init containers with a resize policy of RestartContainer cannot "
                     "be resized");
  }
}

}  // namespace

void TakeResources(const JsonTree& object, JsonTree& changed) {
  const JsonTree& sent = MemberOrNothing(object, "spec");
  JsonTree& spec = changed["spec"];
  for (const std::string_view list : kResizedLists) {
    if (!HasSameNames(ElementsAt(sent, {list}), ElementsAt(spec, {list}))) {
      TakeMemberOf(sent, list, spec);
      continue;
    }
    const std::span<const JsonTree> from = ElementsAt(sent, {list});
    for (std::size_t i = 0; i < from.size(); ++i) {
      JsonTree& container = spec[list].elements()[i];
      TakeMemberOf(from[i], "resources", container);
      TakeMemberOf(from[i], "resizePolicy", container);
    }
  }
  TakeMemberOf(sent, "resources", spec);
}

void CheckPodResize(const JsonTree& current, const JsonTree& object, FieldCauses& causes) {
  const JsonTree& before = MemberOrNothing(current, "spec");
  const JsonTree& after = MemberOrNothing(object, "spec");
  if (MetaMap(current, "annotations").contains(kStaticPodAnnotation)) {
    causes.Forbidden(kOfNothing, "static pods cannot be resized");
    return;
  }
  if (StringAt(before, {"os", "name"}) == "windows") {
    causes.Forbidden(kOfNothing, "windows pods cannot be resized");
    return;
  }
  if (QosClassOf(before) != QosClassOf(after)) {
    causes.Invalid("spec", JsonTree(QosClassOf(before)).ToJson(),
                   "Pod QOS Class may not change as a result of resizing");
  }
  if (!IsOnNodeThatResizes(current)) {
    causes.Forbidden("spec", "Pod running on node without support for resize");
  }
  CheckResourcesOfPod(before, after, causes);
  if (!CheckOrder(before, after, causes)) {
    return;
  }
  for (const std::string_view list : kResizedLists) {
    const std::span<const JsonTree> former = ElementsAt(before, {list});
    const std::span<const JsonTree> now = ElementsAt(after, {list});
    for (std::size_t i = 0; i < former.size(); ++i) {
      CheckContainerResize(former[i], now[i],
                           "spec." + std::string(list) + "[" + std::to_string(i) + "]",
                           list == kResizedLists[0], causes);
    }
  }
  if (causes.empty() && HasOwnResources(before) != HasOwnResources(after) &&
      MemberOrNothing(after, "resources").size() == 0) {
    causes.Forbidden("spec", kOnlyCpuAndMemory);
  }
}

}  // namespace kubexx::apiserver
