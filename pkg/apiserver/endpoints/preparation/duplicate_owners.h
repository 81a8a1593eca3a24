/// @file
/// Takes out owner references that an object has more than once.
#ifndef KUBEXX_APISERVER_ENDPOINTS_PREPARATION_DUPLICATE_OWNERS_H_
#define KUBEXX_APISERVER_ENDPOINTS_PREPARATION_DUPLICATE_OWNERS_H_

#include <string>
#include <vector>

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// When kube-apiserver, and this server, look for such references.
enum class OwnersSeen : bool {
  kAsSent,         ///< in the object of a create or update, before the admission
  kAfterAdmission  ///< in every written object, after the mutating admission
};

/// Keeps the first of equal elements of metadata.ownerReferences, as kube-apiserver does, and
/// appends a warning for the client when there were others, unless `warnings` has it already.
/// References with the same uid that differ in something stay.
void DropDuplicateOwners(OwnersSeen seen, codec::JsonTree& object,
                         std::vector<std::string>& warnings);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_PREPARATION_DUPLICATE_OWNERS_H_
