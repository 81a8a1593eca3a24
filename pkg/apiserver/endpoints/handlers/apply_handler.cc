// Handles server-side apply.
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/admission/admit.h"
#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/apiserver/endpoints/call/field_tracking.h"
#include "kubexx/apiserver/endpoints/call/field_validation.h"
#include "kubexx/apiserver/endpoints/handlers/handlers.h"
#include "kubexx/apiserver/endpoints/handlers/scale.h"
#include "kubexx/apiserver/endpoints/preparation/prepare.h"
#include "kubexx/apiserver/endpoints/preparation/server_metadata.h"
#include "kubexx/apiserver/endpoints/registry/scale_object.h"
#include "kubexx/apiserver/endpoints/validation/cluster/certificate_requests.h"
#include "kubexx/apiserver/endpoints/validation/objects/type_warnings.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/status_json.h"
#include "kubexx/apiserver/object/write_part.h"
#include "kubexx/base/text/join.h"
#include "kubexx/codec/yaml.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

/// A config as the client sent it.
struct Config {
  JsonTree tree{};
  std::vector<std::string> duplicates{};  ///< see codec::YamlToJson
};

/// The first document of the body, which is YAML or JSON.
Result<Config> ReadConfig(const Call& call) {
  const std::string& body = call.request.body;
  Config config;
  if (auto json = JsonTree::Parse(body)) {
    config.tree = std::move(*json);
    // kube-apiserver reads JSON as YAML.
    if (!FieldFaults(managedfields::Type::Anything(), body).empty() &&
        !codec::YamlToJson(body, &config.duplicates)) {
      config.duplicates.clear();
    }
    return config;
  }
  const auto documents = codec::YamlToJson(body, &config.duplicates);
  if (!documents || documents->empty()) {
    return Fail(Reason::kBadRequest,
                "error decoding YAML: " + (documents ? "no document" : documents.error().message));
  }
  KX_ASSIGN_OR_RETURN(config.tree, JsonTree::Parse(documents->front()));
  return config;
}

/// Returns the part of the object that a Scale describes.
Result<JsonTree> ConfigOfScale(const Call& call, const JsonTree& scale) {
  const JsonTree* const replicas = scale.At({"spec", "replicas"});
  if (StringAt(scale, {"kind"}) != "Scale" || StringAt(scale, {"apiVersion"}) != "autoscaling/v1" ||
      replicas == nullptr) {
    return Fail(Reason::kBadRequest, "the config has to be an autoscaling/v1 Scale with replicas");
  }
  if (const auto unknown = UnknownFields(MergeTypeOf(ScaleType()), scale); !unknown.empty()) {
    return Fail(Reason::kUnknown,
                "failed to create typed patch object (" + call.key().ToString() +
                    "; autoscaling/v1, Kind=Scale): " + base::Join(unknown, ", "),
                500);
  }
  JsonTree config = JsonTree::Object();
  config["apiVersion"] = call.type->ApiVersion();
  config["kind"] = call.type->kind;
  config["metadata"]["name"] = call.info.name;
  for (const char* const field : {"name", "namespace", "uid", "resourceVersion"}) {
    if (std::string given = MetaString(scale, field); !given.empty()) {
      config["metadata"][field] = std::move(given);
    }
  }
  JsonTree* at = &config;
  for (const std::string& member : ReplicasPath(*call.type)) {
    at = &(*at)[member];
  }
  *at = *replicas;
  return config;
}

