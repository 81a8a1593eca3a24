/// @file
/// Checks of updates of StatefulSets and Jobs.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_WORKLOAD_CHANGES_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_WORKLOAD_CHANGES_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds a cause when an update of a StatefulSet changes more of its spec than it may. `before` and
/// `after` are the specs. As apps validation's ValidateStatefulSetUpdate.
void CheckStatefulSetChange(const codec::JsonTree& before, const codec::JsonTree& after,
                            FieldCauses& causes);

/// Adds causes for changes from `current` to `object` that an update of a Job may not make in its
/// template and its number of completions. What schedules its pods may change while it is suspended
/// and has none. As batch validation's ValidateJobSpecUpdate.
void CheckJobChange(const codec::JsonTree& current, const codec::JsonTree& object,
                    FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_WORKLOAD_CHANGES_H_
