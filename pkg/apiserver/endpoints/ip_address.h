/// @file
/// IP addresses and ranges of them, in texts.
#ifndef KUBEXX_APISERVER_ENDPOINTS_IP_ADDRESS_H_
#define KUBEXX_APISERVER_ENDPOINTS_IP_ADDRESS_H_

#include <optional>
#include <string>
#include <string_view>

namespace kubexx::apiserver {

/// The bytes of an IPv4 or an IPv6 address without brackets: 4 or 16 of them, or none.
std::string BytesOfAddress(std::string_view text);

/// The address of such bytes in its usual form, "" of other numbers of bytes.
std::string TextOfAddress(const std::string& bytes);

/// Whether it is an IPv4 or an IPv6 address, without brackets.
bool IsIpAddress(std::string_view text);

/// "10.0.0.0/24" in two parts.
struct Cidr {
  std::string bytes{};  ///< of the address, as it was written
  unsigned prefix = 0;  ///< at most eight times as many
};

/// None of a text that is no CIDR. Of what others write with leading zeros, see CidrProblem.
std::optional<Cidr> ParseCidr(std::string_view text);

/// `bytes` with all bits behind the prefix 0.
std::string NetworkOf(std::string bytes, unsigned prefix);

/// What kube-apiserver has against an address in a field of a Service: leading zeros and addresses
/// of IPv4 as those of IPv6 mean different things to different programs. "" for nothing.
std::string AddressProblem(std::string_view text);

/// The same of a CIDR, which has no bits behind its prefix either.
std::string CidrProblem(std::string_view text);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_IP_ADDRESS_H_
