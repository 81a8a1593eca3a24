/// @file
/// Reads and writes AdmissionReviews over HTTP.
#ifndef KUBEXX_WEBHOOK_INTERNAL_REVIEW_H_
#define KUBEXX_WEBHOOK_INTERNAL_REVIEW_H_

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/http/message.h"
#include "kubexx/webhook/admission.h"

namespace kubexx::webhook::internal {

/// Decodes the AdmissionReview in `request`, calls `handler` and encodes its response. If the
/// request is not an AdmissionReview of admission.k8s.io/v1 in JSON, the answer is 400 or 415. Does
/// not catch exceptions of `handler`.
http::Response Respond(const http::Request& request,
                       const std::function<Response(const Call&)>& handler);

/// Returns the answer 415 if the request's content type is not JSON.
std::optional<http::Response> RefuseUnlessJson(const http::Request& request);

/// Returns `status` as the API server expects it in an answer.
api::meta::v1::Status ToWire(const apimachinery::Status& status, bool success);

/// Returns the value of a parameter such as "timeout=10s" in a query, if it is positive.
std::optional<std::chrono::nanoseconds> TimeoutOf(std::string_view query);

/// Returns the body of the answer to request `uid`.
std::string EncodeResponse(const std::string& uid, Response response);

}  // namespace kubexx::webhook::internal

#endif  // KUBEXX_WEBHOOK_INTERNAL_REVIEW_H_
