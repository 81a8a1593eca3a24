/// @file
/// What addresses and ports of nodes Services are given.
#ifndef KUBEXX_APISERVER_ENDPOINTS_SERVICES_SERVICE_RANGES_H_
#define KUBEXX_APISERVER_ENDPOINTS_SERVICES_SERVICE_RANGES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::apiserver {

/// The addresses of a network. Those that may be given out have numbers: all but the network's own
/// and, of IPv4, the last. Of more than 2^63 it has the first.
class AddressRange {
 public:
  /// 10.0.0.0/24.
  AddressRange() = default;
  /// Of a CIDR; kInvalidConfig for what is none, and for fewer than 8 addresses.
  static apimachinery::Result<AddressRange> Parse(std::string_view cidr);

  bool is_ipv6() const { return network_.size() > 4; }
  /// "10.0.0.0/24".
  std::string ToString() const;
  /// Its first address, which is given to nobody.
  std::string network() const;

  static constexpr std::uint64_t kFirst = 1;
  std::uint64_t last() const;
  /// How many of the first are given out last to who names none.
  std::uint64_t low() const;
  std::string AddressOf(std::uint64_t number) const;
  /// None for what is no address, for those of other networks and for those without a number.
  std::optional<std::uint64_t> NumberOf(std::string_view address) const;

 private:
  /// The number of addresses; 2^63 when there are more.
  std::uint64_t size() const;

  std::string network_{"\x0a\0\0\0", 4};
  unsigned prefix_ = 24;
};

/// Ports of nodes, from the first to the last.
struct PortRange {
  std::uint16_t first = 30000;
  std::uint16_t last = 32767;

  /// "30000-32767".
  std::string ToString() const;
  /// How many of the first are given out last to who names none.
  std::uint64_t low() const;
};

/// What kube-apiserver has flags for.
struct ServiceRanges {
  /// One, or two of different families; new Services have one of the first.
  std::vector<AddressRange> addresses{AddressRange()};
  PortRange ports{};

  /// The one of a family; null when there is none.
  const AddressRange* OfFamily(bool ipv6) const;
};

/// Of "10.0.0.0/24" and "10.0.0.0/16,fd00::/108". kInvalidConfig for what kube-apiserver's
/// --service-cluster-ip-range does not take: anything but one CIDR or two of different families,
/// and those of fewer than 8 addresses.
apimachinery::Result<std::vector<AddressRange>> ParseAddressRanges(std::string_view cidrs);

/// Of "30000-32767", "30000+2767" and "30000"; kInvalidConfig.
apimachinery::Result<PortRange> ParsePortRange(std::string_view text);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_SERVICES_SERVICE_RANGES_H_
