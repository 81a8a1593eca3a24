#include "kubexx/apiserver/endpoints/admission/runtime_class_admission.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/admission/default_tolerations.h"
#include "kubexx/apiserver/endpoints/admission/refusal.h"
#include "kubexx/apiserver/endpoints/checks/same_value.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/object_form.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

/// The RuntimeClass of the pod; nothing when it names none.
Result<std::optional<JsonTree>> RuntimeClassOf(const Call& call, const JsonTree& pod) {
  const std::string name = StringAt(pod, {"spec", "runtimeClassName"});
  if (name.empty()) {  // An empty one is refused later.
    return std::optional<JsonTree>();
  }
  auto found = call.objects.Get(*call.types.Find("node.k8s.io", "v1", "runtimeclasses"),
                                {.name = name}, call.request.stop);
  if (found) {
    return std::optional(std::move(*found));
  }
  if (found.error().reason != Reason::kNotFound) {
    return Fail(found.error());
  }
  return NotAdmitted(call, pod,
                     "pod rejected: RuntimeClass " + JsonTree(name).ToJson() + " not found");
}

/// The resources of a class's overhead; null when it has none. The object is there also when no
/// resource is.
const JsonTree* OverheadOf(const std::optional<JsonTree>& class_) {
  return class_ ? class_->Find("overhead") : nullptr;
}

bool IsOverhead(const JsonTree& overhead, const JsonTree* of_pod) {
  const JsonTree* const fixed = overhead.Find("podFixed");
  return SameValue(fixed == nullptr ? JsonTree::Object() : *fixed,
                   of_pod == nullptr ? JsonTree::Object() : *of_pod);
}

Result<void> GiveOverhead(const Call& call, const std::optional<JsonTree>& class_, JsonTree& pod) {
  const JsonTree* const overhead = OverheadOf(class_);
  if (overhead == nullptr) {
    return {};
  }
  const JsonTree* const given = pod.At({"spec", "overhead"});
  if (given != nullptr && !given->members().empty() && !IsOverhead(*overhead, given)) {
    return NotAdmitted(
        call, pod, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  }
  if (const JsonTree* const fixed = overhead->Find("podFixed")) {
    pod["spec"]["overhead"] = *fixed;
  }
  return {};
}

Result<void> GiveNodeSelector(const Call& call, const JsonTree& scheduling, JsonTree& pod) {
  const JsonTree* const wanted = scheduling.Find("nodeSelector");
  if (wanted == nullptr) {
    return {};
  }
  for (const auto& [key, value] : wanted->members()) {
    const JsonTree* const given = pod.At({"spec", "nodeSelector", key});
    if (given != nullptr && *given != value) {
      const auto text = [](const JsonTree& of) {
        return of.AsString() == nullptr ? of.ToJson() : std::string(*of.AsString());
      };
      return NotAdmitted(call, pod,
                         "conflict: runtimeClass.scheduling.nodeSelector[" + std::string(key) +
                             "] = " + text(value) + "; pod.spec.nodeSelector[" + std::string(key) +
                             "] = " + text(*given));
    }
  }
  for (const auto& [key, value] : wanted->members()) {
    pod["spec"]["nodeSelector"][key] = value;
  }
  return {};
}

/// Whether a pod with the toleration `more` tolerates all that one with `less` does.
bool TolerateAll(const JsonTree& more, const JsonTree& less) {
  if (more == less) {
    return true;
  }
  const bool exists = more.TextAt("operator") == "Exists";
  const bool of_all_keys = more.TextAt("key").empty() && exists;
  if (less.TextAt("key") != more.TextAt("key") && !of_all_keys) {
    return false;
  }
  if (!more.TextAt("effect").empty() && less.TextAt("effect") != more.TextAt("effect")) {
    return false;
  }
  if (more.TextAt("effect") == "NoExecute" && more.Find("tolerationSeconds") != nullptr) {
    const auto seconds = [](const JsonTree& of) {
      const JsonTree* const found = of.Find("tolerationSeconds");
      return found == nullptr ? std::numeric_limits<std::int64_t>::max()
                              : found->AsInt().value_or(0);
    };
    if (seconds(less) > seconds(more)) {
      return false;
    }
  }
  if (exists) {
    return true;
  }
  const std::string_view operator_ = more.TextAt("operator");
  return (operator_.empty() || operator_ == "Equal") && less.TextAt("operator") == "Equal" &&
         less.TextAt("value") == more.TextAt("value");
}

/// The tolerations of both lists, without those that others include. Of two equal ones the first
/// stays.
JsonTree MergedTolerations(std::span<const JsonTree> first, std::span<const JsonTree> second) {
  std::vector<const JsonTree*> all;
  for (const std::span<const JsonTree> list : {first, second}) {
    for (const JsonTree& one : list) {
      all.push_back(&one);
    }
  }
  std::vector<const JsonTree*> merged;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const JsonTree& one = *all[i];
    const bool is_had = std::ranges::any_of(
        merged, [&one](const JsonTree* other) { return TolerateAll(*other, one); });
    const bool comes = std::any_of(
        all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end(),
        [&one](const JsonTree* later) { return *later != one && TolerateAll(*later, one); });
    if (!is_had && !comes) {
      merged.push_back(&one);
    }
  }
  JsonTree list = JsonTree::Array();
  for (const JsonTree* const one : merged) {
    list.Append(*one);
  }
  return list;
}

void GiveClassTolerations(const JsonTree& scheduling, JsonTree& pod) {
  JsonTree merged = MergedTolerations(ElementsAt(pod, {"spec", "tolerations"}),
                                      ElementsAt(scheduling, {"tolerations"}));
  if (!merged.elements().empty()) {
    pod["spec"]["tolerations"] = std::move(merged);
  }
}

}  // namespace

Result<void> GiveRuntimeClass(const Call& call, JsonTree& object) {
  if (!IsPodWrite(call)) {
    return {};
  }
  KX_ASSIGN_OR_RETURN(const std::optional<JsonTree> class_, RuntimeClassOf(call, object));
  KX_RETURN_IF_ERROR(GiveOverhead(call, class_, object));
  if (const JsonTree* const scheduling = class_ ? class_->Find("scheduling") : nullptr) {
    KX_RETURN_IF_ERROR(GiveNodeSelector(call, *scheduling, object));
    GiveClassTolerations(*scheduling, object);
  }
  return {};
}

Result<void> CheckOverhead(const Call& call, const JsonTree& object) {
  if (!IsPodWrite(call)) {
    return {};
  }
  KX_ASSIGN_OR_RETURN(const std::optional<JsonTree> class_, RuntimeClassOf(call, object));
  const JsonTree* const overhead = OverheadOf(class_);
  const JsonTree* const given = object.At({"spec", "overhead"});
  if (overhead == nullptr && given != nullptr) {
    return NotAdmitted(
        call, object,
        "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
  }
  if (overhead != nullptr && !IsOverhead(*overhead, given)) {
    return NotAdmitted(
        call, object, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  }
  return {};
}

}  // namespace kubexx::apiserver
