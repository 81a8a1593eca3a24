/// @file
/// AdmissionReview over HTTP.
#ifndef KUBEXX_WEBHOOK_INTERNAL_REVIEW_H_
#define KUBEXX_WEBHOOK_INTERNAL_REVIEW_H_

#include <chrono>
#include <functional>
#include <optional>
#include <string_view>

#include "kubexx/base/clock.h"
#include "kubexx/http/message.h"
#include "kubexx/webhook/admission.h"

namespace kubexx::webhook::internal {

/// Takes the question out of `request`, asks `handler` and writes the answer down. Requests that
/// are no AdmissionReview of admission.k8s.io/v1 in JSON give 400 or 415. What `handler` throws
/// passes.
http::Response Respond(const http::Request& request,
                       const std::function<Response(const Call&)>& handler);

/// The value of "timeout=10s" in a query, when it has one that is positive.
std::optional<std::chrono::nanoseconds> TimeoutOf(std::string_view query);

/// The body that answers request `uid`.
std::string EncodeResponse(const std::string& uid, Response response);

}  // namespace kubexx::webhook::internal

#endif  // KUBEXX_WEBHOOK_INTERNAL_REVIEW_H_
