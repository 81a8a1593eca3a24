#include "kubexx/apiserver/endpoints/validation/pods/pod_update.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "kubexx/apiserver/endpoints/checks/restore.h"
#include "kubexx/apiserver/endpoints/checks/same_value.h"
#include "kubexx/apiserver/endpoints/checks/value_checks.h"
#include "kubexx/codec/member_index.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::string_view kRequiredAffinity = "requiredDuringSchedulingIgnoredDuringExecution";

void CheckGates(const JsonTree& old, const JsonTree& spec, FieldCauses& causes) {
  std::set<std::string_view> before;
  for (const JsonTree& gate : ListAt(old, "schedulingGates")) {
    before.insert(gate.TextAt("name"));
  }
  for (const JsonTree& gate : ListAt(spec, "schedulingGates")) {
    const std::string_view name = gate.TextAt("name");
    if (!before.contains(name)) {
      causes.Forbidden(
          "spec.schedulingGates",
          "only deletion is allowed, but found new scheduling gate '" + std::string(name) + "'");
    }
  }
}

/// What a toleration is besides its tolerationSeconds, which may change.
using TolerationKey =
    std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;

TolerationKey KeyOfToleration(const JsonTree& toleration) {
  return {toleration.TextAt("key"), toleration.TextAt("operator"), toleration.TextAt("value"),
          toleration.TextAt("effect")};
}

void CheckTolerationsStay(const JsonTree& old, const JsonTree& spec, FieldCauses& causes) {
  std::set<TolerationKey> now;
  for (const JsonTree& toleration : ListAt(spec, "tolerations")) {
    now.insert(KeyOfToleration(toleration));
  }
  for (const JsonTree& toleration : ListAt(old, "tolerations")) {
    if (!now.contains(KeyOfToleration(toleration))) {
      causes.Forbidden("spec.tolerations",
                       "existing toleration can not be modified except its tolerationSeconds");
      return;
    }
  }
}

std::optional<std::int64_t> NumberAt(const JsonTree& spec, std::string_view field) {
  const JsonTree* const found = spec.Find(field);
  return found == nullptr ? std::nullopt : found->AsInt();
}

/// A deadline may be set, and then only shrink.
void CheckDeadline(const JsonTree& old, const JsonTree& spec, FieldCauses& causes) {
  const auto before = NumberAt(old, "activeDeadlineSeconds");
  const auto after = NumberAt(spec, "activeDeadlineSeconds");
  if (before && !after) {
    causes.Invalid("spec.activeDeadlineSeconds", "null",
                   "must not update from a positive integer to nil value");
  } else if (before && *before < *after) {
    causes.Invalid("spec.activeDeadlineSeconds", std::to_string(*after),
                   "must be less than or equal to previous value");
  }
}

void CheckNodeSelector(const JsonTree& old, const JsonTree& spec, FieldCauses& causes) {
  const JsonTree* const before = old.Find("nodeSelector");
  if (before == nullptr) {
    return;
  }
  const JsonTree* const after = spec.Find("nodeSelector");
  const codec::MemberIndex now(after);
  for (const JsonTree::Member& one : before->members()) {
    const JsonTree* const value = now.Find(one.key);
    if (value == nullptr || *value != one.value) {
      causes.Invalid("spec.nodeSelector", after == nullptr ? "null" : after->ToJson(),
                     "only additions to spec.nodeSelector are allowed (no mutations or deletions)");
      return;
    }
  }
}

/// Whether a term keeps all its former requirements and only adds some at the end. An empty term
/// matches no node, so it has to stay empty.
bool IsNarrower(const JsonTree& old, const JsonTree& term) {
  bool any = false;
  bool more = false;
  for (const char* const list : {"matchExpressions", "matchFields"}) {
    const std::span<const JsonTree> before = ListAt(old, list);
    const std::span<const JsonTree> after = ListAt(term, list);
    if (after.size() < before.size() || !std::ranges::equal(before, after.first(before.size()))) {
      return false;
    }
    any = any || !before.empty();
    more = more || after.size() > before.size();
  }
  return any || !more;
}

