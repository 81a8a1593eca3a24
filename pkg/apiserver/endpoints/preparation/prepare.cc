#include "kubexx/apiserver/endpoints/preparation/prepare.h"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/names.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/apiserver/endpoints/behavior/type_behavior.h"
#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/endpoints/checks/label_problems.h"
#include "kubexx/apiserver/endpoints/checks/restore.h"
#include "kubexx/apiserver/endpoints/checks/same_value.h"
#include "kubexx/apiserver/endpoints/defaults/plain_defaults.h"
#include "kubexx/apiserver/endpoints/preparation/server_metadata.h"
#include "kubexx/apiserver/endpoints/preparation/written_part.h"
#include "kubexx/apiserver/endpoints/services/service_addresses.h"
#include "kubexx/apiserver/endpoints/validation/objects/immutable_fields.h"
#include "kubexx/apiserver/endpoints/validation/objects/object_names.h"
#include "kubexx/apiserver/endpoints/validation/objects/validation.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/object_form.h"
#include "kubexx/apiserver/object/status_json.h"
#include "kubexx/apiserver/schema/validate.h"
#include "kubexx/base/identity.h"
#include "kubexx/base/utf8.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::StatusCause;
using codec::JsonTree;

constexpr std::size_t kMaxLabelBytes = 63;
constexpr std::size_t kSuffixBytes = 5;

std::uint64_t Random64() {
  thread_local std::random_device device;
  return static_cast<std::uint64_t>(device()) << 32 | device();
}

Result<void> Verdict(const ResourceType& type, const JsonTree& object, FieldCauses causes) {
  if (causes.empty()) {
    return {};
  }
  return Fail(Invalid(type, MetaString(object, "name"), std::move(causes).Take()));
}

std::string RandomSuffix() {
  // As in Kubernetes, without vowels, so that no words appear.
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string suffix;
  std::uint64_t random = Random64();
  for (std::size_t i = 0; i < kSuffixBytes; ++i, random /= kLetters.size()) {
    suffix.push_back(kLetters[random % kLetters.size()]);
  }
  return suffix;
}

void SetName(JsonTree& object) {
  const std::string prefix = MetaString(object, "generateName");
  if (MetaString(object, "name").empty() && !prefix.empty()) {
    SetMeta(object, "name", GeneratedName(prefix));
  }
}

/// A write of an object. `old` is its former state, and is null for a new object.
struct Write {
  const ResourceType& type;
  WritePart part;
  const JsonTree* old;
  /// The former state as well, but null when an update is checked as if it were for a new object.
  const JsonTree* former = old;
};

/// Adds what is wrong with the spec, except for faults that the former spec has, too. So an object
/// that was stored before something was checked can still be changed in other places.
void CheckSpecOf(const Write& write, const JsonTree& object, FieldCauses& causes) {
  if (write.former == nullptr) {
    CheckSpec(write.type, nullptr, object, causes);
    return;
  }
  FieldCauses now;
  CheckSpec(write.type, write.old, object, now);
  if (now.empty()) {
    return;
  }
  FieldCauses before;
  CheckSpec(write.type, nullptr, *write.former, before);
  causes.AddAll(NewCauses(std::move(now).Take(), before.kept()));
}

/// Adds what is wrong with the object according to its type, or to the schema of a custom resource.
/// Returns kCancelled when the stop is requested.
Result<void> CheckContent(const Write& write, const JsonTree& object, const std::stop_token& stop,
                          FieldCauses& causes) {
  const ResourceType& type = write.type;
  const JsonTree* const old = write.old;
  schema::Budget budget(stop);
  CheckMetadata(type, old, object, causes);
  if (old == nullptr || !SameSpec(*old, object)) {
    CheckSpecOf(write, object, causes);
  }
  CheckAlways(type, old, object, causes);
  if (type.custom && type.custom->schema != nullptr) {
    std::vector<StatusCause> found;
    schema::Validate(*type.custom->schema, object, old, budget, found);
    causes.AddAll(std::move(found));
  } else if (const auto check = BehaviorOf(type).check_long;
             check != nullptr && write.part != WritePart::kStatus) {
    // The status of the definition describes the stored definition, whatever that is. Otherwise it
    // could not be repaired.
    check(old, object, budget, causes);
  }
  return budget.stopped() ? Fail(Reason::kCancelled, "stopped while the object was checked")
                          : Result<void>();
}

/// Whether the change makes a new generation.
bool IsNewGeneration(const ResourceType& type, const JsonTree& current, const JsonTree& object) {
  if (!SameSpec(current, object) && (type.custom || !SameSpecValue(current, object))) {
    return true;
  }
  const JsonTree* const before = current.Find("status");
  const JsonTree* const after = object.Find("status");
  return type.custom && !type.has_status() &&
         (before == nullptr || after == nullptr ? before != after : *before != *after);
}

