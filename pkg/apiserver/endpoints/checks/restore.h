/// @file
/// Takes back what an update has changed in a part of an object.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CHECKS_RESTORE_H_
#define KUBEXX_APISERVER_ENDPOINTS_CHECKS_RESTORE_H_

#include <string_view>

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Gives `object` what `current` has at `path`, whose members are separated by dots, and takes away
/// what that has not; also an object around it that would be empty then and is not in `current`.
void Restore(codec::JsonTree& object, const codec::JsonTree& current, std::string_view path);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CHECKS_RESTORE_H_
