/// @file
/// The handlers of requests by verb and subresource, and the functions that they share.
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

/// A response with an object in the form that the client wants.
Answer ObjectResponse(const Call& call, const codec::JsonTree& object, int code = 200);

/// Returns one object.
Answer HandleGet(const Call& call);
/// Returns the objects that a selection matches, all of them or one page.
Answer HandleList(const Call& call);
/// Returns a stream of changes.
Answer HandleWatch(const Call& call);
/// Stores a new object.
Answer HandleCreate(const Call& call);
/// Replaces an object.
Answer HandleUpdate(const Call& call);
/// Changes an object by a patch of any supported type.
Answer HandlePatch(const Call& call);
/// Deletes one object, or marks it for deletion while it has finalizers.
Answer HandleDelete(const Call& call);
/// Deletes the objects that a selection matches.
Answer HandleDeleteCollection(const Call& call);
/// Assigns a pod to a node.
Answer HandleBinding(const Call& call);
/// Deletes a pod if its PodDisruptionBudget allows one more disruption.
Answer HandleEviction(const Call& call);
/// Makes a token of a service account.
Answer HandleTokenRequest(const Call& call);
/// Reads ComponentStatuses: that of the store, and those that say that there is no scheduler and no
/// controller-manager.
Answer HandleComponentStatus(const Call& call);
/// Answers a review, such as a TokenReview.
Answer HandleReview(const Call& call);

/// The selection of a list, watch or deletion of a collection. Returns kBadRequest for an invalid
/// selector.
apimachinery::Result<Selection> SelectionOf(const Call& call,
                                            const apimachinery::ListOptions& options);

/// Applies the config in the body: creates the object or changes it.
Answer HandleApply(const Call& call);

/// Checks that the name of an update's object is that of the URL, even when that object does not
/// exist. Returns kBadRequest for another name or none.
apimachinery::Result<void> CheckTarget(const Call& call, const std::string& name);

/// Returns kBadRequest when an object names another namespace than the URL. Succeeds for
/// cluster-scoped types.
apimachinery::Result<void> CheckNamespace(const Call& call, const codec::JsonTree& object);

/// Reads the object of a create or update and makes it canonical. Returns kBadRequest for an
/// invalid body and kUnsupportedMediaType. With `warnings` it checks the object's fields as the
/// client has asked; see CheckFields.
apimachinery::Result<codec::JsonTree> ReadBody(const Call& call,
                                               std::vector<std::string>* warnings = nullptr);
/// The same for an object of another type, for subresources.
apimachinery::Result<codec::JsonTree> ReadBodyAs(const Call& call, const ResourceType& type,
                                                 std::vector<std::string>* warnings = nullptr);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_HANDLERS_HANDLERS_H_
