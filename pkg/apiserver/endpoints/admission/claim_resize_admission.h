/// @file
/// kube-apiserver's admission plugin PersistentVolumeClaimResize.
#ifndef KUBEXX_APISERVER_ENDPOINTS_ADMISSION_CLAIM_RESIZE_ADMISSION_H_
#define KUBEXX_APISERVER_ENDPOINTS_ADMISSION_CLAIM_RESIZE_ADMISSION_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Whether the request writes a PersistentVolumeClaim.
bool IsClaimWrite(const Call& call);

/// Returns kForbidden when a claim asks for more storage than `old`, but is not bound, or is of no
/// StorageClass that allows expansion.
apimachinery::Result<void> CheckClaimGrowth(const Call& call, const codec::JsonTree& claim,
                                            const codec::JsonTree& old);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_ADMISSION_CLAIM_RESIZE_ADMISSION_H_
