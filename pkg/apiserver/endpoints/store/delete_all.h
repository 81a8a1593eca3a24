/// @file
/// Deletes the objects of a namespace or a CustomResourceDefinition that is being deleted.
#ifndef KUBEXX_APISERVER_ENDPOINTS_STORE_DELETE_ALL_H_
#define KUBEXX_APISERVER_ENDPOINTS_STORE_DELETE_ALL_H_

#include <cstdint>
#include <stop_token>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/store/object_store.h"
#include "kubexx/apiserver/endpoints/store/reap_budget.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Which objects to delete, and how.
struct DeletionOfAll {
  const ResourceType& type;
  std::string prefix{};  ///< prefix of the keys: the type's own or a longer one
  /// Objects that were created after this revision stay, because the namespace or definition may
  /// have been deleted and created again since it was read.
  storage::Revision until = 0;
  std::string propagation{};
};

/// The objects that DeleteAll has not removed.
struct Leftovers {
  std::int64_t count = 0;
  /// Some of them were written meanwhile, or are newer than `DeletionOfAll::until`.
  bool contended = false;
  /// Why an object could not be deleted; "" when nothing failed. Some failures are logged.
  std::string failure{};
};

/// Deletes the objects, some at a time, until `budget` is spent. It uses them in their stored
/// version. Calls `left` with those that wait for a finalizer or a kubelet. Returns errors of the
/// storage, and kCancelled.
apimachinery::Result<Leftovers> DeleteAll(ObjectStore& objects, const DeletionOfAll& deletion,
                                          base::FunctionRef<void(const codec::JsonTree&)> left,
                                          ReapBudget& budget, const std::stop_token& stop);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_STORE_DELETE_ALL_H_
