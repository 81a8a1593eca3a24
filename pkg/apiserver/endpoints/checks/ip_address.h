/// @file
/// IP addresses and ranges of them, in texts.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CHECKS_IP_ADDRESS_H_
#define KUBEXX_APISERVER_ENDPOINTS_CHECKS_IP_ADDRESS_H_

#include <optional>
#include <string>
#include <string_view>

namespace kubexx::apiserver {

/// The bytes of an IPv4 or an IPv6 address without brackets: 4 or 16 of them, or none.
std::string BytesOfAddress(std::string_view text);

/// The same of an address as it once could be written and may still stand in an object: with zeros
/// before its numbers. One of IPv4 in the form of IPv6 is that of IPv4. As netutils.ParseIPSloppy.
std::string BytesOfOldAddress(std::string_view text);

/// The address of such bytes in its usual form, "" of other numbers of bytes.
std::string TextOfAddress(const std::string& bytes);

/// Why nobody on another machine could reach the address of such bytes; "" when somebody may.
std::string_view UnreachableBecause(const std::string& bytes);

/// "10.0.0.0/24" in two parts.
struct Cidr {
  std::string bytes{};  ///< of the address, as it was written
  unsigned prefix = 0;  ///< at most eight times as many
};

/// None of a text that is no CIDR. Of what others write with leading zeros, see CidrProblem.
std::optional<Cidr> ParseCidr(std::string_view text);

/// The same of one as it once could be written, with leading zeros. As netutils.ParseCIDRSloppy.
std::optional<Cidr> ParseOldCidr(std::string_view text);

/// `bytes` with all bits behind the prefix 0.
std::string NetworkOf(std::string bytes, unsigned prefix);

/// Whether `inner` lies in `outer` and is smaller.
bool IsWithin(const Cidr& inner, const Cidr& outer);

/// What kube-apiserver has against an address: leading zeros and addresses of IPv4 as those of IPv6
/// mean different things to different programs. "" for nothing.
std::string AddressProblem(std::string_view text);

/// The same of a CIDR, which has no bits behind its prefix either.
std::string CidrProblem(std::string_view text);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CHECKS_IP_ADDRESS_H_
