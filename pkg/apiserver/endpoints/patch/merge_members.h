/// @file
/// Changing many members of an object at once.
#ifndef KUBEXX_APISERVER_ENDPOINTS_PATCH_MERGE_MEMBERS_H_
#define KUBEXX_APISERVER_ENDPOINTS_PATCH_MERGE_MEMBERS_H_

#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// What becomes of the member `key`: `old` is null for one that was not there.
using MergeMember = base::FunctionRef<apimachinery::Result<codec::JsonTree>(
    std::string_view key, codec::JsonTree old, const codec::JsonTree& change)>;

/// `object` with the members of `changes`: a null takes a member out, all others are what `merge`
/// makes of them. Those of `changes` that `skipped` names are left alone. Members keep their
/// places, new ones come last. In a time that is not that of all pairs of members. Fails with
/// `merge` only.
apimachinery::Result<codec::JsonTree> MergeMembers(
    codec::JsonTree object, const codec::JsonTree& changes,
    base::FunctionRef<bool(std::string_view)> skipped, MergeMember merge);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_PATCH_MERGE_MEMBERS_H_
