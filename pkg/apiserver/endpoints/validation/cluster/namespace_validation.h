/// @file
/// Checks of namespaces, and warnings about them.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_NAMESPACE_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_NAMESPACE_VALIDATION_H_

#include <string>
#include <vector>

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/object/write_part.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with the finalizers in a namespace's spec. `old` is the namespace before an
/// update, null for a new one. As core validation's ValidateNamespace and
/// ValidateNamespaceFinalizeUpdate.
void CheckNamespaceFinalizers(const codec::JsonTree* old, const codec::JsonTree& object,
                              FieldCauses& causes);

/// Adds a cause when a write of the status gives the namespace another phase than the one that its
/// deletionTimestamp says. As core validation's ValidateNamespaceStatusUpdate.
void CheckPartOfNamespace(WritePart part, const codec::JsonTree& current, codec::JsonTree& object,
                          FieldCauses& causes);

/// A warning about a namespace that asks for a level of Pod Security, which this server does not
/// enforce; empty for others.
std::vector<std::string> PodSecurityWarnings(const codec::JsonTree& object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_NAMESPACE_VALIDATION_H_
