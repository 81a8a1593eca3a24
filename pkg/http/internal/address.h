/// @file
/// ParseHostPort: parses listen addresses of flags.
#ifndef KUBEXX_HTTP_INTERNAL_ADDRESS_H_
#define KUBEXX_HTTP_INTERNAL_ADDRESS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"

namespace kubexx::http::internal {

struct HostPort {
  std::string host{};  ///< without brackets; empty means every address
  std::uint16_t port = 0;
};

/// Splits "host:port", ":port" or "[v6]:port" as Go's net.SplitHostPort; the port must be a number.
/// kInvalidConfig otherwise.
apimachinery::Result<HostPort> ParseHostPort(std::string_view text);

}  // namespace kubexx::http::internal

#endif  // KUBEXX_HTTP_INTERNAL_ADDRESS_H_
