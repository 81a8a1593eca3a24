/// @file
/// Times in messages.
#ifndef KUBEXX_REST_INTERNAL_TRANSPORT_IN_SECONDS_H_
#define KUBEXX_REST_INTERNAL_TRANSPORT_IN_SECONDS_H_

#include <chrono>
#include <string>

#include "kubexx/base/clock.h"

namespace kubexx::rest::internal {

/// "120 s", rounded up.
inline std::string InSeconds(base::Duration time) {
  return std::to_string(std::chrono::ceil<std::chrono::seconds>(time).count()) + " s";
}

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_TRANSPORT_IN_SECONDS_H_
