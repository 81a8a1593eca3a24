/// @file
/// Defaults of single fields.
#ifndef KUBEXX_APISERVER_ENDPOINTS_PREPARATION_SET_DEFAULT_H_
#define KUBEXX_APISERVER_ENDPOINTS_PREPARATION_SET_DEFAULT_H_

#include <string_view>

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Sets the member to `value` when it is missing, null or "".
void SetDefault(codec::JsonTree& object, std::string_view member, codec::JsonTree value);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_PREPARATION_SET_DEFAULT_H_
