/// @file
/// Undoes the changes of an update in a part of an object.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CHECKS_RESTORE_H_
#define KUBEXX_APISERVER_ENDPOINTS_CHECKS_RESTORE_H_

#include <string_view>

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Sets the value of `object` at `path` to that of `current`, or removes it when `current` has
/// none. `path` is member names separated by dots. Also removes enclosing objects that become empty
/// and that `current` does not have.
void Restore(codec::JsonTree& object, const codec::JsonTree& current, std::string_view path);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CHECKS_RESTORE_H_
