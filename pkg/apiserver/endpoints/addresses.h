/// @file
/// Addresses of IP and ranges of them, as Go reads them.
#ifndef KUBEXX_APISERVER_ENDPOINTS_ADDRESSES_H_
#define KUBEXX_APISERVER_ENDPOINTS_ADDRESSES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kubexx/apiserver/endpoints/field_causes.h"

namespace kubexx::apiserver {

/// An address of either family: one of IPv4 is the last four bytes of "::ffff:a.b.c.d".
struct Address {
  std::array<std::uint8_t, 16> bytes{};
  bool v4 = false;
};

/// Addresses that begin with the same bits.
struct CidrBlock {
  Address first;
  int bits = 0;  ///< of the family's 32 or 128
};

/// The address; nothing for what is none. As netutils.ParseIPSloppy: numbers of IPv4 may have
/// zeros before them, and IPv4 may be written in the form of IPv6.
std::optional<Address> ParseAddress(std::string_view text);

/// The range "address/bits", cut to its first address. As netutils.ParseCIDRSloppy.
std::optional<CidrBlock> ParseCidrBlock(std::string_view text);

/// Whether `inner` lies in `outer` and is smaller.
bool IsWithin(const CidrBlock& inner, const CidrBlock& outer);

/// Whether an address is written so that nobody reads another one in it: no zeros before numbers,
/// and no IPv4 in the form of IPv6.
bool IsStrictAddress(std::string_view text);
/// The same of a range, whose address has no bits beyond its own.
bool IsStrictRange(std::string_view text);

/// Adds that a text is no address, or not written strictly.
void CheckAddress(std::string_view text, std::string field, FieldCauses& causes);
/// The same of a range.
void CheckAddressRange(std::string_view text, std::string field, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_ADDRESSES_H_
