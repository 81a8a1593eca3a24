/// @file
/// Checks of the security settings of containers and pods.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_SECURITY_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_SECURITY_VALIDATION_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with the securityContext of a container, whose path is `path`. `host_users`
/// says whether users in the pod are users of the node. As core validation's
/// ValidateSecurityContext.
void CheckSecurityContext(const codec::JsonTree& context, bool host_users, const FieldPath& path,
                          FieldCauses& causes);

/// The same for the securityContext of a pod, and for the namespaces of the node that the pod
/// shares. `path` is that of the spec. As core validation's validatePodSpecSecurityContext.
void CheckPodSecurity(const codec::JsonTree& pod_spec, const FieldPath& path, FieldCauses& causes);

/// Adds causes for fields that a pod for Windows, or for Linux, may not have. As core validation's
/// validateWindows and validateLinux.
void CheckSystem(const codec::JsonTree& pod_spec, const FieldPath& path, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_SECURITY_VALIDATION_H_
