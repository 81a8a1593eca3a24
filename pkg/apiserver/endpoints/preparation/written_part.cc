#include "kubexx/apiserver/endpoints/preparation/written_part.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>

#include "kubexx/apiserver/endpoints/behavior/type_behavior.h"
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

/// Adds the field at `path`, which has the names of members with dots in between.
void InsertField(std::string_view path, FieldSet& set) {
  managedfields::Path elements;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t dot = std::min(path.find('.', begin), path.size());
    elements.push_back(PathElement::Field(std::string(path.substr(begin, dot - begin))));
    begin = dot + 1;
  }
  set.Insert(elements);
}

FieldSet SetOfFields(std::initializer_list<std::string_view> paths) {
  FieldSet set;
  for (const std::string_view path : paths) {
    InsertField(path, set);
  }
  return set;
}

}  // namespace

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
    if (const auto keep = BehaviorOf(type).keep_in_status; keep != nullptr) {
      keep(current, changed);
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
      FieldSet set = SetOfFields(BehaviorOf(type).unowned_in_status);
      InsertField("spec", set);
      const auto kept = KeptByStatus(type);
      if (kept.size() == kOfClients.size()) {
        InsertField("metadata", set);
      } else if (!kept.empty()) {
        InsertField("metadata." + std::string(kept.front()), set);
      }
      return set;
    }
    case WritePart::kApproval:
      return SetOfFields({"spec", "status.certificate"});
    case WritePart::kEphemeralContainers:
    case WritePart::kResize:
      return SetOfFields({"metadata", "status"});
    default: {
      FieldSet set = SetOfFields(BehaviorOf(type).unowned_fields);
      if (type.has_status()) {
        InsertField("status", set);
      }
      return set;
    }
  }
}

}  // namespace kubexx::apiserver
