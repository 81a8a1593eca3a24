/// @file
/// ImpersonationHeaders: the Impersonate-* headers.
#ifndef KUBEXX_REST_INTERNAL_CREDENTIALS_IMPERSONATION_H_
#define KUBEXX_REST_INTERNAL_CREDENTIALS_IMPERSONATION_H_

#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/rest/config.h"

namespace kubexx::rest::internal {

/// Returns the headers of `config`, none when it is empty; a name may occur several times. Keys of
/// extra values are percent-escaped where a header name must not have a byte, including "%".
/// kInvalidConfig when the user is missing, and for values that a header cannot contain. Semantics:
/// client-go transport NewImpersonatingRoundTripper.
apimachinery::Result<std::vector<std::pair<std::string, std::string>>> ImpersonationHeaders(
    const ImpersonationConfig& config);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_CREDENTIALS_IMPERSONATION_H_
