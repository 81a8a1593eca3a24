#include "kubexx/apiserver/endpoints/handlers/scale.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "kubexx/apiserver/endpoints/call/field_tracking.h"
#include "kubexx/apiserver/endpoints/handlers/handlers.h"
#include "kubexx/apiserver/endpoints/preparation/server_metadata.h"
#include "kubexx/apiserver/endpoints/registry/scale_object.h"
#include "kubexx/apiserver/endpoints/response/formats.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/object_form.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

Answer Respond(const Call& call, const JsonTree& object) {
  http::Response response;
  response.content_type = call.form.ContentType();
  KX_ASSIGN_OR_RETURN(response.body,
                      ObjectBody(call.form, ScaleType(), ScaleOf(*call.type, object).ToJson()));
  return response;
}

/// In the Scale of an object without the field for its replicas. As in kube-apiserver, it tells
/// whether a request sets them.
constexpr std::int64_t kNoReplicas = std::numeric_limits<std::int32_t>::min();

/// The Scale of an object that a request is about to scale.
JsonTree ScaleBefore(const Call& call, const JsonTree& object) {
  JsonTree scale = ScaleOf(*call.type, object);
  if (!CheckReplicas(*call.type, object)) {
    scale["spec"]["replicas"] = kNoReplicas;
  }
  return scale;
}

/// Returns the replicas that a request wants.
Result<std::int64_t> WantedBy(const Call& call, const JsonTree& scale) {
  const JsonTree* const replicas = scale.At({"spec", "replicas"});
  const auto count = replicas == nullptr ? std::optional<std::int64_t>(0) : replicas->AsInt();
  if (count == kNoReplicas) {
    std::string path;
    for (const std::string& member : ReplicasPath(*call.type)) {
      path += "." + member;
    }
    return Fail(Reason::kBadRequest, "the spec replicas field \"" + path + "\" cannot be empty");
  }
  if (!count || *count < 0) {
    return Fail(Reason::kInvalid, "spec.replicas must be a number that is not negative", 422);
  }
  return *count;
}

}  // namespace

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
  return SetReplicas(*call.type, ReplicasOfScale(scale), object);
}

Answer UpdateScale(const Call& call, ObjectStore::Change change) {
  Admission admission(call, {.operation = "UPDATE", .posted = &ScaleType()});
  KX_ASSIGN_OR_RETURN(
      const JsonTree updated,
      call.objects.Update(
          *call.type, call.key(), WritePart::kObject,
          [&change, &call, &admission](const JsonTree& current) -> Result<JsonTree> {
            KX_ASSIGN_OR_RETURN(const JsonTree changed, change(ScaleBefore(call, current)));
            KX_ASSIGN_OR_RETURN(JsonTree scale, Canonical(ScaleType(), changed));
            KX_RETURN_IF_ERROR(CheckTarget(call, MetaString(scale, "name")));
            KX_RETURN_IF_ERROR(CheckNamespace(call, scale));
            KX_RETURN_IF_ERROR(CheckUid(*call.type, current, scale));
            if (admission.mutates()) {
              const JsonTree old = ScaleOf(*call.type, current);
              KX_RETURN_IF_ERROR(admission.Mutate(scale, &old));
            }
            KX_ASSIGN_OR_RETURN(const std::int64_t count, WantedBy(call, scale));
            JsonTree object = current;
            KX_RETURN_IF_ERROR(SetReplicas(*call.type, count, object));
            // Without a version in the request, the scale is for the latest version, even if
            // updates of the type require a version.
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