void CountGeneration(const ResourceType& type, const JsonTree& current, JsonTree& object) {
  const bool annotated = type.rules.counts_annotations &&
                         MetaMap(current, "annotations") != MetaMap(object, "annotations");
  if (type.rules.has_generation && (annotated || IsNewGeneration(type, current, object))) {
    object["metadata"]["generation"] = Generation(current) + 1;
  }
}

}  // namespace

void SetDefaults(const ResourceType& type, JsonTree& object) {
  const TypeBehavior& behavior = BehaviorOf(type);
  SetPlainDefaults(behavior.plain_defaults, object);
  if (behavior.set_defaults != nullptr) {
    behavior.set_defaults(type, object);
  }
}

std::string GeneratedName(std::string_view prefix) {
  // The prefix may be cut inside a character, because some types allow any characters in their
  // names.
  return base::ToValidUtf8(prefix.substr(0, kMaxLabelBytes - kSuffixBytes)) + RandomSuffix();
}

Result<void> CheckUrl(const JsonTree& object, const apimachinery::ObjectKey& of_url) {
  for (const auto& [field, wanted] :
       {std::pair("name", &of_url.name), std::pair("namespace", &of_url.namespace_)}) {
    const std::string given = MetaString(object, field);
    // For a resource without namespaces, the namespace means nothing.
    if (!given.empty() && !wanted->empty() && given != *wanted) {
      return Fail(Reason::kBadRequest, std::string("the ") + field + " of the object (" + given +
                                           ") does not match the " + field + " on the URL (" +
                                           *wanted + ")");
    }
  }
  return {};
}

namespace {

bool IsTextOrNothing(const JsonTree& object, std::string_view member) {
  const JsonTree* const found = object.Find(member);
  return found == nullptr || found->IsNull() || found->AsString() != nullptr;
}

}  // namespace

Result<void> CheckPatchedKind(const ResourceType& type, const JsonTree& patched) {
  const std::string version = StringAt(patched, {"apiVersion"});
  const std::string kind = StringAt(patched, {"kind"});
  const bool has_kind = kind.empty() ? !type.custom : kind == type.kind;
  const bool are_texts = IsTextOrNothing(patched, "kind") && IsTextOrNothing(patched, "apiVersion");
  if ((version.empty() || version == type.ApiVersion()) && has_kind && are_texts) {
    return {};
  }
  const std::string message = "Invalid value: \"patch\": it makes " + type.ApiVersion() +
                              ", Kind=" + type.kind + " to " + version + ", Kind=" + kind;
  apimachinery::Status status(Reason::kInvalid, " \"\" is invalid: patch: " + message, 422);
  status.details.causes.push_back(
      {.reason = "FieldValueInvalid", .message = message, .field = "patch"});
  return Fail(std::move(status));
}

