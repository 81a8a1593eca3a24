/// @file
/// Functions that look at the causes in a Status.
#ifndef KUBEXX_APIMACHINERY_STATUS_CAUSES_H_
#define KUBEXX_APIMACHINERY_STATUS_CAUSES_H_

#include <algorithm>
#include <string_view>

#include "kubexx/apimachinery/status.h"

namespace kubexx::apimachinery {

/// The cause of a kForbidden for a namespace that is being deleted, in which nothing can be created
/// any more.
inline constexpr std::string_view kNamespaceTerminatingCause = "NamespaceTerminating";

/// The cause of an error whose response was no Status, so that perhaps none of the API server's
/// handlers has made it: a proxy in front of it, or the program that a request was passed on to.
/// As metav1.CauseTypeUnexpectedServerResponse.
inline constexpr std::string_view kUnexpectedResponseCause = "UnexpectedServerResponse";

/// The cause of an error that only the code of a response tells of: its body, which would have said
/// why, broke off. An addition to the causes of metav1.
inline constexpr std::string_view kBrokenResponseCause = "BrokenServerResponse";

/// Whether one of the Status's causes has this reason, as apimachinery's errors.HasStatusCause.
inline bool HasStatusCause(const Status& status, std::string_view reason) {
  return std::ranges::any_of(status.details.causes,
                             [reason](const StatusCause& cause) { return cause.reason == reason; });
}

}  // namespace kubexx::apimachinery

#endif  // KUBEXX_APIMACHINERY_STATUS_CAUSES_H_
