/// @file
/// Checks of addresses and address ranges in all objects but Services, for which kube-apiserver has
/// other messages.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CHECKS_ADDRESS_CHECKS_H_
#define KUBEXX_APISERVER_ENDPOINTS_CHECKS_ADDRESS_CHECKS_H_

#include <string>
#include <string_view>

#include "kubexx/apiserver/endpoints/checks/field_causes.h"

namespace kubexx::apiserver {

/// Adds a cause when a text is not an IP address, or has a form that programs interpret
/// differently.
void CheckAddress(std::string_view text, std::string field, FieldCauses& causes);

/// The same for a CIDR, which must not have bits after its prefix.
void CheckAddressRange(std::string_view text, std::string field, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CHECKS_ADDRESS_CHECKS_H_