Result<JsonTree> CreateApplied(const Call& call, const JsonTree& config) {
  if (!call.info.subresource.empty()) {
    return Fail(NotFound(*call.type, call.info.name));
  }
  KX_ASSIGN_OR_RETURN(const JsonTree blank, BlankObject(*call.type));
  KX_ASSIGN_OR_RETURN(JsonTree object, ApplyTo(call, blank, config));
  if (const std::string uid = MetaString(object, "uid"); !uid.empty()) {
    return Fail(Conflict(*call.type, call.info.name,
                         "uid mismatch: the provided object specified uid " + uid +
                             ", and no existing object was found"));
  }
  if (const std::string name = MetaString(object, "name"); name != call.info.name) {
    return Fail(Reason::kBadRequest, "the name of the object (" + name +
                                         ") does not match the name on the URL (" + call.info.name +
                                         ")");
  }
  // As in kube-apiserver, there is no version to compare with.
  SetMeta(object, "resourceVersion", "");
  KX_RETURN_IF_ERROR(call.CheckCreate());
  Admission admission(call, {.operation = "CREATE"});
  KX_RETURN_IF_ERROR(admission.MutateNew(object));
  KX_RETURN_IF_ERROR(StampRequester(*call.type, call.user, object));
  KX_RETURN_IF_ERROR(call.CheckGrant(nullptr, object));
  return call.objects.Create(*call.type, call.info.namespace_, std::move(object), call.dry_run(),
                             call.request.stop, admission.check());
}

/// For `old_finalizers` see AppendTypeWarnings.
Answer Respond(const Call& call, const JsonTree& object, int code,
               const std::vector<std::string>& old_finalizers,
               const std::vector<std::string>& warnings) {
  KX_ASSIGN_OR_RETURN(http::Response response, call.of_scale()
                                                   ? ScaleResponse(call, object)
                                                   : ObjectResponse(call, object, code));
  std::vector<std::string> all = warnings;
  if (!call.of_scale()) {
    AppendTypeWarnings(*call.type, old_finalizers, object, all);
  }
  AddWarnings(all, response);
  return response;
}

}  // namespace

Answer HandleApply(const Call& call) {
  KX_RETURN_IF_ERROR(CheckManager(call, true));
  KX_ASSIGN_OR_RETURN(Config sent, ReadConfig(call));
  KX_ASSIGN_OR_RETURN(const std::vector<std::string> warnings, CheckApplied(call, sent.duplicates));
  JsonTree config = std::move(sent.tree);
  const bool of_scale = call.of_scale();
  if (of_scale) {
    KX_ASSIGN_OR_RETURN(config, ConfigOfScale(call, config));
  }
  const WritePart part = WritePartOf(call.subresource);
  std::vector<std::string> old_finalizers;
  Admission admission(call, {.operation = "UPDATE", .posted = of_scale ? &ScaleType() : nullptr});
  bool found = false;  // a webhook may deny a request with NotFound, too
  const auto change = [&](const JsonTree& current) -> Result<JsonTree> {
    found = true;
    old_finalizers = FinalizersOf(current);
    if (of_scale) {
      KX_RETURN_IF_ERROR(CheckUid(*call.type, current, config));
    }
    KX_ASSIGN_OR_RETURN(JsonTree object, ApplyTo(call, current, config));
    KX_RETURN_IF_ERROR(of_scale ? MutateScale(call, admission, current, object)
                                : admission.Mutate(object, &current));
    KX_RETURN_IF_ERROR(call.CheckGrant(&current, object));
    return object;
  };
  // A webhook may deny a request with one of the two reasons for another attempt.
  constexpr int kMostTries = 10;
  for (int tries = 1;; ++tries) {
    found = false;
    const auto updated = call.objects.Update(*call.type, call.key(), part, change, call.dry_run(),
                                             call.request.stop, admission.check());
    if (updated) {
      return Respond(call, *updated, 200, old_finalizers, warnings);
    }
    if (found || !apimachinery::IsObjectNotFound(updated.error()) ||
        call.request.stop.stop_requested()) {
      return Fail(updated.error());
    }
    const auto created = CreateApplied(call, config);
    if (created) {
      return Respond(call, *created, 201, {}, warnings);
    }
    if (created.error().reason != Reason::kAlreadyExists || tries >= kMostTries) {
      return Fail(created.error());
    }
    // Another client was faster, so the object exists now.
  }
}

}  // namespace kubexx::apiserver
