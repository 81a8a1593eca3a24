// Handles create, update, patch, delete and deletecollection.
#include <algorithm>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/admission/admit.h"
#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/apiserver/endpoints/call/deletion_request.h"
#include "kubexx/apiserver/endpoints/call/field_tracking.h"
#include "kubexx/apiserver/endpoints/call/field_validation.h"
#include "kubexx/apiserver/endpoints/handlers/handlers.h"
#include "kubexx/apiserver/endpoints/handlers/object_list.h"
#include "kubexx/apiserver/endpoints/handlers/scale.h"
#include "kubexx/apiserver/endpoints/patch/patch.h"
#include "kubexx/apiserver/endpoints/preparation/prepare.h"
#include "kubexx/apiserver/endpoints/preparation/server_metadata.h"
#include "kubexx/apiserver/endpoints/registry/custom_types.h"
#include "kubexx/apiserver/endpoints/registry/scale_object.h"
#include "kubexx/apiserver/endpoints/request/delete_options.h"
#include "kubexx/apiserver/endpoints/request/request_body.h"
#include "kubexx/apiserver/endpoints/response/formats.h"
#include "kubexx/apiserver/endpoints/validation/cluster/certificate_requests.h"
#include "kubexx/apiserver/endpoints/validation/objects/type_warnings.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/object_form.h"
#include "kubexx/apiserver/object/status_json.h"
#include "kubexx/apiserver/object/write_part.h"
#include "kubexx/codec/envelope.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::ListOptions;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using codec::JsonTree;

http::Response DeletedStatus(const Call& call, const JsonTree& object) {
  JsonTree status = JsonTree::Object();
  status["kind"] = "Status";
  status["apiVersion"] = "v1";
  status["metadata"] = JsonTree::Object();
  status["status"] = "Success";
  status["details"]["name"] = MetaString(object, "name");
  if (!call.type->group.empty()) {
    status["details"]["group"] = call.type->group;
  }
  status["details"]["kind"] = call.type->plural;
  status["details"]["uid"] = MetaString(object, "uid");
  http::Response response;
  response.content_type = kJsonType;
  response.body = status.ToJson();
  return response;
}

/// Returns the answer to a write that was made, with warnings for the client. For `old_finalizers`
/// see AppendTypeWarnings.
Answer Written(const Call& call, const JsonTree& object,
               const std::vector<std::string>& old_finalizers,
               const std::vector<std::string>& warnings, int code = 200) {
  KX_ASSIGN_OR_RETURN(http::Response response, ObjectResponse(call, object, code));
  std::vector<std::string> all = warnings;
  AppendTypeWarnings(*call.type, old_finalizers, object, all);
  AddWarnings(all, response);
  return response;
}

/// Whether kube-apiserver's admission forbids to delete the namespace.
bool IsImmortal(std::string_view namespace_) {
  return namespace_ == "default" || namespace_ == "kube-system" || namespace_ == "kube-public";
}

/// Whether objects of the call's type can be patched with a patch of this media type.
bool IsPatchType(const Call& call, std::string_view type) {
  return type == "application/json-patch+json" || type == "application/merge-patch+json" ||
         (type == "application/strategic-merge-patch+json" && call.type->schema != nullptr);
}

Status UnknownFormat(const std::string& type) {
  return {Reason::kUnsupportedMediaType,
          "the body of the request was in an unknown format: \"" + type + "\""};
}

/// Creates an object as the client sent it.
Answer Make(const Call& call, JsonTree object, const std::vector<std::string>& warnings) {
  KX_ASSIGN_OR_RETURN(const JsonTree blank, BlankObject(*call.type));
  SetDefaults(*call.type, object);
  TrackWrite(call, blank, object);
  Admission admission(call, {.operation = "CREATE"});
  KX_RETURN_IF_ERROR(admission.MutateNew(object));
  KX_RETURN_IF_ERROR(StampRequester(*call.type, call.user, object));
  KX_RETURN_IF_ERROR(call.CheckGrant(nullptr, object));
  KX_ASSIGN_OR_RETURN(const JsonTree created,
                      call.objects.Create(*call.type, call.info.namespace_, std::move(object),
                                          call.dry_run(), call.request.stop, admission.check()));
  return Written(call, created, {}, warnings, 201);
}

