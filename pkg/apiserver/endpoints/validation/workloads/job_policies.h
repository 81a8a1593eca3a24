/// @file
/// Checks of a Job's policies for failure, success and replacement of pods.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_JOB_POLICIES_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_JOB_POLICIES_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with the members podFailurePolicy, successPolicy and podReplacementPolicy of
/// a Job's spec, whose path is `path`. As batch validation.
void CheckJobPolicies(const codec::JsonTree& spec, const FieldPath& path, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_JOB_POLICIES_H_
