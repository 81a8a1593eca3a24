/// @file
/// What answers a request, by its verb and its subresource, and what those share.
#ifndef KUBEXX_APISERVER_ENDPOINTS_HANDLERS_HANDLERS_H_
#define KUBEXX_APISERVER_ENDPOINTS_HANDLERS_HANDLERS_H_

#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/apiserver/object/selection.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// An object as the client wants it.
Answer ObjectResponse(const Call& call, const codec::JsonTree& object, int code = 200);

/// One object.
Answer HandleGet(const Call& call);
/// Those that a selection matches, a page of them or all.
Answer HandleList(const Call& call);
/// A stream of changes.
Answer HandleWatch(const Call& call);
/// Stores a new object.
Answer HandleCreate(const Call& call);
/// Replaces an object.
Answer HandleUpdate(const Call& call);
/// Changes an object by a patch of any supported type.
Answer HandlePatch(const Call& call);
/// Deletes one object, or marks it for deletion while it has finalizers.
Answer HandleDelete(const Call& call);
/// Deletes those that a selection matches.
Answer HandleDeleteCollection(const Call& call);
/// Gives a pod its node.
Answer HandleBinding(const Call& call);
/// Deletes a pod, if its disruption budget has a disruption left.
Answer HandleEviction(const Call& call);
/// Makes a service account's token.
Answer HandleTokenRequest(const Call& call);
/// Of ComponentStatus: of the store, and that there is no scheduler and no controller-manager.
Answer HandleComponentStatus(const Call& call);
/// Of a type that is a review.
Answer HandleReview(const Call& call);

/// The selection that a list, watch or deletion is about; kBadRequest.
apimachinery::Result<Selection> SelectionOf(const Call& call,
                                            const apimachinery::ListOptions& options);

/// Creates an object, or changes it, to what the config says that the body is.
Answer HandleApply(const Call& call);

/// The object of an update has to be the one of the URL, also when that does not exist: kBadRequest
/// for another name, or none.
apimachinery::Result<void> CheckTarget(const Call& call, const std::string& name);

/// kBadRequest when an object is of another namespace than the URL. Where there are none it says
/// nothing.
apimachinery::Result<void> CheckNamespace(const Call& call, const codec::JsonTree& object);

/// The object of a create or update, canonical. kBadRequest, kUnsupportedMediaType. With `warnings`
/// its fields are checked as the client wants it; see CheckFields.
apimachinery::Result<codec::JsonTree> ReadBody(const Call& call,
                                               std::vector<std::string>* warnings = nullptr);
/// The same of another type, for subresources.
apimachinery::Result<codec::JsonTree> ReadBodyAs(const Call& call, const ResourceType& type,
                                                 std::vector<std::string>* warnings = nullptr);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_HANDLERS_HANDLERS_H_
