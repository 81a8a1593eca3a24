/// @file
/// Checks of the scheduling of pods: tolerations, affinities and topology spread constraints.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_SCHEDULING_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_SCHEDULING_VALIDATION_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with the members tolerations, affinity and topologySpreadConstraints of a
/// pod's spec, whose path is `path`. As core validation.
void CheckScheduling(const codec::JsonTree& pod_spec, const FieldPath& path, FieldCauses& causes);

/// Adds what is wrong with the tolerations in a member of `object`.
void CheckTolerations(const codec::JsonTree& object, const FieldPath& path, FieldCauses& causes);

/// Adds what is wrong with a NodeSelector, which is a list of terms.
void CheckNodeTerms(const codec::JsonTree& selector, const FieldPath& path, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_SCHEDULING_VALIDATION_H_
