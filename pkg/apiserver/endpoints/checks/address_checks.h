/// @file
/// Checks of the addresses and ranges in objects other than Services, which have texts of their
/// own.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CHECKS_ADDRESS_CHECKS_H_
#define KUBEXX_APISERVER_ENDPOINTS_CHECKS_ADDRESS_CHECKS_H_

#include <string>
#include <string_view>

#include "kubexx/apiserver/endpoints/checks/field_causes.h"

namespace kubexx::apiserver {

/// Adds that a text is no address, or not written so that all programs read the same one in it.
void CheckAddress(std::string_view text, std::string field, FieldCauses& causes);

/// The same of a range, which has no bits behind its prefix.
void CheckAddressRange(std::string_view text, std::string field, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CHECKS_ADDRESS_CHECKS_H_
