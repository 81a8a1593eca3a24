#include "kubexx/apiserver/endpoints/validation/pods/claim_validation.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/quantity.h"
#include "kubexx/apiserver/endpoints/checks/selector_validation.h"
#include "kubexx/apiserver/endpoints/checks/value_checks.h"
#include "kubexx/apiserver/endpoints/validation/pods/scheduling_validation.h"
#include "kubexx/apiserver/endpoints/validation/pods/volume_sources.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Quantity;
using codec::JsonTree;

constexpr std::string_view kModes = "ReadOnlyMany|ReadWriteMany|ReadWriteOnce|ReadWriteOncePod";

void CheckAccessModes(const JsonTree& spec, const FieldPath& path, FieldCauses& causes) {
  const std::string field = path.Of("accessModes");
  const std::span<const JsonTree> modes = ListAt(spec, "accessModes");
  if (modes.empty()) {
    causes.Required(field, "at least one");
  }
  bool of_one_pod = false;
  bool of_more = false;
  for (const JsonTree& one : modes) {
    const std::string mode = one.AsString() == nullptr ? std::string() : *one.AsString();
    const bool known = IsAmong(mode, kModes);
    if (!known) {
      AddNotSupported(mode, kModes, field, causes);
    }
    of_one_pod = of_one_pod || mode == "ReadWriteOncePod";
    of_more = of_more || (known && mode != "ReadWriteOncePod");
  }
  if (of_one_pod && of_more) {
    causes.Forbidden(field, "may not use ReadWriteOncePod with other access modes");
  }
}

/// Checks a reference to another claim, or to something from which a volume can be made.
void CheckDataSource(const JsonTree& source, bool of_any_namespace, const FieldPath& path,
                     FieldCauses& causes) {
  NeedTexts(source, {"name", "kind"}, path, causes);
  const std::string_view group = source.TextAt("apiGroup");
  const std::string_view kind = source.TextAt("kind");
  if (group.empty() && kind != "PersistentVolumeClaim") {
    causes.Invalid(path.Text(), QuotedJson(kind),
                   "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
  }
  CheckDnsSubdomainAt(source, "apiGroup", path, causes);
  if (of_any_namespace) {
    CheckDnsLabelAt(source, "namespace", path, causes);
  }
}

/// Whether the reference was valid before there was a dataSourceRef. Others count as missing there.
bool IsClaimOrSnapshot(const JsonTree& source) {
  const std::string_view group = source.TextAt("apiGroup");
  const std::string_view kind = source.TextAt("kind");
  return (group.empty() && kind == "PersistentVolumeClaim") ||
         (group == "snapshot.storage.k8s.io" && kind == "VolumeSnapshot");
}

/// Each of the two fields also sets the other one, unless the reference is to another namespace or
/// both are given.
void CheckDataSources(const JsonTree& spec, const FieldPath& path, FieldCauses& causes) {
  const JsonTree* source = GivenAt(spec, "dataSource");
  const JsonTree* reference = GivenAt(spec, "dataSourceRef");
  if (source != nullptr && !IsClaimOrSnapshot(*source)) {
    source = nullptr;
  }
  const bool elsewhere = reference != nullptr && !reference->TextAt("namespace").empty();
  if (source != nullptr && elsewhere) {
    causes.Invalid(path.Text(), QuotedJson(path.Of("dataSource")),
                   "may not be specified when dataSourceRef.namespace is specified");
  } else if (source != nullptr && reference != nullptr) {
    const auto same = [&](std::string_view member) {
      return source->TextAt(member) == reference->TextAt(member);
    };
    if (!same("apiGroup") || !same("kind") || !same("name")) {
      causes.Invalid(path.Text(), QuotedJson(path.Of("dataSource")), "must match dataSourceRef");
    }
  } else if (!elsewhere) {
    source = source == nullptr ? reference : source;
    reference = source;
  }
  if (source != nullptr) {
    CheckDataSource(*source, /*of_any_namespace=*/false, path.Member("dataSource"), causes);
  }
  if (reference != nullptr) {
    CheckDataSource(*reference, /*of_any_namespace=*/true, path.Member("dataSourceRef"), causes);
  }
}

void CheckCapacity(const JsonTree& spec, const FieldPath& path, FieldCauses& causes) {
  const JsonTree* const capacity = GivenAt(spec, "capacity");
  if (capacity == nullptr || capacity->size() == 0) {
    causes.Required(path.Of("capacity"));
  }
  if (capacity == nullptr || capacity->size() != 1 || capacity->Find("storage") == nullptr) {
    causes.NotSupported(path.Of("capacity"), capacity == nullptr ? "null" : capacity->ToJson(),
                        R"("storage")");
  }
  if (capacity == nullptr) {
    return;
  }
  const FieldPath at = path.Member("capacity");
  for (const JsonTree::Member& one : capacity->members()) {
    const std::string text = one.value.AsString() == nullptr ? "0" : *one.value.AsString();
    if (Quantity::Compare(Quantity::FromCanonical(text), Quantity()) <= 0) {
      causes.Invalid(at.Key(one.key), QuotedJson(text), "must be greater than zero");
    }
  }
}

/// Whether a path means "/".
bool IsRoot(std::string_view path) {
  return path.starts_with('/') && std::ranges::all_of(path, [](char c) { return c == '/'; });
}

void CheckVolumeClass(const JsonTree& spec, const FieldPath& path, FieldCauses& causes) {
  const JsonTree* const name = GivenAt(spec, "volumeAttributesClassName");
  if (name == nullptr) {
    return;
  }
  if (NeedText(spec, "volumeAttributesClassName", path, causes)) {
    CheckDnsSubdomainAt(spec, "volumeAttributesClassName", path, causes);
  }
  if (GivenAt(spec, "csi") == nullptr) {
    causes.Required(path.Of("csi"), "has to be specified when using volumeAttributesClassName");
  }
}

}  // namespace

