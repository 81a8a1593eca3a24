/// @file
/// Paths and queries of API requests.
#ifndef KUBEXX_REST_URL_H_
#define KUBEXX_REST_URL_H_

#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"

namespace kubexx::rest {

/// An API server's address, taken apart.
struct ServerUrl {
  bool tls = true;
  std::string host{};  ///< name or address, lower case; an IPv6 address without brackets
  std::string port{};  ///< "443" or "80" when the URL has none
  std::string
      prefix{};  ///< path in front of every request: "" or "/a/b", without a slash at the end

  /// "https://host:port"
  std::string Origin() const;
  /// "host:port", "[::1]:port": the header Host, and the host label of the metrics.
  std::string Authority() const;
  /// As Origin, for cpprestsdk to connect to. It resolves what it finds before the last ":" as it
  /// is, and knows no brackets: an IPv6 address has none here.
  std::string OriginToResolve() const;
  bool is_ipv6() const { return host.find(':') != std::string::npos; }
};

/// Reads "https://host:port/prefix", with IPv6 addresses in brackets and without a zone; a URL
/// without scheme is https with a port of 443, "host:port" included, as client-go's
/// DefaultServerURL does for configs with TLS. kInvalidConfig says what is wrong.
apimachinery::Result<ServerUrl> ParseServerUrl(std::string_view url);

/// Percent-encodes all but unreserved characters (RFC 3986); `keep` lists more characters to leave
/// as they are.
std::string PercentEncode(std::string_view text, std::string_view keep = {});

/// kBadRequest unless `segment` can stand as one segment of a path: not empty, ".", "..", and
/// without "/" and "%". Semantics: client-go rest.IsValidPathSegmentName. `what` names the argument
/// in the error.
apimachinery::Result<void> CheckPathSegment(std::string_view what, std::string_view segment);

/// kBadRequest unless `name` is an HTTP token and `value` has no control characters.
apimachinery::Result<void> CheckHeader(std::string_view name, std::string_view value);

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_URL_H_