/// Creates the object of an update when it does not exist.
Answer CreateByUpdate(const Call& call, JsonTree object, const std::vector<std::string>& warnings) {
  if (const std::string uid = MetaString(object, "uid"); !uid.empty()) {
    return Fail(Conflict(
        *call.type, call.info.name,
        "Precondition failed: UID in precondition: " + uid + ", and there is no such object"));
  }
  KX_RETURN_IF_ERROR(call.CheckCreate());
  SetMeta(object, "resourceVersion", "");
  SetMeta(object, "name", call.info.name);
  return Make(call, std::move(object), warnings);
}

/// Applies the request's patch, which has the media type `type`, to an object of the type
/// `resource`.
Result<JsonTree> Patched(const ResourceType& resource, const std::string& type,
                         const JsonTree& patch, const JsonTree& current) {
  if (type == "application/json-patch+json") {
    return ApplyJsonPatch(current, patch);
  }
  if (type == "application/merge-patch+json") {
    return ApplyMergePatch(current, patch);
  }
  if (type == "application/strategic-merge-patch+json" && resource.schema != nullptr) {
    return ApplyStrategicMergePatch(current, patch, MergeTypeOf(resource));
  }
  return Fail(UnknownFormat(type));
}

}  // namespace

Result<void> CheckTarget(const Call& call, const std::string& name) {
  if (name.empty()) {
    return Fail(Reason::kBadRequest,
                "the name of the object (" + call.info.name +
                    " based on URL) was undeterminable: name must be provided");
  }
  if (name != call.info.name) {
    return Fail(Reason::kBadRequest, "the name of the object (" + name +
                                         ") does not match the name on the URL (" + call.info.name +
                                         ")");
  }
  return {};
}

Result<void> CheckNamespace(const Call& call, const JsonTree& object) {
  const std::string namespace_ = MetaString(object, "namespace");
  if (!call.type->namespaced || namespace_.empty() || namespace_ == call.key().namespace_) {
    return {};
  }
  return Fail(Reason::kBadRequest,
              "the namespace of the provided object does not match the namespace sent on the "
              "request");
}

Result<JsonTree> ReadBody(const Call& call, std::vector<std::string>* warnings) {
  return ReadBodyAs(call, *call.type, warnings);
}

Result<JsonTree> ReadBodyAs(const Call& call, const ResourceType& type,
                            std::vector<std::string>* warnings) {
  const std::string& body = call.request.body;
  KX_ASSIGN_OR_RETURN(const BodyForm form, BodyFormOf(call.request));
  if (form == BodyForm::kProtobuf) {
    const auto envelope = codec::ReadEnvelope(body);
    if (!envelope) {
      return Fail(Reason::kBadRequest,
                  "the protobuf body cannot be read: " + envelope.error().message);
    }
    if (envelope->kind != type.kind || envelope->api_version != type.ApiVersion()) {
      return Fail(Reason::kBadRequest, "the object provided is a " +
                                           std::string(envelope->api_version) + " " +
                                           std::string(envelope->kind));
    }
    return CanonicalOfProtobuf(type, envelope->raw);
  }
  std::vector<std::string> duplicates;
  KX_ASSIGN_OR_RETURN(const std::string text, TextOfBody(body, form, &duplicates));
  KX_ASSIGN_OR_RETURN(JsonTree object, ObjectOfJson(text));
  const std::string version = StringAt(object, {"apiVersion"});
  const std::string kind = StringAt(object, {"kind"});
  // Go knows the type of a built-in object from the request, but not that of a custom one.
  if (type.custom && kind.empty()) {
    return Fail(Reason::kBadRequest, "Object 'Kind' is missing in the data");
  }
  if (type.custom && version.empty()) {
    return Fail(Reason::kBadRequest,
                "the API version in the data () does not match the expected API version (" +
                    type.ApiVersion() + ")");
  }
  if ((!version.empty() && version != type.ApiVersion()) || (!kind.empty() && kind != type.kind)) {
    return Fail(Reason::kBadRequest, version + ", Kind=" + kind +
                                         " in the data does not match the expected " +
                                         type.ApiVersion() + ", Kind=" + type.kind);
  }
  if (warnings != nullptr) {
    KX_ASSIGN_OR_RETURN(*warnings, CheckFields(call, type, text, duplicates));
  }
  return CanonicalOfSent(type, std::move(object));
}

