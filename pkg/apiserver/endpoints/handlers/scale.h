/// @file
/// The subresource "scale".
#ifndef KUBEXX_APISERVER_ENDPOINTS_HANDLERS_SCALE_H_
#define KUBEXX_APISERVER_ENDPOINTS_HANDLERS_SCALE_H_

#include "kubexx/apiserver/endpoints/admission/admit.h"
#include "kubexx/apiserver/endpoints/call/call.h"

namespace kubexx::apiserver {

/// A response with the Scale of `object` in the form that the client wants.
Answer ScaleResponse(const Call& call, const codec::JsonTree& object);

/// Lets the mutating webhooks change the Scale of `object`, which is about to be written instead of
/// `current`.
apimachinery::Result<void> MutateScale(const Call& call, Admission& admission,
                                       const codec::JsonTree& current, codec::JsonTree& object);

/// Answers a get of the subresource.
Answer GetScale(const Call& call);
/// Updates the subresource. `change` makes the new Scale from the current one.
Answer UpdateScale(const Call& call, ObjectStore::Change change);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_HANDLERS_SCALE_H_
