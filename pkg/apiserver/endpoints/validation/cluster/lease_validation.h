/// @file
/// Checks of Leases.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_LEASE_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_LEASE_VALIDATION_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with the spec of a Lease. As coordination validation's ValidateLeaseSpec.
void CheckLease(const codec::JsonTree& spec, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_LEASE_VALIDATION_H_
