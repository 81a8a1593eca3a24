#include "kubexx/apiserver/endpoints/scale.h"

#include <utility>

#include "kubexx/api/registry.gen.h"
#include "kubexx/apiserver/endpoints/field_tracking.h"
#include "kubexx/apiserver/endpoints/formats.h"
#include "kubexx/apiserver/endpoints/server_metadata.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/stored_object.h"
#include "kubexx/codec/envelope.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

JsonTree ReplicasAt(const JsonTree& object, std::initializer_list<std::string_view> path) {
  const JsonTree* const found = object.At(path);
  return found == nullptr ? 0 : found->AsInt().value_or(0);
}

/// The value at a path of members.
const JsonTree* Follow(const JsonTree& object, const std::vector<std::string>& members) {
  const std::vector<std::string_view> path(members.begin(), members.end());
  return object.At(path);
}

std::int64_t CountAt(const JsonTree& object, const std::vector<std::string>& members) {
  const JsonTree* const found = Follow(object, members);
  return found == nullptr ? 0 : found->AsInt().value_or(0);
}

/// Of a custom resource, where its definition says.
JsonTree CustomScale(const schema::ScalePaths& paths, const JsonTree& object, JsonTree scale) {
  scale["spec"]["replicas"] = CountAt(object, paths.spec_replicas);
  scale["status"]["replicas"] = CountAt(object, paths.status_replicas);
  if (!paths.selector.empty()) {
    const JsonTree* const selector = Follow(object, paths.selector);
    if (selector != nullptr && selector->AsString() != nullptr && !selector->AsString()->empty()) {
      scale["status"]["selector"] = *selector;
    }
  }
  return scale;
}

Result<void> SetReplicas(const ResourceType& type, std::int64_t count, JsonTree& object) {
  if (!type.custom) {
    object["spec"]["replicas"] = count;
    return {};
  }
  JsonTree* at = &object;
  std::string path;
  for (const std::string& member : type.custom->scale.spec_replicas) {
    // What is no object would be replaced by one.
    if (!at->IsObject() && !at->IsNull()) {
      return Fail(Reason::kInvalid, "value cannot be set because " + path + " is not an object",
                  422);
    }
    at = &(*at)[member];
    path += "." + member;
  }
  *at = count;
  return {};
}

/// A Scale of an object that does not say how many replicas it wants is an error.
Result<void> CheckReplicas(const ResourceType& type, const JsonTree& object) {
  if (!type.custom || Follow(object, type.custom->scale.spec_replicas) != nullptr) {
    return {};
  }
  std::string path;
  for (const std::string& member : type.custom->scale.spec_replicas) {
    path += "." + member;
  }
  return Fail(Reason::kInternalError,
              "Internal error occurred: the spec replicas field \"" + path + "\" does not exist",
              500);
}

/// The labels of a selector as text, as autoscalers want it.
std::string SelectorText(const JsonTree& object) {
  const JsonTree* labels = object.At({"spec", "selector", "matchLabels"});
  if (labels == nullptr) {
    labels = object.At({"spec", "selector"});
  }
  return apimachinery::LabelSelector::FromMap(LabelMapOf(labels)).ToString();
}

Answer Respond(const Call& call, const JsonTree& object) {
  http::Response response;
  response.content_type = call.form.ContentType();
  KX_ASSIGN_OR_RETURN(response.body,
                      ObjectBody(call.form, ScaleType(), ScaleOf(*call.type, object).ToJson()));
  return response;
}

}  // namespace

const ResourceType& ScaleType() {
  static const ResourceType kType = [] {
    ResourceType type;
    type.group = "autoscaling";
    type.version = "v1";
    type.kind = "Scale";
    type.plural = "scales";
    type.schema = api::Registry().Find("autoscaling/v1", "Scale");
    return type;
  }();
  return kType;
}