Answer HandleCreate(const Call& call) {
  KX_RETURN_IF_ERROR(CheckManager(call, false));
  std::vector<std::string> warnings;
  KX_ASSIGN_OR_RETURN(JsonTree object, ReadBody(call, &warnings));
  KX_RETURN_IF_ERROR(CheckNamespace(call, object));
  return Make(call, std::move(object), warnings);
}

Answer HandleUpdate(const Call& call) {
  KX_RETURN_IF_ERROR(CheckManager(call, false));
  if (call.of_scale()) {
    std::vector<std::string> warnings;
    KX_ASSIGN_OR_RETURN(const JsonTree scale, ReadBodyAs(call, ScaleType(), &warnings));
    Answer updated =
        UpdateScale(call, [&scale](const JsonTree&) -> Result<JsonTree> { return scale; });
    if (updated) {
      AddWarnings(warnings, *updated);
    }
    return updated;
  }
  std::vector<std::string> warnings;
  KX_ASSIGN_OR_RETURN(JsonTree sent, ReadBody(call, &warnings));
  KX_RETURN_IF_ERROR(CheckTarget(call, MetaString(sent, "name")));
  KX_RETURN_IF_ERROR(CheckNamespace(call, sent));
  std::vector<std::string> old_finalizers;
  Admission admission(call, {.operation = "UPDATE"});
  bool found = false;  // a webhook may deny a request with NotFound, too
  const auto change = [&](const JsonTree& current) -> Result<JsonTree> {
    found = true;
    KX_RETURN_IF_ERROR(CheckUid(*call.type, current, sent));
    old_finalizers = FinalizersOf(current);
    JsonTree object = sent;
    SetDefaults(*call.type, object);
    TrackWrite(call, current, object);
    KX_RETURN_IF_ERROR(admission.Mutate(object, &current));
    KX_RETURN_IF_ERROR(call.CheckGrant(&current, object));
    return object;
  };
  const bool creates = call.subresource == nullptr && call.type->rules.created_by_update;
  constexpr int kMostTries = 10;
  for (int tries = 1;; ++tries) {
    found = false;
    const auto updated =
        call.objects.Update(*call.type, call.key(), WritePartOf(call.subresource), change,
                            call.dry_run(), call.request.stop, admission.check());
    if (updated) {
      return Written(call, *updated, old_finalizers, warnings);
    }
    if (!creates || found || !apimachinery::IsObjectNotFound(updated.error()) ||
        call.request.stop.stop_requested()) {
      return Fail(updated.error());
    }
    Answer created = CreateByUpdate(call, sent, warnings);
    if (created || created.error().reason != Reason::kAlreadyExists || tries >= kMostTries) {
      return created;
    }
    // Another client was faster, so the object exists now.
  }
}

