/// @file
/// The ranges of IP addresses and node ports that the server gives to Services.
#ifndef KUBEXX_APISERVER_ENDPOINTS_SERVICES_SERVICE_RANGES_H_
#define KUBEXX_APISERVER_ENDPOINTS_SERVICES_SERVICE_RANGES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::apiserver {

/// The addresses of a network. The allocatable addresses have numbers: all except the network's own
/// address and, for IPv4, the last one. A network with more than 2^63 addresses has numbers only
/// for the first 2^63.
class AddressRange {
 public:
  /// The range 10.0.0.0/24.
  AddressRange() = default;
  /// Parses a CIDR. Returns kInvalidConfig for an invalid text, and for fewer than 8 addresses.
  static apimachinery::Result<AddressRange> Parse(std::string_view cidr);

  bool is_ipv6() const { return network_.size() > 4; }
  /// The range as a CIDR such as "10.0.0.0/24".
  std::string ToString() const;
  /// The first address of the network, which no Service gets.
  std::string network() const;

  static constexpr std::uint64_t kFirst = 1;
  std::uint64_t last() const;
  /// How many of the first numbers stay free, for Services that name one, until all others are
  /// taken.
  std::uint64_t low() const;
  std::string AddressOf(std::uint64_t number) const;
  /// The number of an address; std::nullopt for an invalid text, an address of another network, or
  /// one without a number.
  std::optional<std::uint64_t> NumberOf(std::string_view address) const;

 private:
  /// How many addresses the network has; 2^63 when there are more.
  std::uint64_t size() const;

  std::string network_{"\x0a\0\0\0", 4};
  unsigned prefix_ = 24;
};

/// The node ports from the first to the last.
struct PortRange {
  std::uint16_t first = 30000;
  std::uint16_t last = 32767;

  /// The range as text, such as "30000-32767".
  std::string ToString() const;
  /// How many of the first numbers stay free, for Services that name one, until all others are
  /// taken.
  std::uint64_t low() const;
};

/// The ranges for which kube-apiserver has flags.
struct ServiceRanges {
  /// One range, or two of different families. New Services get an address of the first range by
  /// default.
  std::vector<AddressRange> addresses{AddressRange()};
  PortRange ports{};

  /// The range of a family; null when there is none.
  const AddressRange* OfFamily(bool ipv6) const;
};

/// Parses one CIDR or two of different families, such as "10.0.0.0/24" or "10.0.0.0/16,fd00::/108".
/// Returns kInvalidConfig for other values, which kube-apiserver's --service-cluster-ip-range
/// refuses, too, and for fewer than 8 addresses.
apimachinery::Result<std::vector<AddressRange>> ParseAddressRanges(std::string_view cidrs);

/// Parses "30000-32767", "30000+2767" or "30000". Returns kInvalidConfig for an invalid text.
apimachinery::Result<PortRange> ParsePortRange(std::string_view text);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_SERVICES_SERVICE_RANGES_H_
