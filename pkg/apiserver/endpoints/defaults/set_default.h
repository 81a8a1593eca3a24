/// @file
/// Defaults of single fields.
#ifndef KUBEXX_APISERVER_ENDPOINTS_DEFAULTS_SET_DEFAULT_H_
#define KUBEXX_APISERVER_ENDPOINTS_DEFAULTS_SET_DEFAULT_H_

#include <initializer_list>
#include <string_view>

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Sets the member to `value` when it is missing, null or "".
void SetDefault(codec::JsonTree& object, std::string_view member, codec::JsonTree value);

/// Sets the member to the value that is written in `json` when it is missing, null, "" or an empty
/// list.
void SetMissing(codec::JsonTree& object, std::string_view member, std::string_view json);

/// The same in the object at `path`; does nothing when there is no object.
void SetMissingBelow(codec::JsonTree& object, std::initializer_list<std::string_view> path,
                     std::string_view member, std::string_view json);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_DEFAULTS_SET_DEFAULT_H_
