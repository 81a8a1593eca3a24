/// @file
/// InSeconds: formats times in messages.
#ifndef KUBEXX_REST_INTERNAL_MESSAGE_IN_SECONDS_H_
#define KUBEXX_REST_INTERNAL_MESSAGE_IN_SECONDS_H_

#include <chrono>
#include <string>

#include "kubexx/base/clock.h"

namespace kubexx::rest::internal {

/// Formats a time as whole seconds, rounded up: "120 s".
inline std::string InSeconds(base::Duration time) {
  return std::to_string(std::chrono::ceil<std::chrono::seconds>(time).count()) + " s";
}

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_MESSAGE_IN_SECONDS_H_
