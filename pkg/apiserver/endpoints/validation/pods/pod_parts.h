/// @file
/// What a new pod has, and what writes of its subresources may change.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_PARTS_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_PARTS_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/object/write_part.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Writes what a new pod says in its status: its quality of service class, and that it waits for
/// its scheduling gates. The pod must have its defaults. As core/v1's podStrategy.PrepareForCreate.
void CompleteNewPod(codec::JsonTree& pod);

/// Adds a cause for ephemeral containers, which a new pod may not have.
void CheckNewPod(const codec::JsonTree& pod, FieldCauses& causes);

/// Adds causes for changes that a write of `part` may not make: to remove or change ephemeral
/// containers, to resize what cannot be resized, or to change the quality of service class, which
/// it copies from `current` when a status has none.
void CheckPartOfPod(WritePart part, const codec::JsonTree& current, codec::JsonTree& pod,
                    FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_PARTS_H_
