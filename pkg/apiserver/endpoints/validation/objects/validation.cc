#include "kubexx/apiserver/endpoints/validation/objects/validation.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apiserver/endpoints/behavior/type_behavior.h"
#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/endpoints/checks/finalizer_names.h"
#include "kubexx/apiserver/endpoints/checks/label_problems.h"
#include "kubexx/apiserver/endpoints/checks/value_checks.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

std::string QuotedText(std::string_view text) { return JsonTree(text).ToJson(); }

std::string At(const std::string& path, std::size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

/// Returns the members in the order in which Go writes them.
JsonTree Ordered(const JsonTree& owner) {
  JsonTree ordered = JsonTree::Object();
  for (const char* const field :
       {"apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"}) {
    if (const JsonTree* const value = owner.Find(field)) {
      ordered[field] = *value;
    }
  }
  return ordered;
}

void CheckOwners(const JsonTree& object, FieldCauses& causes) {
  const JsonTree* const owners = object.At({"metadata", "ownerReferences"});
  if (owners == nullptr) {
    return;
  }
  const std::string path = "metadata.ownerReferences";
  std::optional<std::string> controller;
  for (const JsonTree& owner : owners->elements()) {
    const std::string_view version = owner.TextAt("apiVersion");
    if (version.empty()) {
      causes.Invalid(path + ".apiVersion", "\"\"", "version must not be empty");
    }
    for (const char* const field : {"kind", "name", "uid"}) {
      if (owner.TextAt(field).empty()) {
        causes.Invalid(path + "." + field, "\"\"", "must not be empty");
      }
    }
    if (version == "v1" && owner.TextAt("kind") == "Event") {
      causes.Invalid(path, Ordered(owner).ToJson(),
                     "/v1, Kind=Event is disallowed from being an owner");
    }
    const JsonTree* const controls = owner.Find("controller");
    if (controls == nullptr || !controls->AsBool().value_or(false)) {
      continue;
    }
    const std::string name =
        std::string(owner.TextAt("kind")) + "/" + std::string(owner.TextAt("name"));
    if (controller && causes.full()) {
      // This is only counted, because the whole list need not be written once more.
      causes.Invalid(path, "", "");
    } else if (controller) {
      causes.Invalid(path, owners->ToJson(),
                     "Only one reference can have Controller set to true. Found \"true\" in "
                     "references for " +
                         *controller + " and " + name);
    } else {
      controller = name;
    }
  }
}

/// Whether finalizers need a domain, which holds for the types that kube-apiserver validates as
/// core types.
bool NeedsDomains(const ResourceType& type) {
  return !type.custom && type.group != "apiextensions.k8s.io" &&
         type.group != "apiregistration.k8s.io" && type.group != "admissionregistration.k8s.io";
}

void CheckFinalizers(const ResourceType& type, const JsonTree* old, const JsonTree& object,
                     FieldCauses& causes) {
  const std::vector<std::string> names = FinalizersOf(object);
  for (std::size_t i = 0; i < names.size(); ++i) {
    CheckLabelKey(names[i], "metadata.finalizers", causes);
    if (NeedsDomains(type)) {
      CheckDomainQualified(names[i], At("metadata.finalizers", i), causes);
    }
  }
  const auto has = [&names](const char* name) { return std::ranges::count(names, name) > 0; };
  if (has("orphan") && has("foregroundDeletion")) {
    causes.Invalid("metadata.finalizers", object.At({"metadata", "finalizers"})->ToJson(),
                   "orphan and foregroundDeletion exclude each other");
  }
  if (old == nullptr || !IsDeleting(*old)) {
    return;
  }
  const std::vector<std::string> listed = FinalizersOf(*old);
  const std::set<std::string_view> before(listed.begin(), listed.end());
  std::string added;
  for (const std::string& name : names) {
    if (!before.contains(name)) {
      added += (added.empty() ? "" : ", ") + QuotedText(name);
    }
  }
  if (!added.empty()) {
    causes.Forbidden("metadata.finalizers",
                     "no new finalizers can be added if the object is being deleted, found new "
                     "finalizers []string{" +
                         added + "}");
  }
}

/// `check` may be null.
void CheckBy(decltype(TypeBehavior::check) check, const ResourceType& type, const JsonTree* old,
             const JsonTree& object, FieldCauses& causes) {
  if (check != nullptr) {
    check({.type = type, .old = old, .object = object, .spec = PartAt(object, "spec")}, causes);
  }
}

}  // namespace

void CheckMetadata(const ResourceType& type, const JsonTree* old, const JsonTree& object,
                   FieldCauses& causes) {
  CheckAnnotationMap(object.At({"metadata", "annotations"}), "metadata.annotations", causes);
  CheckOwners(object, causes);
  CheckFinalizers(type, old, object, causes);
}

void CheckSpec(const ResourceType& type, const JsonTree* old, const JsonTree& object,
               FieldCauses& causes) {
  CheckBy(BehaviorOf(type).check, type, old, object, causes);
}

void CheckAlways(const ResourceType& type, const JsonTree* old, const JsonTree& object,
                 FieldCauses& causes) {
  CheckBy(BehaviorOf(type).check_always, type, old, object, causes);
}

}  // namespace kubexx::apiserver
