#include "kubexx/rest/internal/config/proxy.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "kubexx/base/ascii.h"
#include "kubexx/base/text/trim.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

// RFC 1929 has one byte for the length.
constexpr std::size_t kMaxSocksName = 255;

Result<std::string> DecodedCredential(std::string_view text) {
  auto decoded = PercentDecode(text);
  if (!decoded) {
    return Fail(Reason::kInvalidConfig, "the user or password has a bad \"%\" escape");
  }
  return *std::move(decoded);
}

// The bytes of an IPv4 or IPv6 address, most significant first.
std::optional<std::string> ParseAddress(const std::string& text) {
  in_addr v4{};
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) {
    return std::string(reinterpret_cast<const char*>(&v4), sizeof(v4));
  }
  in6_addr v6{};
  if (inet_pton(AF_INET6, text.c_str(), &v6) == 1) {
    return std::string(reinterpret_cast<const char*>(&v6), sizeof(v6));
  }
  return std::nullopt;
}

bool IsLoopback(const std::string& host) {
  const auto address = ParseAddress(host);
  return host == "localhost" ||
         (address.has_value() &&
          (address->size() == sizeof(in_addr)
               ? address->front() == 127
               : *address == std::string(reinterpret_cast<const char*>(&in6addr_loopback),
                                         sizeof(in6_addr))));
}

bool InNetwork(const std::string& host, std::string_view network) {
  const std::size_t slash = network.find('/');
  const auto address = ParseAddress(host);
  const auto base = ParseAddress(std::string(network.substr(0, slash)));
  const std::string_view bits_text = network.substr(slash + 1);
  unsigned bits = 0;
  const auto [end, error] =
      std::from_chars(bits_text.data(), bits_text.data() + bits_text.size(), bits);
  if (!address || !base || address->size() != base->size() || error != std::errc() ||
      end != bits_text.data() + bits_text.size() || bits > 8 * base->size()) {
    return false;
  }
  for (std::size_t i = 0; i < bits; ++i) {
    const unsigned differ =
        static_cast<unsigned char>((*address)[i / 8]) ^ static_cast<unsigned char>((*base)[i / 8]);
    if ((differ & (0x80U >> (i % 8))) != 0) {
      return false;
    }
  }
  return true;
}

bool Matches(const ServerUrl& server, std::string_view entry) {
  if (entry == "*") {
    return true;
  }
  if (entry.find('/') != std::string_view::npos) {
    return InNetwork(server.host, entry);
  }
  // An IPv6 address is "::1", "[::1]" or "[::1]:6443".
  const bool bare_ipv6 = std::ranges::count(entry, ':') > 1 && !entry.starts_with('[');
  const std::size_t colon = entry.rfind(':');
  if (!bare_ipv6 && !entry.ends_with(']') && colon != std::string_view::npos) {
    if (entry.substr(colon + 1) != server.port) {
      return false;
    }
    entry = entry.substr(0, colon);
  }
  if (entry.starts_with('[') && entry.ends_with(']')) {
    entry = entry.substr(1, entry.size() - 2);
  }
  if (server.is_ipv6()) {
    return ParseAddress(std::string(entry)) == ParseAddress(server.host);
  }
  std::string name = base::ToLower(entry);
  if (name.starts_with("*.")) {
    name.erase(0, 1);
  }
  if (name.empty()) {
    return false;
  }
  const bool only_below = name.front() == '.';
  return (!only_below && server.host == name) ||
         server.host.ends_with(only_below ? name : "." + name);
}

bool IsExempt(const ServerUrl& server, std::string_view list) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (const auto entry = base::Trim(list.substr(begin, end - begin)); Matches(server, entry)) {
      return true;
    }
    begin = end + 1;
  }
  return false;
}

