/// @file
/// Compares objects by their meaning instead of their text.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CHECKS_SAME_VALUE_H_
#define KUBEXX_APISERVER_ENDPOINTS_CHECKS_SAME_VALUE_H_

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Whether two parts of objects of a built-in type are equal as Kubernetes compares them:
/// quantities by their amount ("1Gi" equals "1073741824"), and null and empty lists as missing
/// members. It recognizes quantities by the names of their members. As apimachinery's
/// equality.Semantic.
bool SameValue(const codec::JsonTree& a, const codec::JsonTree& b);

/// The same for two members, each of which may be missing: then the pointer is null, or the value
/// is. Only another missing member is the same as a missing one.
bool SameMember(const codec::JsonTree* a, const codec::JsonTree* b);

/// As SameValue for two whole objects without their metadata and status. When they differ, the
/// change increments metadata.generation.
bool SameSpecValue(const codec::JsonTree& a, const codec::JsonTree& b);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CHECKS_SAME_VALUE_H_
