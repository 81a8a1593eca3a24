#include "kubexx/apiserver/endpoints/addresses.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "kubexx/apiserver/endpoints/value_checks.h"

namespace kubexx::apiserver {
namespace {

constexpr int kV4Bits = 32;
constexpr int kV6Bits = 128;
constexpr std::size_t kV4At = 12;

/// Four numbers in decimal.
std::optional<Address> ParseV4(std::string_view text) {
  Address address{.v4 = true};
  address.bytes[kV4At - 2] = address.bytes[kV4At - 1] = 0xff;
  for (std::size_t i = 0; i < 4; ++i) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || value > 0xff) {
      return std::nullopt;
    }
    address.bytes[kV4At + i] = static_cast<std::uint8_t>(value);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (i < 3) {
      if (!text.starts_with('.')) {
        return std::nullopt;
      }
      text.remove_prefix(1);
    }
  }
  return text.empty() ? std::optional(address) : std::nullopt;
}

/// Without the bits after the first `bits` of its family.
Address Cut(Address address, int bits) {
  const int from = bits + (address.v4 ? kV6Bits - kV4Bits : 0);
  for (int i = from; i < kV6Bits; ++i) {
    address.bytes[static_cast<std::size_t>(i / 8)] &=
        static_cast<std::uint8_t>(~(0x80U >> (i % 8)));
  }
  return address;
}

}  // namespace

std::optional<Address> ParseAddress(std::string_view text) {
  if (text.find(':') == std::string_view::npos) {
    return ParseV4(text);
  }
  in6_addr v6{};
  if (inet_pton(AF_INET6, std::string(text).c_str(), &v6) != 1) {
    return std::nullopt;
  }
  Address address{.v4 = IN6_IS_ADDR_V4MAPPED(&v6) != 0};
  std::memcpy(address.bytes.data(), v6.s6_addr, address.bytes.size());
  return address;
}

std::optional<CidrBlock> ParseCidrBlock(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return std::nullopt;
  }
  auto address = ParseAddress(text.substr(0, slash));
  const std::string_view digits = text.substr(slash + 1);
  int bits = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  const bool is_v6 = text.substr(0, slash).find(':') != std::string_view::npos;
  if (!address || error != std::errc() || end != digits.data() + digits.size() || bits < 0 ||
      bits > (is_v6 ? kV6Bits : kV4Bits)) {
    return std::nullopt;
  }
  address->v4 = !is_v6;
  return CidrBlock{.first = Cut(*address, bits), .bits = bits};
}

bool IsWithin(const CidrBlock& inner, const CidrBlock& outer) {
  return inner.first.v4 == outer.first.v4 && inner.bits > outer.bits &&
         Cut(inner.first, outer.bits).bytes == outer.first.bytes;
}

bool IsStrictAddress(std::string_view text) {
  if (text.find(':') != std::string_view::npos) {
    const auto address = ParseAddress(text);
    return address && !address->v4;
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool begins = at == 0 || text[at - 1] == '.';
    if (begins && text[at] == '0' && at + 1 < text.size() && text[at + 1] != '.') {
      return false;
    }
  }
  return ParseAddress(text).has_value();
}

bool IsStrictRange(std::string_view text) {
  const auto range = ParseCidrBlock(text);
  const std::size_t slash = text.find('/');
  const std::string_view bits = text.substr(std::min(slash + 1, text.size()));
  return range && IsStrictAddress(text.substr(0, slash)) &&
         (bits.size() == 1 || !bits.starts_with('0')) &&
         ParseAddress(text.substr(0, slash))->bytes == range->first.bytes;
}

void CheckAddress(std::string_view text, std::string field, FieldCauses& causes) {
  if (!IsStrictAddress(text)) {
    causes.Invalid(std::move(field), QuotedJson(text),
                   "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  }
}

void CheckAddressRange(std::string_view text, std::string field, FieldCauses& causes) {
  if (!IsStrictRange(text)) {
    causes.Invalid(std::move(field), QuotedJson(text),
                   "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
  }
}

}  // namespace kubexx::apiserver
