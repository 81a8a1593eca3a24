/// @file
/// Changes many members of an object at once.
#ifndef KUBEXX_APISERVER_ENDPOINTS_PATCH_MERGE_MEMBERS_H_
#define KUBEXX_APISERVER_ENDPOINTS_PATCH_MERGE_MEMBERS_H_

#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Returns the new value of the member `key`. `old` is null when it did not exist.
using MergeMember = base::FunctionRef<apimachinery::Result<codec::JsonTree>(
    std::string_view key, codec::JsonTree old, const codec::JsonTree& change)>;

/// Merges the members of `changes` into `object`: a null removes the member, and `merge` makes
/// every other value. Ignores members of `changes` for which `skipped` is true. Members keep their
/// places, and new ones come last. The time does not grow with the product of the two numbers of
/// members. Fails only when `merge` fails.
apimachinery::Result<codec::JsonTree> MergeMembers(
    codec::JsonTree object, const codec::JsonTree& changes,
    base::FunctionRef<bool(std::string_view)> skipped, MergeMember merge);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_PATCH_MERGE_MEMBERS_H_
