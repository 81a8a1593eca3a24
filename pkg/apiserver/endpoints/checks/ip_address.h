/// @file
/// Parses IP addresses and CIDRs.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CHECKS_IP_ADDRESS_H_
#define KUBEXX_APISERVER_ENDPOINTS_CHECKS_IP_ADDRESS_H_

#include <optional>
#include <string>
#include <string_view>

namespace kubexx::apiserver {

/// The bytes of an IPv4 or IPv6 address without brackets: 4 or 16 bytes, or none for an invalid
/// text.
std::string BytesOfAddress(std::string_view text);

/// The same, but also accepts the older form with leading zeros, which stored objects may still
/// have. An IPv4 address in IPv6 form gives the IPv4 address. As netutils.ParseIPSloppy.
std::string BytesOfOldAddress(std::string_view text);

/// The usual text of an address with these bytes; "" when they are not 4 or 16 bytes.
std::string TextOfAddress(const std::string& bytes);

/// Why other machines cannot reach the address with these bytes; "" when they may.
std::string_view UnreachableBecause(const std::string& bytes);

/// The two parts of a CIDR such as "10.0.0.0/24".
struct Cidr {
  std::string bytes{};  ///< bytes of the address, including bits after the prefix
  unsigned prefix = 0;  ///< length of the prefix in bits
};

/// Parses a CIDR; std::nullopt for an invalid text. For CIDRs with leading zeros see CidrProblem.
std::optional<Cidr> ParseCidr(std::string_view text);

/// The same, but also accepts the older form with leading zeros. As netutils.ParseCIDRSloppy.
std::optional<Cidr> ParseOldCidr(std::string_view text);

/// Returns `bytes` with all bits after the prefix set to 0.
std::string NetworkOf(std::string bytes, unsigned prefix);

/// Whether `inner` lies within `outer` and is smaller.
bool IsWithin(const Cidr& inner, const Cidr& outer);

/// The reason for which kube-apiserver refuses an address; "" when it accepts it. It refuses
/// leading zeros and IPv4 addresses in IPv6 form, because programs interpret them differently.
std::string AddressProblem(std::string_view text);

/// The same for a CIDR, which also must not have bits after its prefix.
std::string CidrProblem(std::string_view text);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CHECKS_IP_ADDRESS_H_
