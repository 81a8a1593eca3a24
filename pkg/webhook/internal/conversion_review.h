/// @file
/// Reads and writes ConversionReviews over HTTP.
#ifndef KUBEXX_WEBHOOK_INTERNAL_CONVERSION_REVIEW_H_
#define KUBEXX_WEBHOOK_INTERNAL_CONVERSION_REVIEW_H_

#include "kubexx/http/message.h"
#include "kubexx/webhook/conversion.h"

namespace kubexx::webhook::internal {

/// Decodes the ConversionReview in `request`, converts its objects with `convert`, and encodes the
/// result, which fails as a whole when one object does. If the request is not a ConversionReview of
/// apiextensions.k8s.io/v1 in JSON, the answer is 400 or 415. Stops converting when nobody waits
/// for the answer any more. Does not catch exceptions of `convert`.
http::Response RespondConverted(const http::Request& request, const RawConversion& convert);

}  // namespace kubexx::webhook::internal

#endif  // KUBEXX_WEBHOOK_INTERNAL_CONVERSION_REVIEW_H_
