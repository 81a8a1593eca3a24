#include "kubexx/apiserver/endpoints/checks/ip_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>
#include <utility>

#include "kubexx/base/ascii.h"

namespace kubexx::apiserver {
namespace {

constexpr std::string_view kMapped("\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);

/// The numbers of an IPv4 address and of a prefix as Go once read them.
std::string WithoutLeadingZeros(std::string_view text) {
  const bool ipv6 = text.find(':') != std::string_view::npos;
  std::string kept;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = kept.empty() ? !ipv6 : kept.back() == '.' || kept.back() == '/';
    if (text[i] != '0' || !begins || i + 1 == text.size() || !base::IsDigit(text[i + 1])) {
      kept.push_back(text[i]);
    }
  }
  return kept;
}

}  // namespace

std::string BytesOfAddress(std::string_view text) {
  const std::string address(text);
  std::array<char, sizeof(in6_addr)> bytes{};
  for (const auto& [family, size] : {std::pair(AF_INET, std::size_t{4}), {AF_INET6, 16}}) {
    if (::inet_pton(family, address.c_str(), bytes.data()) == 1 &&
        address.find('\0') == std::string::npos) {
      return {bytes.data(), size};
    }
  }
  return {};
}

std::string BytesOfOldAddress(std::string_view text) {
  const std::string bytes = BytesOfAddress(WithoutLeadingZeros(text));
  return bytes.starts_with(kMapped) ? bytes.substr(kMapped.size()) : bytes;
}

std::string TextOfAddress(const std::string& bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (bytes.size() != 4 && bytes.size() != sizeof(in6_addr)) {
    return {};
  }
  const int family = bytes.size() == 4 ? AF_INET : AF_INET6;
  return ::inet_ntop(family, bytes.data(), text.data(), text.size()) == nullptr
             ? std::string()
             : std::string(text.data());
}

std::string_view UnreachableBecause(const std::string& bytes) {
  const bool ipv4 = bytes.size() == 4;
  const auto byte = [&bytes](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  if (bytes == std::string(bytes.size(), '\0')) {
    return "may not be unspecified";
  }
  if (ipv4 ? byte(0) == 127 : bytes == BytesOfAddress("::1")) {
    return "may not be in the loopback range (127.0.0.0/8, ::1/128)";
  }
  if (ipv4 ? byte(0) == 169 && byte(1) == 254 : byte(0) == 0xfe && (byte(1) & 0xc0) == 0x80) {
    return "may not be in the link-local range (169.254.0.0/16, fe80::/10)";
  }
  if (ipv4 ? byte(0) == 224 && byte(1) == 0 && byte(2) == 0
           : byte(0) == 0xff && (byte(1) & 0x0f) == 0x02) {
    return "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)";
  }
  return "";
}

std::optional<Cidr> ParseCidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return std::nullopt;
  }
  Cidr cidr{.bytes = BytesOfAddress(text.substr(0, slash))};
  const std::string_view prefix = text.substr(slash + 1);
  const char* const end = prefix.data() + prefix.size();
  const auto [read, error] = std::from_chars(prefix.data(), end, cidr.prefix);
  if (cidr.bytes.empty() || error != std::errc() || read != end ||
      cidr.prefix > cidr.bytes.size() * 8) {
    return std::nullopt;
  }
  return cidr;
}

std::optional<Cidr> ParseOldCidr(std::string_view text) {
  return ParseCidr(WithoutLeadingZeros(text));
}

std::string NetworkOf(std::string bytes, unsigned prefix) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::size_t kept = std::clamp<std::size_t>(prefix, i * 8, i * 8 + 8) - i * 8;
    bytes[i] = static_cast<char>(static_cast<unsigned char>(bytes[i]) & (0xff00U >> kept));
  }
  return bytes;
}

bool IsWithin(const Cidr& inner, const Cidr& outer) {
  return inner.bytes.size() == outer.bytes.size() && inner.prefix > outer.prefix &&
         NetworkOf(inner.bytes, outer.prefix) == NetworkOf(outer.bytes, outer.prefix);
}

std::string AddressProblem(std::string_view text) {
  const std::string bytes = BytesOfAddress(text);
  if (bytes.empty()) {
    return BytesOfOldAddress(text).empty()
               ? "must be a valid IP address, such as 10.9.8.7 or 2001:db8::ffff"
               : "must not have leading 0s";
  }
  return bytes.starts_with(kMapped) ? "must not be an IPv4-mapped IPv6 address" : "";
}

std::string CidrProblem(std::string_view text) {
  const std::optional<Cidr> cidr = ParseCidr(text);
  if (!cidr || WithoutLeadingZeros(text) != text) {
    return ParseOldCidr(text) ? "must not have leading 0s in IP or prefix length"
                              : "must be a valid CIDR, such as 10.9.8.0/24 or 2001:db8::/64";
  }
  if (cidr->bytes.starts_with(kMapped)) {
    return "must not have an IPv4-mapped IPv6 address";
  }
  return NetworkOf(cidr->bytes, cidr->prefix) == cidr->bytes
             ? ""
             : "must not have bits set beyond the prefix length";
}

}  // namespace kubexx::apiserver