void CheckClaimAt(const JsonTree& spec, const FieldPath& path, FieldCauses& causes) {
  CheckAccessModes(spec, path, causes);
  if (const JsonTree* const selector = GivenAt(spec, "selector")) {
    CheckLabelSelector(selector, path.Of("selector"), causes);
  }
  const std::string size = StringAt(spec, {"resources", "requests", "storage"});
  if (size.empty()) {
    causes.Required(path.Of("resources[storage]"));
  } else if (Quantity::Compare(Quantity::FromCanonical(size), Quantity()) <= 0) {
    causes.Invalid(path.Of("resources[storage]"), QuotedJson(size), "must be greater than zero");
  }
  CheckDnsSubdomainAt(spec, "storageClassName", path, causes);
  CheckDnsSubdomainAt(spec, "volumeAttributesClassName", path, causes);
  CheckChoice(spec, "volumeMode", "Block|Filesystem", path, causes);
  CheckDataSources(spec, path, causes);
}

void CheckPersistentVolume(const JsonTree& spec, FieldCauses& causes) {
  const FieldPath at("spec");
  const std::string_view policy = spec.TextAt("persistentVolumeReclaimPolicy");
  CheckAccessModes(spec, at, causes);
  CheckCapacity(spec, at, causes);
  if (!policy.empty()) {
    CheckChoice(spec, "persistentVolumeReclaimPolicy", "Delete|Recycle|Retain", at, causes);
  }
  const JsonTree* const nodes = GivenAt(spec, "nodeAffinity");
  const JsonTree* const required = nodes == nullptr ? nullptr : GivenAt(*nodes, "required");
  if (required != nullptr) {
    CheckNodeTerms(*required, at.Member("nodeAffinity.required"), causes);
  } else if (nodes != nullptr) {
    causes.Required(at.Of("nodeAffinity.required"), "must specify required node constraints");
  }
  CheckVolumeSource(VolumeOwner::kPersistentVolume, spec, at, causes);
  if (GivenAt(spec, "local") != nullptr && required == nullptr) {
    causes.Required(at.Of("nodeAffinity"), "Local volume requires node affinity");
  }
  if (const JsonTree* const host = GivenAt(spec, "hostPath");
      host != nullptr && IsRoot(host->TextAt("path")) && policy == "Recycle") {
    causes.Forbidden(at.Of("persistentVolumeReclaimPolicy"),
                     "may not be 'recycle' for a hostPath mount of '/'");
  }
  CheckDnsSubdomainAt(spec, "storageClassName", at, causes);
  CheckChoice(spec, "volumeMode", "Block|Filesystem", at, causes);
  CheckVolumeClass(spec, at, causes);
}

}  // namespace kubexx::apiserver
