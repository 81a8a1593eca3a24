#include "kubexx/apiserver/endpoints/preparation/write_part.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "kubexx/apiserver/endpoints/registry/namespace_type.h"
#include "kubexx/apiserver/endpoints/validation/cluster/certificate_requests.h"
#include "kubexx/apiserver/endpoints/validation/pods/pod_resize.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using managedfields::FieldSet;
using managedfields::PathElement;

constexpr std::array<std::string_view, 4> kOfClients = {"labels", "annotations", "finalizers",
                                                        "ownerReferences"};
constexpr std::string_view kLabelsOnly[] = {"labels"};
constexpr std::string_view kOwners[] = {"ownerReferences"};

void TakeMember(std::string_view member, const JsonTree& from, JsonTree& to) {
  if (const JsonTree* const found = from.Find(member)) {
    to[member] = *found;
  } else {
    to.Erase(member);
  }
}

const JsonTree& MetadataOf(const JsonTree& object) {
  static const JsonTree kNone = JsonTree::Object();
  const JsonTree* const found = object.Find("metadata");
  return found == nullptr ? kNone : *found;
}

void TakeMetadata(std::span<const std::string_view> kept, const JsonTree& from, JsonTree& to) {
  for (const std::string_view member : kOfClients) {
    if (std::ranges::find(kept, member) == kept.end()) {
      TakeMember(member, MetadataOf(from), to["metadata"]);
    }
  }
}

std::vector<JsonTree> ConditionsOf(const JsonTree& object, std::string_view type) {
  std::vector<JsonTree> found;
  for (const JsonTree& one : ElementsAt(object, {"status", "conditions"})) {
    if (one.TextAt("type") == type) {
      found.push_back(one);
    }
  }
  return found;
}

void CheckConditions(WritePart part, const JsonTree& current, const JsonTree& object,
                     FieldCauses& causes) {
  constexpr const char* kField = "status.conditions";
  for (const char* const type : {"Approved", "Denied", "Failed"}) {
    const auto before = ConditionsOf(current, type);
    const auto after = ConditionsOf(object, type);
    const std::string named = std::string(" a condition of type \"") + type + "\"";
    const bool decision = std::string_view(type) != "Failed";
    if (after.size() < before.size()) {
      causes.Forbidden(kField, "updates may not remove" + named);
    } else if (part != WritePart::kApproval && decision && after.size() > before.size()) {
      causes.Forbidden(kField, "updates may not add" + named);
    }
    for (const JsonTree& one : after) {
      if (one.TextAt("status") != "True") {
        causes.NotSupported(kField, JsonTree(one.TextAt("status")).ToJson(), "\"True\"");
      }
    }
  }
  if (!ConditionsOf(object, "Approved").empty() && !ConditionsOf(object, "Denied").empty()) {
    causes.Invalid(kField, "\"Denied\"", "Approved and Denied conditions are mutually exclusive");
  }
}

/// A write of the status does not change what was decided.
void PreserveDecisions(const JsonTree& current, JsonTree& object) {
  JsonTree* const status = object.Find("status");
  JsonTree* const conditions = status == nullptr ? nullptr : status->Find("conditions");
  if (conditions == nullptr) {
    return;
  }
  for (const char* const type : {"Approved", "Denied"}) {
    const auto before = ConditionsOf(current, type);
    if (before.size() != ConditionsOf(object, type).size()) {
      continue;  // It is refused.
    }
    auto old = before.begin();
    for (JsonTree& one : conditions->elements()) {
      if (one.TextAt("type") == type) {
        one = *old++;
      }
    }
  }
}

void CheckEphemeralContainers(const JsonTree& current, const JsonTree& object,
                              FieldCauses& causes) {
  std::map<std::string_view, const JsonTree*> after;
  for (const JsonTree& one : ElementsAt(object, {"spec", "ephemeralContainers"})) {
    after.emplace(one.TextAt("name"), &one);
  }
  for (const JsonTree& old : ElementsAt(current, {"spec", "ephemeralContainers"})) {
    const std::string_view name = old.TextAt("name");
    const auto found = after.find(name);
    if (found == after.end() || *found->second != old) {
      causes.Forbidden("spec.ephemeralContainers",
                       "existing ephemeral containers " + JsonTree(name).ToJson() + " may not be " +
                           (found == after.end() ? "removed" : "changed"));
    }
  }
}

