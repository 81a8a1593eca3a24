#include "kubexx/apiserver/endpoints/services/service_ranges.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>
#include <utility>

#include "kubexx/apiserver/endpoints/checks/ip_address.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

/// kube-apiserver requires at least this size.
constexpr std::size_t kMinRangeBits = 3;
constexpr std::size_t kMaxRangeBits = 63;
constexpr std::size_t kBytesOfNumber = 8;

/// As in kube-apiserver, the lower band is a part of the range, within limits, and a small range
/// has none.
std::uint64_t LowOf(std::uint64_t size, std::uint64_t part, std::uint64_t most) {
  constexpr std::uint64_t kLeast = 16;
  return size <= kLeast ? 0 : std::clamp(size / part, kLeast, most);
}

std::optional<std::uint16_t> PortIn(std::string_view text) {
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, port);
  return error == std::errc() && read == end ? std::optional(port) : std::nullopt;
}

}  // namespace

Result<AddressRange> AddressRange::Parse(std::string_view cidr) {
  const std::optional<Cidr> parsed = ParseCidr(cidr);
  if (!parsed) {
    return Fail(Reason::kInvalidConfig,
                "\"" + std::string(cidr) + "\" is no range of addresses such as 10.0.0.0/24");
  }
  if (parsed->bytes.size() * 8 - parsed->prefix < kMinRangeBits) {
    return Fail(Reason::kInvalidConfig, "\"" + std::string(cidr) + "\" has fewer than 8 addresses");
  }
  AddressRange range;
  range.network_ = NetworkOf(parsed->bytes, parsed->prefix);
  range.prefix_ = parsed->prefix;
  return range;
}

std::string AddressRange::ToString() const { return network() + "/" + std::to_string(prefix_); }

std::string AddressRange::network() const { return TextOfAddress(network_); }

std::uint64_t AddressRange::size() const {
  return std::uint64_t{1} << std::min(network_.size() * 8 - prefix_, kMaxRangeBits);
}

std::uint64_t AddressRange::last() const { return size() - (is_ipv6() ? 1 : 2); }

std::uint64_t AddressRange::low() const { return LowOf(size(), 16, 256); }

std::string AddressRange::AddressOf(std::uint64_t number) const {
  std::string bytes = network_;
  for (std::size_t i = bytes.size(); number != 0 && i > 0; --i, number >>= 8) {
    bytes[i - 1] = static_cast<char>(static_cast<unsigned char>(bytes[i - 1]) | (number & 0xff));
  }
  return TextOfAddress(bytes);
}

std::optional<std::uint64_t> AddressRange::NumberOf(std::string_view address) const {
  const std::string bytes = BytesOfAddress(address);
  if (bytes.size() != network_.size() || NetworkOf(bytes, prefix_) != network_) {
    return std::nullopt;
  }
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const unsigned own =
        static_cast<unsigned char>(bytes[i]) ^ static_cast<unsigned char>(network_[i]);
    if (own != 0 && i + kBytesOfNumber < bytes.size()) {
      return std::nullopt;
    }
    number = number << 8 | own;
  }
  return number >= kFirst && number <= last() ? std::optional(number) : std::nullopt;
}

std::string PortRange::ToString() const {
  return std::to_string(first) + "-" + std::to_string(last);
}

std::uint64_t PortRange::low() const {
  return LowOf(static_cast<std::uint64_t>(last - first) + 1, 32, 128);
}

const AddressRange* ServiceRanges::OfFamily(bool ipv6) const {
  const auto found = std::ranges::find(addresses, ipv6, &AddressRange::is_ipv6);
  return found == addresses.end() ? nullptr : &*found;
}

Result<std::vector<AddressRange>> ParseAddressRanges(std::string_view cidrs) {
  const std::size_t comma = std::min(cidrs.find(','), cidrs.size());
  std::vector<AddressRange> ranges;
  KX_ASSIGN_OR_RETURN(AddressRange first, AddressRange::Parse(cidrs.substr(0, comma)));
  ranges.push_back(std::move(first));
  if (comma != cidrs.size()) {
    KX_ASSIGN_OR_RETURN(AddressRange second, AddressRange::Parse(cidrs.substr(comma + 1)));
    if (second.is_ipv6() == ranges.front().is_ipv6()) {
      return Fail(Reason::kInvalidConfig,
                  "\"" + std::string(cidrs) + "\" are two ranges of one IP family");
    }
    ranges.push_back(std::move(second));
  }
  return ranges;
}

Result<PortRange> ParsePortRange(std::string_view text) {
  const std::size_t sign = std::min(text.find_first_of("-+"), text.size());
  const auto first = PortIn(text.substr(0, sign));
  const auto second = sign == text.size() ? first : PortIn(text.substr(sign + 1));
  if (first && second && *first > 0) {
    const int last = sign < text.size() && text[sign] == '+' ? *first + *second : *second;
    if (last >= *first && last <= 65535) {
      return PortRange{.first = *first, .last = static_cast<std::uint16_t>(last)};
    }
  }
  return Fail(Reason::kInvalidConfig,
              "\"" + std::string(text) + "\" is no range of ports such as 30000-32767");
}

}  // namespace kubexx::apiserver
