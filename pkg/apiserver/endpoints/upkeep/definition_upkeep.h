/// @file
/// What becomes of stored definitions of custom resources, and of their objects, when others go.
#ifndef KUBEXX_APISERVER_ENDPOINTS_UPKEEP_DEFINITION_UPKEEP_H_
#define KUBEXX_APISERVER_ENDPOINTS_UPKEEP_DEFINITION_UPKEEP_H_

#include <stop_token>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/store/object_store.h"
#include "kubexx/apiserver/endpoints/store/reap_budget.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Accepts the names of those definitions whose names have become free, and writes that. The log
/// tells of those for which that fails; false when it should be tried again. Errors: those of
/// reading them all, and that it was stopped.
apimachinery::Result<bool> AcceptNames(ObjectStore& objects, const std::stop_token& stop);

/// Deletes the objects of a definition's resource, as many as `budget` has room for. Whether none
/// is left: those with finalizers are, and those that cannot be deleted, of which the log tells.
/// What is newer than `until` stays: it is of a definition that was made anew after this one was
/// seen to be there. No webhook is asked.
apimachinery::Result<bool> DeleteCustomObjects(ObjectStore& objects,
                                               const codec::JsonTree& definition,
                                               storage::Revision until, ReapBudget& budget,
                                               const std::stop_token& stop);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_UPKEEP_DEFINITION_UPKEEP_H_
