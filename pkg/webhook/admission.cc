#include "kubexx/webhook/admission.h"

#include "kubexx/webhook/json_patch.h"

namespace kubexx::webhook::internal {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;

Result<void> DecodeObject(const codec::TypeSchema& schema, std::string_view what,
                          std::string_view raw, void* object) {
  if (auto decoded = codec::DecodeJson(schema, raw, object); !decoded) {
    return Fail(Status(
        Reason::kBadRequest,
        std::string(what) + " is no " + std::string(schema.name) + ": " + decoded.error().message,
        400));
  }
  return {};
}

void AddPatch(const Call& call, std::string_view before, std::string_view after,
              Response& response) {
  if (!response.allowed || !response.patch.empty() || before == after) {
    return;
  }
  auto patch = MakeJsonPatch(call.request.object.raw, before, after);
  if (patch) {
    response.patch = std::move(*patch);
  } else {
    response =
        Response::Errored(Status(Reason::kInternalError, "patch: " + patch.error().message, 500));
  }
}

}  // namespace kubexx::webhook::internal
