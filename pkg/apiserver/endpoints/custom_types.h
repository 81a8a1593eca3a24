/// @file
/// Custom resources: what a CustomResourceDefinition makes the server serve.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CUSTOM_TYPES_H_
#define KUBEXX_APISERVER_ENDPOINTS_CUSTOM_TYPES_H_

#include <memory>
#include <stop_token>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/custom_names.h"
#include "kubexx/apiserver/endpoints/definition_type.h"
#include "kubexx/apiserver/endpoints/object_store.h"
#include "kubexx/apiserver/endpoints/reap_budget.h"
#include "kubexx/apiserver/endpoints/type_registry.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/base/clock.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Where the objects of a definition are in the storage.
std::string CustomPrefixOf(const codec::JsonTree& definition);

/// Whether the objects of a definition would be stored where those of a built-in type are, and so
/// be taken for each other: it is refused. One that is there already serves nothing.
bool OverlapsBuiltin(const codec::JsonTree& definition);

/// The served versions of a definition; none before it is established. `converter` may be null.
std::vector<ResourceTypeRef> TypesOfDefinition(const codec::JsonTree& definition,
                                               const std::shared_ptr<schema::Converter>& converter);

/// Fills in what a definition leaves out: singular name, list kind, conversion, and in its status
/// the version that is stored.
void SetDefinitionDefaults(codec::JsonTree& definition);

/// Sets the status of a definition at once, where kube-apiserver's controllers take a moment: its
/// names are accepted and it is established unless another definition has one of them.
void EstablishDefinition(base::Clock& clock, const TakenNames& taken, codec::JsonTree& definition);

/// Accepts the names of those definitions whose names have become free, and writes that. The log
/// tells of those for which that fails; false when it should be tried again. Errors: those of
/// reading them all, and that it was stopped.
apimachinery::Result<bool> AcceptNames(ObjectStore& objects, const std::stop_token& stop);

/// The finalizer of a definition whose objects are to go first.
inline constexpr std::string_view kCustomResourceCleanup =
    "customresourcecleanup.apiextensions.k8s.io";

/// Marks a definition for deletion: its time, the finalizer, a condition. As kube-apiserver's
/// registry.
void BeginTermination(base::Clock& clock, codec::JsonTree& definition);
/// Says that objects are waited for.
void ContinueTermination(base::Clock& clock, codec::JsonTree& definition);
/// The objects have gone: without the finalizer.
void EndTermination(base::Clock& clock, codec::JsonTree& definition);

/// Deletes the objects of a definition's resource, as many as `budget` has room for. Whether none
/// is left: those with finalizers are, and those that cannot be deleted, of which the log tells.
/// What is newer than `until` stays: it is of a definition that was made anew after this one was
/// seen to be there. No webhook is asked.
apimachinery::Result<bool> DeleteCustomObjects(ObjectStore& objects,
                                               const codec::JsonTree& definition,
                                               storage::Revision until, ReapBudget& budget,
                                               const std::stop_token& stop);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CUSTOM_TYPES_H_
