/// @file
/// The options of a deletion request.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CALL_DELETION_REQUEST_H_
#define KUBEXX_APISERVER_ENDPOINTS_CALL_DELETION_REQUEST_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The DeleteOptions object from the request's body, in any encoding, or from its query when it has
/// no body. Returns kBadRequest when the body is not such an object.
apimachinery::Result<codec::JsonTree> DeleteOptionsOf(const Call& call);

/// Whether the request or its DeleteOptions object asks for a dry run.
bool IsDryRun(const Call& call, const codec::JsonTree& options);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CALL_DELETION_REQUEST_H_
