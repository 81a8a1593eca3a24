/// @file
/// Deletes what goes together with a namespace or a definition.
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

/// Which objects, and how.
struct DeletionOfAll {
  const ResourceType& type;
  std::string prefix{};  ///< of the keys, the type's own or longer
  /// What was created later stays: it is of a namespace or a definition that was made anew after
  /// this one was seen to be there.
  storage::Revision until = 0;
  std::string propagation{};
};

/// What is still there.
struct Leftovers {
  std::int64_t count = 0;
  /// Some of it has been written meanwhile, or is newer.
  bool contended = false;
  /// Why something could not be deleted; "" when nothing failed. The log tells of some.
  std::string failure{};
};

/// Deletes the objects, as they are stored and some at a time, until `budget` is spent. `left` is
/// called with those that wait for a finalizer or a kubelet. Errors of the storage, and kCancelled.
apimachinery::Result<Leftovers> DeleteAll(ObjectStore& objects, const DeletionOfAll& deletion,
                                          base::FunctionRef<void(const codec::JsonTree&)> left,
                                          ReapBudget& budget, const std::stop_token& stop);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_STORE_DELETE_ALL_H_
