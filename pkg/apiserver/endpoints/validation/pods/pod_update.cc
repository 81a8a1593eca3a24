#include "kubexx/apiserver/endpoints/validation/pods/pod_update.h"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <string_view>

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
  for (const char* const field : {"activeDeadlineSeconds", "tolerations",
                                  "terminationGracePeriodSeconds", "schedulingGates"}) {
    Restore(spec, old, field);
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

}  // namespace kubexx::apiserver