std::optional<ProxyProtocol> ProtocolOf(std::string_view scheme) {
  if (scheme == "http") {
    return ProxyProtocol::kHttp;
  }
  if (scheme == "https") {
    return ProxyProtocol::kHttps;
  }
  // In Go, both have the proxy look up names.
  if (scheme == "socks5" || scheme == "socks5h") {
    return ProxyProtocol::kSocks5;
  }
  return std::nullopt;
}

// Whether "host:port/" has a port.
bool HasPort(std::string_view authority) {
  authority = authority.substr(0, authority.find('/'));
  const std::size_t bracket = authority.rfind(']');
  return authority.find(':', bracket == std::string_view::npos ? 0 : bracket) !=
         std::string_view::npos;
}

}  // namespace

Result<Proxy> ParseProxyUrl(std::string_view url) {
  std::string_view rest = url;
  Proxy out;
  if (const std::size_t at = rest.find("://"); at != std::string_view::npos) {
    const auto protocol = ProtocolOf(base::ToLower(rest.substr(0, at)));
    if (!protocol) {
      return Fail(Reason::kInvalidConfig,
                  "the scheme of a proxy must be http, https, socks5 or socks5h");
    }
    out.protocol = *protocol;
    rest.remove_prefix(at + 3);
  }
  if (const std::size_t at = rest.substr(0, rest.find('/')).rfind('@');
      at != std::string_view::npos) {
    const std::string_view user = rest.substr(0, at);
    const std::size_t colon = std::min(user.find(':'), user.size());
    KX_ASSIGN_OR_RETURN(out.username, DecodedCredential(user.substr(0, colon)));
    KX_ASSIGN_OR_RETURN(out.password,
                        DecodedCredential(user.substr(std::min(colon + 1, user.size()))));
    rest.remove_prefix(at + 1);
  }
  const bool socks = out.protocol == ProxyProtocol::kSocks5;
  if (socks && (out.username.size() > kMaxSocksName || out.password.size() > kMaxSocksName)) {
    return Fail(Reason::kInvalidConfig,
                "the user and the password of a SOCKS5 proxy have at most 255 bytes");
  }
  const bool tls = out.protocol == ProxyProtocol::kHttps;
  auto parsed = ParseServerUrl((tls ? "https://" : "http://") + std::string(rest));
  if (!parsed || !parsed->prefix.empty()) {
    return Fail(Reason::kInvalidConfig,
                "must be http://host:port or http://user:password@host:port, or the same with "
                "https or socks5");
  }
  out.address = std::move(*parsed);
  if (socks && !HasPort(rest)) {
    out.address.port = "1080";
  }
  return out;
}

std::string ValueInEnvironment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read at start-up
  return value == nullptr ? std::string() : std::string(value);
}

Result<std::optional<Proxy>> ChooseProxy(const std::string& proxy_url, const ServerUrl& server,
                                         Environment env) {
  if (!proxy_url.empty()) {
    auto proxy = ParseProxyUrl(proxy_url);
    if (!proxy) {
      return Fail(proxy.error().WithContext("proxy-url"));
    }
    return std::optional(std::move(*proxy));
  }
  const auto either = [&env](const char* upper, const char* lower) {
    std::string value = env(upper);
    return value.empty() ? env(lower) : value;
  };
  // As in Go: in a CGI program, HTTP_PROXY would be a header of the request that the program
  // serves.
  const bool cgi = !server.tls && !env("REQUEST_METHOD").empty();
  const std::string url = server.tls ? either("HTTPS_PROXY", "https_proxy")
                          : cgi      ? std::string()
                                     : either("HTTP_PROXY", "http_proxy");
  if (url.empty() || IsLoopback(server.host) || IsExempt(server, either("NO_PROXY", "no_proxy"))) {
    return std::optional<Proxy>();
  }
  auto proxy = ParseProxyUrl(url);
  if (!proxy) {
    return Fail(proxy.error().WithContext(server.tls ? "HTTPS_PROXY" : "HTTP_PROXY"));
  }
  return std::optional(std::move(*proxy));
}

}  // namespace kubexx::rest::internal