Answer HandlePatch(const Call& call) {
  const std::string type = ContentTypeOf(call.request);
  if (type == "application/apply-patch+yaml") {
    return HandleApply(call);
  }
  KX_RETURN_IF_ERROR(CheckManager(call, false));
  if (!IsPatchType(call, type)) {
    return Fail(UnknownFormat(type));
  }
  const auto patch = JsonTree::Parse(call.request.body);
  if (!patch) {
    return Fail(Reason::kBadRequest, "the patch is no JSON: " + patch.error().message);
  }
  std::vector<std::string> warnings;
  if (call.of_scale()) {
    Answer scaled = UpdateScale(call, [&](const JsonTree& scale) -> Result<JsonTree> {
      KX_ASSIGN_OR_RETURN(JsonTree patched, Patched(ScaleType(), type, *patch, scale));
      KX_RETURN_IF_ERROR(CheckPatchedKind(ScaleType(), patched));
      KX_ASSIGN_OR_RETURN(warnings, CheckPatched(call, ScaleType(), patched));
      return patched;
    });
    if (scaled) {
      AddWarnings(warnings, *scaled);
    }
    return scaled;
  }
  std::vector<std::string> old_finalizers;
  Admission admission(call, {.operation = "UPDATE"});
  const auto change = [&](const JsonTree& current) -> Result<JsonTree> {
    old_finalizers = FinalizersOf(current);
    KX_ASSIGN_OR_RETURN(JsonTree patched, Patched(*call.type, type, *patch, current));
    KX_RETURN_IF_ERROR(CheckPatchedKind(*call.type, patched));
    KX_ASSIGN_OR_RETURN(warnings, CheckPatched(call, *call.type, patched));
    auto canonical = CanonicalOfSent(*call.type, std::move(patched));
    if (!canonical) {  // The patched object is invalid, and not the request's body.
      return Fail(Reason::kInvalid, canonical.error().message, 422);
    }
    JsonTree object = std::move(*canonical);
    KX_RETURN_IF_ERROR(CheckTarget(call, MetaString(object, "name")));
    SetDefaults(*call.type, object);
    TrackWrite(call, current, object);
    KX_RETURN_IF_ERROR(admission.Mutate(object, &current));
    KX_RETURN_IF_ERROR(call.CheckGrant(&current, object));
    return object;
  };
  KX_ASSIGN_OR_RETURN(
      const JsonTree updated,
      call.objects.Update(*call.type, call.key(), WritePartOf(call.subresource), change,
                          call.dry_run(), call.request.stop, admission.check()));
  return Written(call, updated, old_finalizers, warnings);
}

Answer HandleDelete(const Call& call) {
  KX_ASSIGN_OR_RETURN(const JsonTree tree, DeleteOptionsOf(call));
  KX_RETURN_IF_ERROR(CheckDryRun(tree));
  KX_ASSIGN_OR_RETURN(const DeleteOptions options, ReadDeleteOptions(tree));
  const bool dry_run = IsDryRun(call, tree);
  if (call.type->rules.holds_objects && IsImmortal(call.info.name)) {
    return Fail(Forbidden(*call.type, call.info.name, "this namespace may not be deleted"));
  }
  Admission admission(call, {.operation = "DELETE", .options = tree, .dry_run = dry_run});
  KX_ASSIGN_OR_RETURN(const DeleteOutcome outcome,
                      call.objects.Delete(*call.type, call.key(), options, dry_run,
                                          call.request.stop, admission.check()));
  return outcome.gone && !call.type->rules.answers_with_deleted
             ? Answer(DeletedStatus(call, outcome.object))
             : ObjectResponse(call, outcome.object);
}

Answer HandleDeleteCollection(const Call& call) {
  KX_ASSIGN_OR_RETURN(const ListOptions options, ListOptionsOf(call.query));
  KX_ASSIGN_OR_RETURN(const JsonTree tree, DeleteOptionsOf(call));
  KX_RETURN_IF_ERROR(CheckDryRun(tree));
  KX_ASSIGN_OR_RETURN(const DeleteOptions delete_options, ReadDeleteOptions(tree));
  const bool dry_run = IsDryRun(call, tree);
  ListBody body(call.form, *call.type);
  std::vector<apimachinery::ObjectKey> keys;
  const auto head =
      ReadList(call, options, [&](const apimachinery::ObjectKey& key, std::string_view json) {
        keys.push_back(key);
        return body.Add(json);
      });
  if (!head) {
    return ListError(options, head.error());
  }
  for (const apimachinery::ObjectKey& key : keys) {
    Admission admission(
        call, {.operation = "DELETE", .name = key.name, .options = tree, .dry_run = dry_run});
    const auto outcome = call.objects.Delete(*call.type, key, delete_options, dry_run,
                                             call.request.stop, admission.check());
    // A webhook may deny a request with that reason, too.
    if (!outcome && !apimachinery::IsObjectNotFound(outcome.error())) {
      return Fail(outcome.error());
    }
  }
  KX_ASSIGN_OR_RETURN(std::string text, body.Finish(*head));
  http::Response response;
  response.content_type = call.form.ContentType();
  response.body = std::move(text);
  return response;
}

}  // namespace kubexx::apiserver
