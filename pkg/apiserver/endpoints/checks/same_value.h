/// @file
/// Whether two objects mean the same, though they are written in different ways.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CHECKS_SAME_VALUE_H_
#define KUBEXX_APISERVER_ENDPOINTS_CHECKS_SAME_VALUE_H_

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Whether two parts of objects of a built-in type are equal as Kubernetes compares them:
/// quantities by their amount ("1Gi" is "1073741824"), what is null or an empty list as what is
/// missing. Quantities are known by the names of their members. As apimachinery's
/// equality.Semantic.
bool SameValue(const codec::JsonTree& a, const codec::JsonTree& b);

/// The same of two whole objects, but for their metadata and status: whether a change counts as a
/// new generation.
bool SameSpecValue(const codec::JsonTree& a, const codec::JsonTree& b);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CHECKS_SAME_VALUE_H_
