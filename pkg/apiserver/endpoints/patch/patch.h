/// @file
/// Patches of JSON trees.
#ifndef KUBEXX_APISERVER_ENDPOINTS_PATCH_PATCH_H_
#define KUBEXX_APISERVER_ENDPOINTS_PATCH_PATCH_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/patch/patch_budget.h"
#include "kubexx/apiserver/managedfields/type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// RFC 6902. kInvalid when an operation does not apply or a test fails, kBadRequest for what is no
/// patch. kRequestEntityTooLarge when it would cost more than `budget`.
apimachinery::Result<codec::JsonTree> ApplyJsonPatch(codec::JsonTree object,
                                                     const codec::JsonTree& patch,
                                                     PatchBudget budget = PatchBudget());

/// RFC 7386.
codec::JsonTree ApplyMergePatch(codec::JsonTree object, const codec::JsonTree& patch);

/// Kubernetes' strategic merge patch: lists of objects with a known key are merged by it, the
/// directives $patch, $retainKeys, $deleteFromPrimitiveList and $setElementOrder are obeyed (the
/// order of merged lists: what the patch has and the object has not comes last). Which lists are
/// merged, and by what, is said by the object's `type`. kBadRequest for a directive that is none.
/// kRequestEntityTooLarge when it would cost more than `budget`.
apimachinery::Result<codec::JsonTree> ApplyStrategicMergePatch(codec::JsonTree object,
                                                               const codec::JsonTree& patch,
                                                               const managedfields::Type& type,
                                                               PatchBudget budget = PatchBudget());

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_PATCH_PATCH_H_