/// That of a namespace tells only whether it is being deleted.
void CheckPhase(const JsonTree& object, FieldCauses& causes) {
  const bool going = IsDeleting(object);
  const std::string phase = StringAt(object, {"status", "phase"});
  const std::string wanted = going ? "Terminating" : "Active";
  if (phase != wanted) {
    causes.Invalid("status.Phase", JsonTree(phase).ToJson(),
                   "may only be '" + wanted + "' if `deletionTimestamp` is " +
                       (going ? "not " : "") + "empty");
  }
}

FieldSet SetOfPaths(std::initializer_list<std::pair<std::string_view, std::string_view>> paths) {
  FieldSet set;
  for (const auto& [first, second] : paths) {
    managedfields::Path path;
    path.push_back(PathElement::Field(std::string(first)));
    if (!second.empty()) {
      path.push_back(PathElement::Field(std::string(second)));
    }
    set.Insert(path);
  }
  return set;
}

}  // namespace

WritePart WritePartOf(const Subresource* subresource) {
  if (subresource == nullptr) {
    return WritePart::kObject;
  }
  switch (subresource->is) {
    case Subresource::Is::kStatus:
      return WritePart::kStatus;
    case Subresource::Is::kApproval:
      return WritePart::kApproval;
    case Subresource::Is::kFinalize:
      return WritePart::kFinalizers;
    case Subresource::Is::kResize:
      return WritePart::kResize;
    case Subresource::Is::kEphemeralContainers:
      return WritePart::kEphemeralContainers;
    default:
      return WritePart::kObject;
  }
}

std::span<const std::string_view> KeptByStatus(const ResourceType& type) {
  switch (type.rules.status_metadata) {
    case StatusMetadata::kKept:
      return kOfClients;
    case StatusMetadata::kOwnersKept:
      return kOwners;
    case StatusMetadata::kLabelsKept:
      return kLabelsOnly;
    default:
      return {};
  }
}

void KeepTheRest(const ResourceType& type, WritePart part, const JsonTree& current,
                 JsonTree& object) {
  JsonTree changed = current;
  TakeMember("managedFields", MetadataOf(object), changed["metadata"]);
  if (part == WritePart::kStatus) {
    TakeMember("status", object, changed);
    TakeMetadata(KeptByStatus(type), object, changed);
    if (KeptByStatus(type).size() < kOfClients.size()) {
      TakeMember("generateName", MetadataOf(object), changed["metadata"]);
    }
    if (IsCertificateRequest(type)) {
      PreserveDecisions(current, changed);
    }
  } else if (part == WritePart::kApproval) {
    const JsonTree* const status = object.Find("status");
    TakeMember("conditions", status == nullptr ? JsonTree::Object() : *status, changed["status"]);
    TakeMetadata({}, object, changed);
  } else if (part == WritePart::kEphemeralContainers) {
    const JsonTree* const spec = object.Find("spec");
    TakeMember("ephemeralContainers", spec == nullptr ? JsonTree::Object() : *spec,
               changed["spec"]);
  } else if (part == WritePart::kResize) {
    TakeResources(object, changed);
  }
  object = std::move(changed);
}

FieldSet IgnoredBy(const ResourceType& type, WritePart part) {
  switch (part) {
    case WritePart::kStatus: {
      if (IsCertificateRequest(type)) {
        return SetOfPaths({{"spec", ""}, {"status", "conditions"}});
      }
      const auto kept = KeptByStatus(type);
      if (kept.size() == kOfClients.size()) {
        return SetOfPaths({{"metadata", ""}, {"spec", ""}});
      }
      return kept.empty() ? SetOfPaths({{"spec", ""}})
                          : SetOfPaths({{"metadata", kept.front()}, {"spec", ""}});
    }
    case WritePart::kApproval:
      return SetOfPaths({{"spec", ""}, {"status", "certificate"}});
    case WritePart::kEphemeralContainers:
    case WritePart::kResize:
      return SetOfPaths({{"metadata", ""}, {"status", ""}});
    default:
      return IsCertificateRequest(type) ? SetOfPaths({{"spec", ""}, {"status", ""}})
             : type.has_status()        ? SetOfPaths({{"status", ""}})
                                        : FieldSet();
  }
}

void CheckPart(const ResourceType& type, WritePart part, const JsonTree& current,
               const JsonTree& object, FieldCauses& causes) {
  if (IsCertificateRequest(type)) {
    CheckConditions(part, current, object, causes);
    CheckIssuedCertificate(current, object, causes);
  } else if (part == WritePart::kEphemeralContainers) {
    CheckEphemeralContainers(current, object, causes);
  } else if (part == WritePart::kResize) {
    CheckPodResize(current, object, causes);
  } else if (part == WritePart::kStatus && IsNamespace(type)) {
    CheckPhase(object, causes);
  }
}

}  // namespace kubexx::apiserver
