/// @file
/// The options of a deletion in a request.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CALL_DELETION_REQUEST_H_
#define KUBEXX_APISERVER_ENDPOINTS_CALL_DELETION_REQUEST_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The DeleteOptions object of a request's body, in any encoding, or, where there is no body, of
/// its query. kBadRequest for what is no such object: nothing is deleted then.
apimachinery::Result<codec::JsonTree> DeleteOptionsOf(const Call& call);

/// Whether the request, or its DeleteOptions object, asks for no more than a try.
bool IsDryRun(const Call& call, const codec::JsonTree& options);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CALL_DELETION_REQUEST_H_
