#include "kubexx/apiserver/endpoints/call/deletion_request.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "kubexx/api/meta/v1/schema.gen.h"
#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apiserver/endpoints/request/request_body.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/object_form.h"
#include "kubexx/codec/envelope.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

constexpr const char* kKind = "DeleteOptions";
constexpr const char* kNotDeleteOptions = "the body of a deletion has to be DeleteOptions";

ResourceType DeleteOptionsType() {
  ResourceType type;
  type.kind = kKind;
  type.version = "v1";
  type.schema = &codec::SchemaOf<api::meta::v1::DeleteOptions>();
  return type;
}

/// Reads DeleteOptions from the query, where they are when there is no body.
Result<JsonTree> DeleteOptionsOfQuery(const Query& query) {
  JsonTree options = JsonTree::Object();
  if (query.contains("gracePeriodSeconds")) {
    KX_ASSIGN_OR_RETURN(const std::int64_t seconds, NumberParam(query, "gracePeriodSeconds"));
    options["gracePeriodSeconds"] = seconds;
  }
  if (query.contains("orphanDependents")) {
    options["orphanDependents"] = BoolParam(query, "orphanDependents");
  }
  if (const std::string_view policy = Param(query, "propagationPolicy"); !policy.empty()) {
    options["propagationPolicy"] = policy;
  }
  return options;
}

}  // namespace

Result<JsonTree> DeleteOptionsOf(const Call& call) {
  const std::string& body = call.request.body;
  if (body.empty()) {
    return DeleteOptionsOfQuery(call.query);
  }
  KX_ASSIGN_OR_RETURN(const BodyForm form, BodyFormOf(call.request));
  if (form != BodyForm::kProtobuf) {
    KX_ASSIGN_OR_RETURN(const std::string text, TextOfBody(body, form));
    KX_ASSIGN_OR_RETURN(JsonTree options, ObjectOfJson(text));
    if (const std::string kind = StringAt(options, {"kind"}); !kind.empty() && kind != kKind) {
      return Fail(Reason::kBadRequest, std::string(kNotDeleteOptions) + ", not a " + kind);
    }
    // A member of a wrong type does not count as missing, and nothing is deleted then.
    KX_RETURN_IF_ERROR(Canonical(DeleteOptionsType(), options));
    return options;
  }
  const auto envelope = codec::ReadEnvelope(body);
  if (!envelope || envelope->kind != kKind) {
    return Fail(Reason::kBadRequest, kNotDeleteOptions);
  }
  return CanonicalOfProtobuf(DeleteOptionsType(), envelope->raw);
}

bool IsDryRun(const Call& call, const JsonTree& options) {
  const JsonTree* const dry_run = options.Find("dryRun");
  return call.dry_run() || (dry_run != nullptr && dry_run->size() > 0);
}

}  // namespace kubexx::apiserver
