#include "kubexx/apiserver/endpoints/call/field_tracking.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/time.h"
#include "kubexx/apiserver/endpoints/call/field_validation.h"
#include "kubexx/apiserver/endpoints/preparation/prepare.h"
#include "kubexx/apiserver/endpoints/preparation/written_part.h"
#include "kubexx/apiserver/endpoints/registry/scale_object.h"
#include "kubexx/apiserver/managedfields/updater.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/object_form.h"
#include "kubexx/apiserver/object/status_json.h"
#include "kubexx/apiserver/object/write_part.h"
#include "kubexx/base/utf8.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using codec::JsonTree;
using managedfields::FieldConflict;
using managedfields::Managers;
using managedfields::PathElement;
using managedfields::Writer;

constexpr std::size_t kMaxManagerBytes = 128;
/// The manager of objects that were written before managers were recorded.
constexpr const char* kBeforeFirstApply = "before-first-apply";

const JsonTree* ManagedFieldsOf(const JsonTree& object) {
  const JsonTree* const found = object.At({"metadata", "managedFields"});
  return found == nullptr || found->IsNull() ? nullptr : found;
}

JsonTree WithoutManagers(const JsonTree& object) {
  JsonTree copy = object;
  if (JsonTree* const metadata = copy.Find("metadata")) {
    metadata->Erase("managedFields");
  }
  return copy;
}

/// Returns the part of the client's name that is before the first slash.
std::string ManagerOf(const Call& call) {
  if (const std::string_view given = Param(call.query, "fieldManager"); !given.empty()) {
    return std::string(given);
  }
  const std::string_view agent = call.request.Header("User-Agent");
  std::string name;
  for (const char c : agent.substr(0, agent.find('/'))) {
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f && name.size() < kMaxManagerBytes) {
      name.push_back(c);
    }
  }
  return name;
}

Writer WriterOf(const Call& call) {
  return {.type = MergeTypeOf(*call.type),
          .manager = ManagerOf(call),
          .api_version = call.type->ApiVersion(),
          .subresource = call.info.subresource,
          .ignored = IgnoredBy(*call.type, WritePartOf(call.subresource)),
          .now = apimachinery::Time::From(call.objects.clock().Wall()).ToString()};
}

void SetManagers(const Managers& managers, JsonTree& object) {
  if (managers.empty()) {
    object["metadata"].Erase("managedFields");
  } else {
    object["metadata"]["managedFields"] = WriteManagers(managers);
  }
}

bool SomebodyHasReplicas(const ResourceType& type, const Managers& managers) {
  managedfields::Path path;
  for (const std::string& member : ReplicasPath(type)) {
    path.push_back(PathElement::Field(member));
  }
  return std::ranges::any_of(
      managers, [&path](const auto& manager) { return manager.second.fields.Has(path); });
}

/// Returns the managers that a client sends, unless it sends none or they are invalid.
Managers ManagersBefore(const Call& call, const JsonTree& live, const JsonTree& object) {
  if (call.info.subresource.empty()) {
    const JsonTree* const sent = ManagedFieldsOf(object);
    if (managedfields::IsReset(sent)) {
      return {};
    }
    if (auto managers = managedfields::ReadManagers(sent); managers && !managers->empty()) {
      return std::move(*managers);
    }
  }
  auto managers = managedfields::ReadManagers(ManagedFieldsOf(live));
  return managers ? std::move(*managers) : Managers();
}

Status ConflictStatus(const std::vector<FieldConflict>& conflicts) {
  Status status(Reason::kConflict, "", 409);
  std::map<std::string, std::string> by_manager;
  for (const FieldConflict& conflict : conflicts) {
    const std::string manager = conflict.manager.ToString();
    const std::string path = ToString(conflict.path);
    by_manager[manager] += "\n- " + path;
    status.details.causes.push_back(
        {.reason = "FieldManagerConflict", .message = "conflict with " + manager, .field = path});
  }
  if (conflicts.size() == 1) {
    status.message = "Apply failed with 1 conflict: conflict with " +
                     conflicts.front().manager.ToString() + ": " + ToString(conflicts.front().path);
    return status;
  }
  for (const auto& [manager, paths] : by_manager) {
    status.message +=
        (status.message.empty() ? "" : "\n") + ("conflicts with " + manager) + ":" + paths;
  }
  status.message =
      "Apply failed with " + std::to_string(conflicts.size()) + " conflicts: " + status.message;
  return status;
}

/// "apps/v1, Kind=Deployment" or "/v1, Kind=Pod".
std::string GvkText(const std::string& api_version, const std::string& kind) {
  return (api_version.find('/') == std::string::npos ? "/" : "") + api_version + ", Kind=" + kind;
}

Result<void> CheckConfig(const Call& call, const JsonTree& config) {
  const ResourceType& type = *call.type;
  const std::string version = StringAt(config, {"apiVersion"});
  const std::string kind = StringAt(config, {"kind"});
  if (version != type.ApiVersion() || kind != type.kind) {
    return Fail(Reason::kBadRequest, "invalid object type: " + GvkText(version, kind));
  }
  const JsonTree* const metadata = config.Find("metadata");
  if (metadata != nullptr && metadata->Find("managedFields") != nullptr) {
    return Fail(Reason::kBadRequest, "metadata.managedFields must be nil");
  }
  return {};
}

}  // namespace

Status BadParameter(const Call& call, const std::string& reason, const std::string& message,
                    const char* field) {
  const char* const options =
      call.info.verb == "patch" ? "PatchOptions"
                                : (call.info.verb == "create" ? "CreateOptions" : "UpdateOptions");
  Status status(Reason::kInvalid,
                std::string(options) + ".meta.k8s.io \"\" is invalid: " + field + ": " + message,
                422);
  status.details.group = "meta.k8s.io";
  status.details.kind = options;
  status.details.causes.push_back({.reason = reason, .message = message, .field = field});
  return status;
}

