/// @file
/// kube-apiserver's admission plugin ServiceAccount, which adds the parts of its service account to
/// a new pod.
#ifndef KUBEXX_APISERVER_ENDPOINTS_ADMISSION_SERVICE_ACCOUNT_ADMISSION_H_
#define KUBEXX_APISERVER_ENDPOINTS_ADMISSION_SERVICE_ACCOUNT_ADMISSION_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Whether the plugin is on and the request creates a pod.
bool HasServiceAccount(const Call& call);

/// Sets the service account "default" when the pod names none. Adds a volume with the account's
/// token and mounts it into each container, unless the pod or the account disables that. Copies the
/// account's imagePullSecrets when the pod has none. Does nothing for mirror pods. Returns
/// kForbidden when the account does not exist; for "default" it first waits a little, because a
/// controller may be about to create it.
apimachinery::Result<void> GiveServiceAccount(const Call& call, codec::JsonTree& pod);

/// Checks the pod after webhooks may have changed it. Returns kForbidden when the pod has no
/// account, or one that does not exist, or uses Secrets that its account does not allow, and for a
/// mirror pod with an account or a Secret.
apimachinery::Result<void> CheckServiceAccount(const Call& call, const codec::JsonTree& pod);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_ADMISSION_SERVICE_ACCOUNT_ADMISSION_H_
