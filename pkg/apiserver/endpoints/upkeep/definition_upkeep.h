/// @file
/// Updates stored definitions of custom resources when others are deleted, and deletes the objects
/// of definitions.
#ifndef KUBEXX_APISERVER_ENDPOINTS_UPKEEP_DEFINITION_UPKEEP_H_
#define KUBEXX_APISERVER_ENDPOINTS_UPKEEP_DEFINITION_UPKEEP_H_

#include <stop_token>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/store/object_store.h"
#include "kubexx/apiserver/endpoints/store/reap_budget.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Accepts the names of definitions whose names have become free, and writes that to their status.
/// Logs failures for single definitions, and returns false when the call should be repeated.
/// Returns an error when the definitions cannot be read or `stop` is requested.
apimachinery::Result<bool> AcceptNames(ObjectStore& objects, const std::stop_token& stop);

/// Deletes the objects of a definition's resource, as many as `budget` allows. Returns whether none
/// is left. Objects with finalizers are left, and objects that cannot be deleted, which it logs.
/// Objects newer than `until` stay, because the definition may have been deleted and created again
/// since it was read. Asks no webhook.
apimachinery::Result<bool> DeleteCustomObjects(ObjectStore& objects,
                                               const codec::JsonTree& definition,
                                               storage::Revision until, ReapBudget& budget,
                                               const std::stop_token& stop);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_UPKEEP_DEFINITION_UPKEEP_H_
