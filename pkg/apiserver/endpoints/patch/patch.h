/// @file
/// Patches of JSON trees.
#ifndef KUBEXX_APISERVER_ENDPOINTS_PATCH_PATCH_H_
#define KUBEXX_APISERVER_ENDPOINTS_PATCH_PATCH_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/patch/patch_budget.h"
#include "kubexx/apiserver/managedfields/type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Applies a JSON patch (RFC 6902). Returns kInvalid when an operation cannot be applied or a test
/// fails, kBadRequest for an invalid patch, and kRequestEntityTooLarge when the patch would exceed
/// `budget`.
apimachinery::Result<codec::JsonTree> ApplyJsonPatch(codec::JsonTree object,
                                                     const codec::JsonTree& patch,
                                                     PatchBudget budget = PatchBudget());

/// Applies a merge patch (RFC 7386).
codec::JsonTree ApplyMergePatch(codec::JsonTree object, const codec::JsonTree& patch);

/// Applies a Kubernetes strategic merge patch. The object's `type` says which lists are merged, and
/// by which key. It supports the directives $patch, $retainKeys, $deleteFromPrimitiveList and
/// $setElementOrder. In merged lists, elements that only the patch has come last. Returns
/// kBadRequest for an invalid directive, and kRequestEntityTooLarge when the patch would exceed
/// `budget`.
apimachinery::Result<codec::JsonTree> ApplyStrategicMergePatch(codec::JsonTree object,
                                                               const codec::JsonTree& patch,
                                                               const managedfields::Type& type,
                                                               PatchBudget budget = PatchBudget());

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_PATCH_PATCH_H_