namespace {

Result<void> KeepUp(const ResourceType& type, const JsonTree* current, JsonTree& object) {
  const auto keep_up = BehaviorOf(type).keep_up;
  return keep_up == nullptr ? Result<void>() : keep_up(current, object);
}

Result<void> PrepareNew(const ResourceType& type, std::string_view namespace_, base::Clock& clock,
                        JsonTree& object, const std::stop_token& stop) {
  const std::string own = MetaString(object, "namespace");
  if (type.namespaced && !own.empty() && own != namespace_) {
    return Fail(Reason::kBadRequest,
                "the namespace of the provided object does not match the namespace sent on the "
                "request");
  }
  if (const std::string version = MetaString(object, "resourceVersion"); !version.empty()) {
    return Fail(Reason::kBadRequest, "resourceVersion should not be set on objects to be created");
  }
  SetMeta(object, "namespace", type.namespaced ? namespace_ : "");
  SetName(object);
  for (const char* const field : {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"}) {
    object["metadata"].Erase(field);
  }
  SetMeta(object, "uid", base::RandomUuid());
  SetMeta(object, "creationTimestamp", apimachinery::Time::From(clock.Wall()).ToString());
  if (type.rules.has_generation) {
    object["metadata"]["generation"] = 1;
  }
  if (type.has_status() && type.custom) {
    object.Erase("status");
  } else if (type.has_status() && !type.rules.keeps_new_status) {
    // This adds the fields that the type always has.
    KX_ASSIGN_OR_RETURN(JsonTree blank, Canonical(type, JsonTree::Object()));
    const JsonTree* const status = blank.Find("status");
    object["status"] = status == nullptr ? JsonTree::Object() : *status;
  }
  SetDefaults(type, object);
  const TypeBehavior& behavior = BehaviorOf(type);
  if (behavior.complete_new != nullptr) {
    behavior.complete_new(object);
  }
  KX_RETURN_IF_ERROR(KeepUp(type, nullptr, object));
  FieldCauses causes;
  const std::string name = MetaString(object, "name");
  if (name.empty()) {
    causes.Required("metadata.name", "name or generateName is required");
  } else if (const std::string problem = NameProblem(type, name); !problem.empty()) {
    causes.Invalid("metadata.name", JsonTree(name).ToJson(), problem);
  }
  CheckLabelMap(object.At({"metadata", "labels"}), "metadata.labels", causes);
  if (behavior.check_new != nullptr) {
    behavior.check_new(object, causes);
  }
  KX_RETURN_IF_ERROR(CheckContent({.type = type, .part = WritePart::kObject, .old = nullptr},
                                  object, stop, causes));
  return Verdict(type, object, std::move(causes));
}

Result<void> PrepareChange(const ResourceType& type, WritePart part, const JsonTree& current,
                           JsonTree& object, const std::stop_token& stop) {
  KX_RETURN_IF_ERROR(CheckUrl(object, KeyOf(current)));
  KX_RETURN_IF_ERROR(CheckVersion(type, current, object));
  if (const std::string version = MetaString(object, "resourceVersion");
      part != WritePart::kAll && type.rules.needs_version && (version.empty() || version == "0")) {
    ResourceType named = type;
    named.kind = type.plural;  // kube-apiserver writes the plural in this error.
    FieldCauses causes;
    causes.Invalid("metadata.resourceVersion", "0", "must be specified for an update");
    return Verdict(named, current, std::move(causes));
  }
  FieldCauses causes;
  CheckServerMetadata(type, part, current, object, causes);
  if (part != WritePart::kObject && part != WritePart::kFinalizers && part != WritePart::kAll) {
    KeepTheRest(type, part, current, object);
    const bool of_spec = part == WritePart::kEphemeralContainers || part == WritePart::kResize;
    if (of_spec) {
      SetDefaults(type, object);
      CountGeneration(type, current, object);
    }
    KX_RETURN_IF_ERROR(KeepUp(type, &current, object));
    if (const auto check = BehaviorOf(type).check_part; check != nullptr) {
      check(part, current, object, causes);
    }
    CheckLabelMap(object.At({"metadata", "labels"}), "metadata.labels", causes);
    // These are the checks of what other updates of a pod may not change.
    const JsonTree* const old = of_spec ? nullptr : &current;
    KX_RETURN_IF_ERROR(CheckContent({.type = type, .part = part, .old = old, .former = &current},
                                    object, stop, causes));
    return Verdict(type, object, std::move(causes));
  }
  KeepServerMetadata(current, object);
  if (type.has_status() && part != WritePart::kAll) {
    Restore(object, current, "status");
  }
  if (part == WritePart::kObject) {
    for (const std::string_view field : BehaviorOf(type).fields_kept_by_update) {
      Restore(object, current, field);
    }
  }
  DropOfFormerType(type, current, object);
  SetDefaults(type, object);
  KX_RETURN_IF_ERROR(KeepUp(type, &current, object));
  CountGeneration(type, current, object);
  if (part == WritePart::kAll) {
    // The fault is not the client's, and objects that wait for their deletion have to be deleted.
    return {};
  }
  CheckLabelMap(object.At({"metadata", "labels"}), "metadata.labels", causes);
  CheckImmutable(type, current, object, causes);
  KX_RETURN_IF_ERROR(
      CheckContent({.type = type, .part = part, .old = &current}, object, stop, causes));
  return Verdict(type, object, std::move(causes));
}

/// Converts `object` from the version in which objects are stored back to that of the request.
Result<void> TakeBack(const ResourceType& type, JsonTree& object) {
  KX_ASSIGN_OR_RETURN(object, Canonical(type, type.convert(object, type.ApiVersion())));
  return {};
}

}  // namespace

// The parts of an object, spec and status, are those of the stored version, because another version
// may have them in annotations.
Result<void> PrepareCreate(const ResourceType& type, std::string_view namespace_,
                           base::Clock& clock, JsonTree& object, const std::stop_token& stop) {
  if (!type.stored_as) {
    return PrepareNew(type, namespace_, clock, object, stop);
  }
  object = type.convert(object, type.stored_as->ApiVersion());
  KX_RETURN_IF_ERROR(PrepareNew(*type.stored_as, namespace_, clock, object, stop));
  return TakeBack(type, object);
}

Result<void> PrepareUpdate(const ResourceType& type, WritePart part, const JsonTree& current,
                           JsonTree& object, const std::stop_token& stop) {
  if (!type.stored_as) {
    return PrepareChange(type, part, current, object, stop);
  }
  const std::string stored = type.stored_as->ApiVersion();
  object = type.convert(object, stored);
  JsonTree former = type.convert(current, stored);
  SetDefaults(*type.stored_as, former);  // the stored version has more defaults
  KX_RETURN_IF_ERROR(PrepareChange(*type.stored_as, part, former, object, stop));
  return TakeBack(type, object);
}

}  // namespace kubexx::apiserver
