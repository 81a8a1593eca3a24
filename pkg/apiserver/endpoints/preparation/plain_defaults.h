/// @file
/// Defaults that are a fixed value, independent of the other fields.
#ifndef KUBEXX_APISERVER_ENDPOINTS_PREPARATION_PLAIN_DEFAULTS_H_
#define KUBEXX_APISERVER_ENDPOINTS_PREPARATION_PLAIN_DEFAULTS_H_

#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Sets such defaults for the missing fields of an object of a built-in type, as kube-apiserver
/// does.
void SetPlainDefaults(const ResourceType& type, codec::JsonTree& object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_PREPARATION_PLAIN_DEFAULTS_H_
