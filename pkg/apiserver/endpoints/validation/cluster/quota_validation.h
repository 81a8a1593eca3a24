/// @file
/// Checks of ResourceQuotas and LimitRanges.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_QUOTA_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_QUOTA_VALIDATION_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with the spec of a ResourceQuota. As core validation's
/// ValidateResourceQuotaSpec.
void CheckQuotaSpec(const codec::JsonTree& spec, FieldCauses& causes);

/// Adds a cause when an update of a ResourceQuota changes its scopes, whose order means nothing.
/// `before` and `after` are the specs.
void CheckQuotaChange(const codec::JsonTree& before, const codec::JsonTree& after,
                      FieldCauses& causes);

/// Adds what is wrong with the spec of a LimitRange. As core validation's ValidateLimitRange.
void CheckLimitRange(const codec::JsonTree& spec, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_QUOTA_VALIDATION_H_
