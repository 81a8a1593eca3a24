#include "kubexx/reloader/admission/template_admission.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/logging/log.h"
#include "kubexx/reloader/admission/stamped_object.h"
#include "kubexx/webhook/json_patch.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

/// Returns the kind only if a rollout changes its template and the API server itself serves it.
std::optional<WorkloadKind> AdmittedKind(const webhook::AdmissionRequest& request) {
  for (const WorkloadKind kind :
       {WorkloadKind::kDeployment, WorkloadKind::kStatefulSet, WorkloadKind::kDaemonSet}) {
    if (request.resource.group == ResourceOf(kind).group &&
        request.resource.resource == ResourceOf(kind).plural && request.sub_resource.empty()) {
      return kind;
    }
  }
  return std::nullopt;
}

metrics::Counter AnswersCounter(metrics::Registry* registry, const char* result) {
  return registry == nullptr
             ? metrics::Counter()
             : registry->Counter("kubexx_reloader_admission_total",
                                 "Answers to the API server about workloads that are created, or "
                                 "whose pod template changes",
                                 {{"result", result}});
}

}  // namespace

TemplateAdmission::TemplateAdmission(Stamp stamp, metrics::Registry* registry)
    : stamp_(std::move(stamp)),
      stamped_(AnswersCounter(registry, "stamped")),
      unchanged_(AnswersCounter(registry, "unchanged")),
      failed_(AnswersCounter(registry, "failed")) {}

Result<std::string> TemplateAdmission::PatchFor(const webhook::Call& call) const {
  const webhook::AdmissionRequest& request = call.request;
  const auto kind = AdmittedKind(request);
  if (!kind || (request.operation != "CREATE" && request.operation != "UPDATE")) {
    return std::string();
  }
  KX_ASSIGN_OR_RETURN(JsonTree object, JsonTree::Parse(request.object.raw));
  if (!object.IsObject()) {
    return Fail(Reason::kMalformed, "the object is not a JSON object");
  }
  if (request.operation == "UPDATE") {
    KX_ASSIGN_OR_RETURN(const JsonTree before, JsonTree::Parse(request.old_object.raw));
    // A write of a status or of a scale, or a write of an operator, makes no pods that begin with
    // other data than their template says.
    if (HasSameTemplateOfOthers(before, object)) {
      return std::string();
    }
    // Whoever replaces an object need not name its UID: API servers set it after this call.
    const JsonTree* metadata = before.Find("metadata");
    if (metadata != nullptr && object["metadata"].TextAt("uid").empty()) {
      object["metadata"]["uid"] = metadata->TextAt("uid");
    }
  }
  object["metadata"]["namespace"] = request.namespace_;  // which the object need not name
  KX_ASSIGN_OR_RETURN(const JsonTree stamped, stamp_(*kind, object, call.stop));
  return stamped == object
             ? std::string()
             : webhook::MakeJsonPatch(request.object.raw, object.ToJson(), stamped.ToJson());
}

webhook::Response TemplateAdmission::Answer(const webhook::Call& call) const {
  webhook::Response response = webhook::Response::Allowed();
  apimachinery::Status why;
  try {
    auto patch = PatchFor(call);
    if (patch) {
      (patch->empty() ? unchanged_ : stamped_).Increment();
      response.patch = *std::move(patch);
      return response;
    }
    why = patch.error();
  } catch (const std::exception& error) {  // out of memory
    why = apimachinery::Status(Reason::kInternalError, error.what());
  }
  failed_.Increment();
  logging::Warning(
      "Cannot write the digests of its sources on a workload that is being stored; "
      "the operator makes up for it",
      {{"workload", call.request.name},
       {"kind", call.request.kind.kind},
       {"namespace", call.request.namespace_},
       {"error", why}});
  return response;
}

}  // namespace kubexx::reloader
