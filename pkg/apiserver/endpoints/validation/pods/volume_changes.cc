#include "kubexx/apiserver/endpoints/validation/pods/volume_changes.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/names.h"
#include "kubexx/apimachinery/quantity.h"
#include "kubexx/apiserver/endpoints/checks/restore.h"
#include "kubexx/apiserver/endpoints/checks/same_value.h"
#include "kubexx/apiserver/endpoints/checks/selector_validation.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Quantity;
using codec::JsonTree;

/// The annotation that had a claim's class before there was a field.
constexpr std::string_view kClassAnnotation = "volume.beta.kubernetes.io/storage-class";

/// The former names of labels of nodes, with the present ones.
constexpr std::pair<std::string_view, std::string_view> kFinalLabels[] = {
    {"beta.kubernetes.io/arch", "kubernetes.io/arch"},
    {"beta.kubernetes.io/os", "kubernetes.io/os"},
    {"beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"},
    {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
    {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"}};

const JsonTree& SpecIn(const JsonTree& object) {
  static const JsonTree kNone = JsonTree::Object();
  const JsonTree* const spec = object.Find("spec");
  return spec == nullptr ? kNone : *spec;
}

/// Returns a string that may be missing, which differs from an empty one.
std::optional<std::string> TextIn(const JsonTree* object, std::string_view member) {
  const JsonTree* const found = object == nullptr ? nullptr : object->Find(member);
  const std::string* const text = found == nullptr ? nullptr : found->AsString();
  return text == nullptr ? std::nullopt : std::optional(*text);
}

Quantity AmountAt(const JsonTree& object, std::initializer_list<std::string_view> path) {
  const std::string text = StringAt(object, path);
  return text.empty() ? Quantity() : Quantity::FromCanonical(text);
}

/// A claim's class before and after a change.
struct ClassChange {
  std::optional<std::string> annotation, new_annotation, name, new_name;
};

/// Whether the class moves from the annotation to the field.
bool MovesFromAnnotation(const ClassChange& change) {
  return change.annotation && !change.name && change.new_name == change.annotation &&
         (!change.new_annotation || change.new_annotation == change.annotation);
}

bool MayNameClass(const ClassChange& change) {
  return change.new_name && !change.name &&
         (!change.annotation || change.new_name == change.annotation);
}

void CheckSize(const JsonTree& current, const JsonTree& object, FieldCauses& causes) {
  const std::initializer_list<std::string_view> storage = {"spec", "resources", "requests",
                                                           "storage"};
  const Quantity now = AmountAt(object, storage);
  if (Quantity::Compare(now, AmountAt(current, storage)) < 0 &&
      Quantity::Compare(now, AmountAt(current, {"status", "capacity", "storage"})) <= 0) {
    causes.Forbidden("spec.resources.requests.storage",
                     "must be more than status.capacity when it becomes less");
  }
}

/// A claim that has a class of attributes must keep one.
void CheckAttributes(const JsonTree& current, const JsonTree& object, FieldCauses& causes) {
  const auto before = TextIn(current.Find("spec"), "volumeAttributesClassName");
  const auto after = TextIn(object.Find("spec"), "volumeAttributesClassName");
  if (before != after && TextIn(current.Find("status"), "currentVolumeAttributesClassName") &&
      after.value_or("").empty()) {
    causes.Forbidden("spec.volumeAttributesClassName",
                     "cannot be taken away once status.currentVolumeAttributesClassName is set");
  }
}

/// Returns the requirements with the keys of `before` where `after` has the present names of the
/// same labels.
JsonTree WithFormerLabels(JsonTree after, const JsonTree& before) {
  JsonTree* const required = after.Find("required");
  JsonTree* const terms = required == nullptr ? nullptr : required->Find("nodeSelectorTerms");
  const JsonTree* const former = before.At({"required", "nodeSelectorTerms"});
  const std::size_t count = terms == nullptr || former == nullptr
                                ? 0
                                : std::min(terms->elements().size(), former->elements().size());
  for (std::size_t i = 0; i < count; ++i) {
    for (const char* const list : {"matchExpressions", "matchFields"}) {
      JsonTree* const now = terms->elements()[i].Find(list);
      const JsonTree* const then = former->elements()[i].Find(list);
      if (now == nullptr || then == nullptr || now->elements().size() != then->elements().size()) {
        continue;
      }
      for (std::size_t j = 0; j < now->elements().size(); ++j) {
        const std::string key(then->elements()[j].TextAt("key"));
        const std::pair<std::string_view, std::string_view> renamed(
            key, now->elements()[j].TextAt("key"));
        if (std::ranges::find(kFinalLabels, renamed) != std::end(kFinalLabels)) {
          now->elements()[j]["key"] = key;
        }
      }
    }
  }
  return after;
}

}  // namespace

void CheckClaimChange(const JsonTree& current, const JsonTree& object, FieldCauses& causes) {
  const JsonTree& before = SpecIn(current);
  JsonTree after = SpecIn(object);
  const ClassChange change{
      .annotation = TextIn(current.At({"metadata", "annotations"}), kClassAnnotation),
      .new_annotation = TextIn(object.At({"metadata", "annotations"}), kClassAnnotation),
      .name = TextIn(&before, "storageClassName"),
      .new_name = TextIn(&after, "storageClassName")};
  const bool moves = MovesFromAnnotation(change);
  if (!moves && change.annotation.value_or("") != change.new_annotation.value_or("")) {
    causes.Invalid("metadata.annotations." + std::string(kClassAnnotation),
                   JsonTree(change.new_annotation.value_or("")).ToJson(), "field is immutable");
  }
  std::vector<std::string_view> may_change;
  if (moves || MayNameClass(change)) {
    may_change.emplace_back("storageClassName");
  }
  if (before.TextAt("volumeName").empty()) {
    may_change.emplace_back("volumeName");
  }
  if (StringAt(current, {"status", "phase"}) == "Bound") {
    may_change.emplace_back("volumeAttributesClassName");
    may_change.emplace_back("resources.requests.storage");
  }
  for (const std::string_view path : may_change) {
    Restore(after, before, path);
  }
  if (!SameValue(after, before)) {
    causes.Forbidden("spec",
                     "spec is immutable after creation except resources.requests and "
                     "volumeAttributesClassName for bound claims");
  }
  CheckSize(current, object, causes);
  CheckAttributes(current, object, causes);
}

void CheckVolumeChange(const JsonTree& current, const JsonTree& object, FieldCauses& causes) {
  constexpr std::string_view kNoSource[] = {
      "capacity",         "accessModes",  "claimRef",     "persistentVolumeReclaimPolicy",
      "storageClassName", "mountOptions", "nodeAffinity", "volumeAttributesClassName",
      "volumeMode"};
  const JsonTree& before = SpecIn(current);
  const JsonTree& after = SpecIn(object);
  JsonTree now = after;
  for (const std::string_view path : kNoSource) {
    Restore(now, before, path);
  }
  if (const JsonTree* const csi = before.Find("csi");
      csi != nullptr && csi->Find("controllerExpandSecretRef") == nullptr) {
    Restore(now, before, "csi.controllerExpandSecretRef");  // it may be set once
  }
  if (!SameValue(now, before)) {
    causes.Forbidden("spec.persistentvolumesource",
                     "spec.persistentvolumesource is immutable after creation");
  }
  if (const JsonTree* const nodes = before.Find("nodeAffinity"); nodes != nullptr) {
    const JsonTree* const changed = after.Find("nodeAffinity");
    if (changed == nullptr || WithFormerLabels(*changed, *nodes) != *nodes) {
      causes.Invalid("nodeAffinity", changed == nullptr ? "null" : changed->ToJson(),
                     "field is immutable, except for labels that have got their final names");
    }
  }
  const std::string attributes = "spec.volumeAttributesClassName";
  const auto name = TextIn(&after, "volumeAttributesClassName");
  if (name && name->empty()) {
    causes.Required(attributes, "it is a name when it is there");
  } else if (!name && TextIn(&before, "volumeAttributesClassName")) {
    causes.Forbidden(attributes, "cannot be taken away");
  }
}

}  // namespace kubexx::apiserver
