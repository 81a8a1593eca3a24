/// @file
/// Paths and queries of API requests.
#ifndef KUBEXX_REST_URL_H_
#define KUBEXX_REST_URL_H_

#include <optional>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"

namespace kubexx::rest {

/// The parts of an API server's address.
struct ServerUrl {
  bool tls = true;
  std::string host{};  ///< name or address, lower case; an IPv6 address without brackets
  std::string port{};  ///< "443" or "80" when the URL has none
  std::string
      prefix{};  ///< path in front of every request: "" or "/a/b", without a slash at the end

  /// Returns "https://host:port".
  std::string Origin() const;
  /// Returns "host:port" or "[::1]:port", for the header Host and the host label of the metrics.
  std::string Authority() const;
  /// Like Origin, but for cpprestsdk, and with no brackets around an IPv6 address: cpprestsdk
  /// resolves everything before the last ":" as a name, and does not remove brackets.
  std::string OriginToResolve() const;
  bool is_ipv6() const { return host.find(':') != std::string::npos; }
};

/// Parses "https://host:port/prefix", with IPv6 addresses in brackets and without a zone. A URL
/// without a scheme, such as "host:port", is https with a default port of 443, as client-go's
/// DefaultServerURL does for configs with TLS. kInvalidConfig says what is wrong.
apimachinery::Result<ServerUrl> ParseServerUrl(std::string_view url);

/// Percent-encodes all characters except unreserved ones (RFC 3986) and those in `keep`.
std::string PercentEncode(std::string_view text, std::string_view keep = {});

/// Returns what PercentEncode was given. std::nullopt when a "%" is not followed by two hexadecimal
/// digits. A "+" stays one.
std::optional<std::string> PercentDecode(std::string_view text);

/// Returns kBadRequest unless `segment` can be one segment of a path: it must not be empty, "." or
/// "..", and must not contain "/" or "%". Semantics: client-go rest.IsValidPathSegmentName. `what`
/// names the argument in the error.
apimachinery::Result<void> CheckPathSegment(std::string_view what, std::string_view segment);

/// Returns kBadRequest unless `name` is an HTTP token and `value` has no control characters.
apimachinery::Result<void> CheckHeader(std::string_view name, std::string_view value);

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_URL_H_
