#include "kubexx/http/internal/address.h"

#include <charconv>
#include <cstddef>
#include <system_error>

namespace kubexx::http::internal {

apimachinery::Result<HostPort> ParseHostPort(std::string_view text) {
  const auto fail = [text](std::string_view what) {
    return apimachinery::Fail(
        apimachinery::Reason::kInvalidConfig,
        "address \"" + std::string(text) + "\": " + std::string(what) + "; use host:port or :port");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return fail("the port is missing");
  }
  std::string_view host = text.substr(0, colon);
  const std::string_view port_text = text.substr(colon + 1);
  if (host.starts_with('[') != host.ends_with(']')) {
    return fail("brackets do not match");
  }
  if (host.starts_with('[')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return fail("an IPv6 address needs brackets");
  }
  std::uint16_t port = 0;
  const char* const end = port_text.data() + port_text.size();
  const auto parsed = std::from_chars(port_text.data(), end, port);
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    return fail("the port is not a number from 0 to 65535");
  }
  return HostPort{std::string(host), port};
}

}  // namespace kubexx::http::internal
