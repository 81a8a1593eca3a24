#include "kubexx/rest/url.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

#include "kubexx/base/ascii.h"
#include "kubexx/base/hex.h"

namespace kubexx::rest {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

bool IsUnreserved(char c) {
  return base::IsAlphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

apimachinery::Error Bad(std::string_view url, std::string_view why) {
  return Fail(Reason::kInvalidConfig,
              "server URL \"" + std::string(url) + "\": " + std::string(why));
}

Result<void> ParsePort(std::string_view url, std::string_view port) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc() || end != port.data() + port.size() || number == 0 || number > 65535) {
    return Bad(url, "the port must be a number from 1 to 65535");
  }
  return {};
}

Result<void> ParsePrefix(std::string_view url, std::string_view path, ServerUrl& out) {
  while (path.ends_with('/')) {
    path.remove_suffix(1);
  }
  const bool plain = std::ranges::all_of(path, [](char c) {
    return IsUnreserved(c) || c == '/' || c == ':' || c == '@' || c == '%' || c == '+' ||
           c == '=' || c == ',';
  });
  if (!plain) {
    return Bad(url, "the path has characters that need escaping, or a query");
  }
  out.prefix = path;
  return {};
}

}  // namespace

std::string ServerUrl::Authority() const {
  return (is_ipv6() ? "[" + host + "]" : host) + ":" + port;
}

std::string ServerUrl::Origin() const { return (tls ? "https://" : "http://") + Authority(); }

std::string ServerUrl::OriginToResolve() const {
  return (tls ? "https://" : "http://") + host + ":" + port;
}

Result<ServerUrl> ParseServerUrl(std::string_view url) {
  if (url.empty()) {
    return Fail(Reason::kInvalidConfig, "server URL is empty");
  }
  ServerUrl out;
  std::string_view rest = url;
  if (const auto scheme_end = rest.find("://"); scheme_end != std::string_view::npos) {
    std::string scheme(rest.substr(0, scheme_end));
    scheme = base::ToLower(scheme);
    if (scheme != "https" && scheme != "http") {
      return Bad(url, "the scheme must be https or http");
    }
    out.tls = scheme == "https";
    rest.remove_prefix(scheme_end + 3);
  }
  const std::size_t path_at = std::min(rest.find_first_of("/?#"), rest.size());
  std::string_view authority = rest.substr(0, path_at);
  KX_RETURN_IF_ERROR(ParsePrefix(url, rest.substr(path_at), out));
  if (authority.find('@') != std::string_view::npos) {
    // The message does not quote the URL, because it contains a password.
    return Fail(Reason::kInvalidConfig,
                "server URL: credentials in the URL are not supported, use a user entry");
  }
  out.port = out.tls ? "443" : "80";
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    out.host = base::ToLower(authority.substr(1, std::max<std::size_t>(end, 1) - 1));
    in6_addr address{};
    if (end == std::string_view::npos || inet_pton(AF_INET6, out.host.c_str(), &address) != 1) {
      return Bad(url, "the text in brackets must be an IPv6 address without a zone");
    }
    authority.remove_prefix(end + 1);
    if (!authority.empty() && !authority.starts_with(':')) {
      return Bad(url, "only a port may follow the brackets");
    }
    if (!authority.empty()) {
      out.port = authority.substr(1);
      KX_RETURN_IF_ERROR(ParsePort(url, out.port));
    }
    return out;
  }
  if (const auto colon = authority.find(':'); colon != std::string_view::npos) {
    out.port = authority.substr(colon + 1);
    KX_RETURN_IF_ERROR(ParsePort(url, out.port));
    authority = authority.substr(0, colon);
  }
  if (authority.empty() || !std::ranges::all_of(authority, IsUnreserved)) {
    return Bad(url, "the host is missing or has characters that a host name cannot have");
  }
  out.host = authority;
  out.host = base::ToLower(out.host);
  return out;
}

std::string PercentEncode(std::string_view text, std::string_view keep) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (IsUnreserved(c) || keep.find(c) != std::string_view::npos) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

std::optional<std::string> PercentDecode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? base::HexValue(text[i + 1]) : -1;
    const int low = high >= 0 ? base::HexValue(text[i + 2]) : -1;
    if (low < 0) {
      return std::nullopt;
    }
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

Result<void> CheckPathSegment(std::string_view what, std::string_view segment) {
  std::string why;
  if (segment.empty()) {
    why = "must not be empty";
  } else if (segment == "." || segment == "..") {
    why = "must not be \"" + std::string(segment) + "\"";
  } else if (segment.find_first_of("/%") != std::string_view::npos) {
    why = "must not contain \"/\" or \"%\"";
  } else {
    return {};
  }
  return Fail(Reason::kBadRequest, std::string(what) + " \"" + std::string(segment) + "\" " + why);
}

Result<void> CheckHeader(std::string_view name, std::string_view value) {
  const auto is_token = [](char c) {
    return base::IsAlphanumeric(c) ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  };
  if (name.empty() || !std::ranges::all_of(name, is_token)) {
    return Fail(Reason::kBadRequest,
                "header name \"" + std::string(name) + "\" is not an HTTP token");
  }
  const auto is_control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  };
  if (std::ranges::any_of(value, is_control)) {
    // The message does not show the value, because it may be a credential.
    return Fail(Reason::kBadRequest,
                "header " + std::string(name) + " has control characters in its value");
  }
  return {};
}

}  // namespace kubexx::rest
