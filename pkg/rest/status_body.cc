#include "kubexx/rest/status_body.h"

#include <utility>

#include "kubexx/api/meta/v1/schema.gen.h"
#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/codec/envelope.h"

namespace kubexx::rest {
namespace {

using apimachinery::Result;
using apimachinery::Status;
using apimachinery::StatusDetails;

StatusDetails Convert(const api::meta::v1::StatusDetails& wire) {
  StatusDetails details{.name = wire.name,
                        .group = wire.group,
                        .kind = wire.kind,
                        .uid = wire.uid,
                        .retry_after = std::chrono::seconds(wire.retry_after_seconds)};
  for (const auto& cause : wire.causes) {
    details.causes.push_back(
        {.reason = cause.reason, .message = cause.message, .field = cause.field});
  }
  return details;
}

Status Convert(const api::meta::v1::Status& wire) {
  Status status(apimachinery::ParseReason(wire.reason), wire.message, wire.code);
  if (wire.details.has_value()) {
    status.details = Convert(*wire.details);
  }
  if (status.reason == apimachinery::Reason::kUnknown) {
    status.other_reason = wire.reason;
    status.reason = apimachinery::ReasonForHttpCode(wire.code);
  }
  return status;
}

}  // namespace

Result<Status> DecodeStatus(codec::Encoding encoding, std::string_view bytes) {
  if (encoding == codec::Encoding::kProtobuf && bytes.starts_with(codec::kEnvelopeMagic)) {
    KX_ASSIGN_OR_RETURN(const codec::Envelope envelope, codec::ReadEnvelope(bytes));
    if (envelope.kind != "Status") {
      return apimachinery::Fail(apimachinery::Malformed("kind", "is not Status"));
    }
    bytes = envelope.raw;
  }
  KX_ASSIGN_OR_RETURN(const api::meta::v1::Status wire,
                      codec::Decode<api::meta::v1::Status>(encoding, bytes));
  return Convert(wire);
}

}  // namespace kubexx::rest
