/// @file
/// Checks of ServiceCIDRs.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_NETWORK_CIDR_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_NETWORK_CIDR_VALIDATION_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds causes when an update changes or removes a range of addresses of a ServiceCIDR; one of the
/// other family may be added. `before` and `after` are the specs. As networking validation's
/// ValidateServiceCIDRUpdate.
void CheckServiceCidrChange(const codec::JsonTree& before, const codec::JsonTree& after,
                            FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_NETWORK_CIDR_VALIDATION_H_
