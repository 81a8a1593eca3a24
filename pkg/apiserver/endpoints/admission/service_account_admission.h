/// @file
/// What a new pod gets of its service account: kube-apiserver's admission plugin ServiceAccount.
#ifndef KUBEXX_APISERVER_ENDPOINTS_ADMISSION_SERVICE_ACCOUNT_ADMISSION_H_
#define KUBEXX_APISERVER_ENDPOINTS_ADMISSION_SERVICE_ACCOUNT_ADMISSION_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Whether the plugin is on and the request creates a pod.
bool HasServiceAccount(const Call& call);

/// Names the account "default" where the pod names none, adds the volume with the account's token
/// and mounts it into each container unless the pod or its account does not want that, and takes
/// over the account's imagePullSecrets where the pod has none. Not of mirror pods. kForbidden when
/// the account does not exist; for "default", which a controller may be about to make, it waits a
/// little.
apimachinery::Result<void> GiveServiceAccount(const Call& call, codec::JsonTree& pod);

/// What holds when webhooks have changed the pod, too: kForbidden when it has no account, one that
/// does not exist, or Secrets that its account does not let it have, and for a mirror pod with an
/// account or a Secret.
apimachinery::Result<void> CheckServiceAccount(const Call& call, const codec::JsonTree& pod);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_ADMISSION_SERVICE_ACCOUNT_ADMISSION_H_