managedfields::Type MergeTypeOf(const ResourceType& type) {
  if (type.schema != nullptr) {
    return managedfields::Type::Builtin(*type.schema);
  }
  return managedfields::Type::Custom(
      type.custom ? type.custom->source.At({"schema", "openAPIV3Schema"}) : nullptr);
}

namespace {

// As Go's unicode.IsPrint, except for code points that Unicode has not assigned.
bool IsPrintableInGo(std::uint32_t code) {
  const bool is_other_space = code == 0xa0 || code == 0x1680 ||
                              (code >= 0x2000 && code <= 0x200a) || code == 0x202f ||
                              code == 0x205f || code == 0x3000;
  return !is_other_space && !base::NeedsEscape(code);
}

// What Go says of the first character that is not printable.
std::optional<std::string> UnprintableIn(std::string_view manager) {
  for (std::size_t at = 0; at < manager.size();) {
    const base::CodePoint point = base::DecodeFirst(manager.substr(at));
    if (point.valid && !IsPrintableInGo(point.code)) {
      char code[16];
      (void)std::snprintf(code, sizeof code, "U+%04X", static_cast<unsigned>(point.code));
      return "invalid character " + std::string(code) + " (at position " + std::to_string(at) + ")";
    }
    at += point.size;
  }
  return std::nullopt;
}

}  // namespace

Result<void> CheckManager(const Call& call, bool apply) {
  const std::string_view manager = Param(call.query, "fieldManager");
  if (apply && manager.empty()) {
    return Fail(BadParameter(call, "FieldValueRequired",
                             "Required value: is required for apply patch", "fieldManager"));
  }
  if (manager.size() > kMaxManagerBytes) {
    return Fail(BadParameter(call, "FieldValueTooLong", "Too long: may not be more than 128 bytes",
                             "fieldManager"));
  }
  if (const auto why = UnprintableIn(manager)) {
    return Fail(BadParameter(call, "FieldValueInvalid",
                             "Invalid value: " + JsonTree(manager).ToJson() + ": " + *why,
                             "fieldManager"));
  }
  KX_RETURN_IF_ERROR(CheckFieldValidation(call));
  if (!apply && call.info.verb == "patch" && call.query.contains("force")) {
    return Fail(BadParameter(call, "FieldValueForbidden",
                             "Forbidden: may not be specified for non-apply patch", "force"));
  }
  return {};
}

Result<JsonTree> BlankObject(const ResourceType& type) {
  JsonTree object = JsonTree::Object();
  object["kind"] = type.kind;
  object["apiVersion"] = type.ApiVersion();
  return type.schema == nullptr ? Result<JsonTree>(std::move(object)) : Canonical(type, object);
}

Result<JsonTree> CanonicalOfSent(const ResourceType& type, JsonTree sent) {
  JsonTree managers;
  JsonTree* const metadata = sent.Find("metadata");
  JsonTree* const found = metadata == nullptr ? nullptr : metadata->Find("managedFields");
  if (found != nullptr && found->IsArray()) {
    managers = std::move(*found);
    metadata->Erase("managedFields");
  }
  KX_ASSIGN_OR_RETURN(JsonTree object, Canonical(type, sent));
  if (!managers.IsNull()) {
    object["metadata"]["managedFields"] = std::move(managers);
  }
  return object;
}

void TrackWrite(const Call& call, const JsonTree& live, JsonTree& object) {
  if (!call.managed_fields) {
    object["metadata"].Erase("managedFields");
    return;
  }
  Managers managers = ManagersBefore(call, live, object);
  object["metadata"].Erase("managedFields");
  // When an object had no managers before, nobody knows who owns its fields. The same holds for
  // replicas that have no owner.
  const bool is_new = MetaString(live, "uid").empty();
  if (!is_new &&
      (managers.empty() || (call.of_scale() && !SomebodyHasReplicas(*call.type, managers)))) {
    SetManagers(managers, object);
    return;
  }
  SetManagers(TrackUpdate(WriterOf(call), live, object, std::move(managers)), object);
}

Result<JsonTree> ApplyTo(const Call& call, const JsonTree& live, const JsonTree& config) {
  KX_RETURN_IF_ERROR(CheckConfig(call, config));
  const JsonTree before = WithoutManagers(live);
  auto managers = managedfields::ReadManagers(ManagedFieldsOf(live));
  if (!managers) {
    return Fail(managers.error().WithContext("failed to decode managed fields"));
  }
  Writer writer = WriterOf(call);
  if (managers->empty() && call.managed_fields) {
    KX_ASSIGN_OR_RETURN(const JsonTree blank, BlankObject(*call.type));
    Writer earlier = writer;
    earlier.manager = kBeforeFirstApply;
    *managers = TrackUpdate(earlier, blank, before, {});
  }
  const bool force = BoolParam(call.query, "force");
  auto applied = managedfields::ApplyConfig(writer, before, config, std::move(*managers), force);
  if (!applied) {
    return Fail(Status(Reason::kUnknown,
                       "failed to create typed patch object (" + MetaString(config, "namespace") +
                           "/" + MetaString(config, "name") + "; " +
                           GvkText(call.type->ApiVersion(), call.type->kind) +
                           "): " + applied.error().message,
                       500));
  }
  if (!applied->conflicts.empty()) {
    return Fail(ConflictStatus(applied->conflicts));
  }
  KX_ASSIGN_OR_RETURN(JsonTree object, Canonical(*call.type, applied->object));
  SetManagers(call.managed_fields ? applied->managers : Managers(), object);
  return object;
}

}  // namespace kubexx::apiserver