JsonTree ScaleOf(const ResourceType& type, const JsonTree& object) {
  JsonTree scale = JsonTree::Object();
  scale["kind"] = "Scale";
  scale["apiVersion"] = "autoscaling/v1";
  for (const char* const field :
       {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    if (std::string text = MetaString(object, field); !text.empty()) {
      scale["metadata"][field] = std::move(text);
    }
  }
  if (type.custom) {
    return CustomScale(type.custom->scale, object, std::move(scale));
  }
  scale["spec"] = JsonTree::Object();
  if (const JsonTree replicas = ReplicasAt(object, {"spec", "replicas"}); replicas != JsonTree(0)) {
    scale["spec"]["replicas"] = replicas;
  }
  scale["status"]["replicas"] = ReplicasAt(object, {"status", "replicas"});
  if (std::string selector = SelectorText(object); !selector.empty()) {
    scale["status"]["selector"] = std::move(selector);
  }
  return scale;
}

Result<JsonTree> ReadScale(const Call& call) {
  const std::string& body = call.request.body;
  KX_ASSIGN_OR_RETURN(const BodyForm form, BodyFormOf(call.request));
  if (form == BodyForm::kProtobuf) {
    const auto envelope = codec::ReadEnvelope(body);
    return envelope ? CanonicalOfProtobuf(ScaleType(), envelope->raw)
                    : Result<JsonTree>(Fail(Reason::kBadRequest, envelope.error().message));
  }
  auto scale = JsonTree::Parse(body);
  if (!scale) {
    return Fail(Reason::kBadRequest, "the Scale is no JSON: " + scale.error().message);
  }
  return Canonical(ScaleType(), *scale);
}

Answer ScaleResponse(const Call& call, const JsonTree& object) { return Respond(call, object); }

Answer GetScale(const Call& call) {
  KX_ASSIGN_OR_RETURN(const JsonTree object,
                      call.objects.Get(*call.type, call.key(), call.request.stop));
  KX_RETURN_IF_ERROR(CheckReplicas(*call.type, object));
  return Respond(call, object);
}

Result<void> MutateScale(const Call& call, Admission& admission, const JsonTree& current,
                         JsonTree& object) {
  if (!admission.mutates()) {
    return {};
  }
  const JsonTree old = ScaleOf(*call.type, current);
  JsonTree scale = ScaleOf(*call.type, object);
  KX_RETURN_IF_ERROR(admission.Mutate(scale, &old));
  return SetReplicas(*call.type, CountAt(scale, {"spec", "replicas"}), object);
}

Answer UpdateScale(const Call& call, ObjectStore::Change change) {
  Admission admission(call, {.operation = "UPDATE", .posted = &ScaleType()});
  KX_ASSIGN_OR_RETURN(
      const JsonTree updated,
      call.objects.Update(
          *call.type, call.key(), WritePart::kObject,
          [&change, &call, &admission](const JsonTree& current) -> Result<JsonTree> {
            KX_ASSIGN_OR_RETURN(const JsonTree changed, change(ScaleOf(*call.type, current)));
            KX_ASSIGN_OR_RETURN(JsonTree scale, Canonical(ScaleType(), changed));
            KX_RETURN_IF_ERROR(CheckTarget(call, MetaString(scale, "name")));
            KX_RETURN_IF_ERROR(CheckNamespace(call, scale));
            KX_RETURN_IF_ERROR(CheckUid(*call.type, current, scale));
            if (admission.mutates()) {
              const JsonTree old = ScaleOf(*call.type, current);
              KX_RETURN_IF_ERROR(admission.Mutate(scale, &old));
            }
            const JsonTree* const replicas = scale.At({"spec", "replicas"});
            const auto count =
                replicas == nullptr ? std::optional<std::int64_t>(0) : replicas->AsInt();
            if (!count || *count < 0) {
              return Fail(Reason::kInvalid, "spec.replicas must be a number that is not negative",
                          422);
            }
            JsonTree object = current;
            KX_RETURN_IF_ERROR(SetReplicas(*call.type, *count, object));
            // Without one it is from the latest version, also of types whose objects need one.
            if (std::string version = MetaString(scale, "resourceVersion"); !version.empty()) {
              SetMeta(object, "resourceVersion", version);
            }
            TrackWrite(call, current, object);
            return object;
          },
          call.dry_run(), call.request.stop, admission.check()));
  return Respond(call, updated);
}

}  // namespace kubexx::apiserver
