/// @file
/// Turns responses that are not 2xx into a Status.
#ifndef KUBEXX_REST_ERROR_RESPONSE_H_
#define KUBEXX_REST_ERROR_RESPONSE_H_

#include <chrono>
#include <optional>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/codec.h"

namespace kubexx::rest {

/// A response text of a server or proxy that is not a Status is cut off at this many bytes.
inline constexpr std::size_t kMaxErrorText = 2048;

/// The encoding of a Content-Type; everything except protobuf counts as JSON.
codec::Encoding EncodingOf(std::string_view content_type);

/// The media type of an encoding, without parameters.
std::string_view MediaTypeOf(codec::Encoding encoding);

/// Parses a Retry-After header in whole seconds; returns std::nullopt for dates and everything
/// else, as client-go does.
std::optional<std::chrono::seconds> ParseRetryAfter(std::string_view header);

/// Returns the Status of a response that is not 2xx: the one in the body, or else one made from the
/// code and the body's text, which has the cause kUnexpectedResponseCause, as client-go's.
apimachinery::Status StatusOfResponse(int code, std::string_view content_type,
                                      std::string_view retry_after, std::string_view body);

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_ERROR_RESPONSE_H_
