#include "kubexx/webhook/internal/review.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/codec/codec.h"

namespace kubexx::webhook::internal {
namespace {

using api::admission::v1::AdmissionReview;

http::Response BadRequest(int status, std::string why) {
  return {.status = status, .body = std::move(why) + "\n"};
}

bool IsJson(std::string_view content_type) {
  content_type = content_type.substr(0, content_type.find(';'));
  while (content_type.ends_with(' ')) {
    content_type.remove_suffix(1);
  }
  return content_type == "application/json";
}

}  // namespace

std::optional<http::Response> RefuseUnlessJson(const http::Request& request) {
  if (!IsJson(request.Header("Content-Type"))) {
    return BadRequest(415, "The content type must be application/json.");
  }
  return std::nullopt;
}

api::meta::v1::Status ToWire(const apimachinery::Status& status, bool success) {
  api::meta::v1::Status wire;
  wire.status = success ? "Success" : "Failure";
  wire.code = status.code != 0 ? status.code : (success ? 200 : 403);
  wire.reason = status.other_reason.empty() ? apimachinery::ToString(status.reason)
                                            : std::string_view(status.other_reason);
  wire.message = status.message;
  if (!status.details.causes.empty()) {
    auto& details = wire.details.emplace();
    for (const auto& cause : status.details.causes) {
      details.causes.push_back(
          {.reason = cause.reason, .message = cause.message, .field = cause.field});
    }
  }
  return wire;
}

std::optional<std::chrono::nanoseconds> TimeoutOf(std::string_view query) {
  constexpr std::string_view kName = "timeout=";
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view part = query.substr(0, end);
    if (part.starts_with(kName)) {
      const auto parsed = apimachinery::Duration::Parse(part.substr(kName.size()));
      if (parsed && parsed->nanos > 0) {
        return std::chrono::nanoseconds(parsed->nanos);
      }
      return std::nullopt;
    }
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return std::nullopt;
}

std::string EncodeResponse(const std::string& uid, Response response) {
  AdmissionReview review;
  auto& answer = review.response.emplace();
  answer.uid = uid;
  answer.allowed = response.allowed;
  if (!response.allowed || !response.status.message.empty() || response.status.code != 0) {
    answer.status = ToWire(response.status, response.allowed);
  }
  if (response.allowed && !response.patch.empty()) {
    answer.patch = apimachinery::Bytes(std::move(response.patch));
    answer.patch_type = "JSONPatch";
  }
  answer.audit_annotations = std::move(response.audit_annotations);
  answer.warnings = std::move(response.warnings);
  return codec::EncodeJson(review);
}

http::Response Respond(const http::Request& request,
                       const std::function<Response(const Call&)>& handler) {
  if (auto refused = RefuseUnlessJson(request)) {
    return *std::move(refused);
  }
  const auto review = codec::DecodeJson<AdmissionReview>(request.body);
  if (!review) {
    return BadRequest(
        400, "The body is no AdmissionReview of admission.k8s.io/v1: " + review.error().message);
  }
  if (!review->request.has_value() || review->request->uid.empty()) {
    return BadRequest(400, "The AdmissionReview has no request with a uid.");
  }
  Call call{.request = *review->request,
            .dry_run = review->request->dry_run.value_or(false),
            .stop = request.stop,
            .deadline = request.deadline};
  if (const auto timeout = TimeoutOf(request.query)) {
    call.deadline = std::min(
        call.deadline, std::chrono::steady_clock::now() +
                           std::min(*timeout, std::chrono::nanoseconds(std::chrono::hours(1))));
  }
  return {.content_type = "application/json",
          .body = EncodeResponse(call.request.uid, handler(call))};
}

}  // namespace kubexx::webhook::internal