void CheckNodeAffinity(const JsonTree& old, const JsonTree& spec, FieldCauses& causes) {
  const std::string path =
      "spec.affinity.nodeAffinity." + std::string(kRequiredAffinity) + ".nodeSelectorTerms";
  const auto terms_of = [](const JsonTree& of) {
    const JsonTree* const required = of.At({"affinity", "nodeAffinity", kRequiredAffinity});
    return required == nullptr ? std::span<const JsonTree>()
                               : ListAt(*required, "nodeSelectorTerms");
  };
  const std::span<const JsonTree> before = terms_of(old);
  const std::span<const JsonTree> after = terms_of(spec);
  if (before.empty()) {
    return;
  }
  if (before.size() != after.size()) {
    JsonTree terms = JsonTree::Array();
    for (const JsonTree& term : after) {
      terms.Append(term);
    }
    causes.Invalid(path, terms.ToJson(),
                   "no additions/deletions to non-empty NodeSelectorTerms list are allowed");
    return;
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!IsNarrower(before[i], after[i])) {
      causes.Invalid(path + "[" + std::to_string(i) + "]", after[i].ToJson(),
                     "only additions are allowed (no mutations or deletions)");
    }
  }
}

/// Returns `spec` with the node affinity of `old`. An affinity that has nothing else exists only
/// with it.
void RestoreNodeAffinity(JsonTree& spec, const JsonTree& old) {
  const JsonTree* const before = old.Find("affinity");
  const JsonTree* const now = spec.Find("affinity");
  JsonTree affinity = now == nullptr ? JsonTree::Object() : *now;
  Restore(affinity, before == nullptr ? JsonTree::Object() : *before, "nodeAffinity");
  if (affinity.size() == 0 && (before == nullptr || before->size() != 0)) {
    spec.Erase("affinity");
  } else {
    spec["affinity"] = std::move(affinity);
  }
}

/// Returns `spec` with the former values of the fields that an update may change.
JsonTree WithoutChangeable(JsonTree spec, const JsonTree& old) {
  for (const char* const list : {"initContainers", "containers"}) {
    JsonTree* const containers = spec.Find(list);
    const std::span<const JsonTree> before = ListAt(old, list);
    if (containers == nullptr || containers->elements().size() != before.size()) {
      continue;
    }
    for (std::size_t i = 0; i < before.size(); ++i) {
      containers->elements()[i]["image"] = before[i].TextAt("image");
    }
  }
  for (const char* const field : {"activeDeadlineSeconds", "tolerations", "schedulingGates"}) {
    Restore(spec, old, field);
  }
  constexpr const char* kGracePeriod = "terminationGracePeriodSeconds";
  if (NumberAt(old, kGracePeriod).value_or(0) < 0 && NumberAt(spec, kGracePeriod) == 1) {
    Restore(spec, old, kGracePeriod);
  }
  if (!ListAt(old, "schedulingGates").empty()) {
    Restore(spec, old, "nodeSelector");
    RestoreNodeAffinity(spec, old);
  }
  return spec;
}

}  // namespace

void CheckPodUpdate(const JsonTree& old, const JsonTree& spec, FieldCauses& causes) {
  CheckGates(old, spec, causes);
  CheckTolerationsStay(old, spec, causes);
  CheckDeadline(old, spec, causes);
  if (!ListAt(old, "schedulingGates").empty()) {
    CheckNodeSelector(old, spec, causes);
    CheckNodeAffinity(old, spec, causes);
  }
  if (!SameValue(WithoutChangeable(spec, old), old)) {
    causes.Forbidden("spec",
                     "pod updates may not change fields other than `spec.containers[*].image`,"
                     "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
                     "`spec.tolerations` (only additions to existing tolerations),"
                     "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was "
                     "previously negative)");
  }
}

void CheckMirrorAnnotation(const JsonTree& old, const JsonTree& object, FieldCauses& causes) {
  constexpr std::string_view kMirror = "kubernetes.io/config.mirror";
  const JsonTree* const before = old.At({"metadata", "annotations", kMirror});
  const JsonTree* const after = object.At({"metadata", "annotations", kMirror});
  if (before == nullptr ? after == nullptr : after != nullptr && *before == *after) {
    return;
  }
  causes.Forbidden("metadata.annotations[" + std::string(kMirror) + "]",
                   before == nullptr ? "may not add mirror pod annotation"
                                     : "may not remove or update mirror pod annotation");
}

}  // namespace kubexx::apiserver
