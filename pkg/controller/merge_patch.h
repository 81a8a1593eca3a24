/// @file
/// MergePatchBetween: the difference of two objects as a patch.
#ifndef KUBEXX_CONTROLLER_MERGE_PATCH_H_
#define KUBEXX_CONTROLLER_MERGE_PATCH_H_

#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/schema.h"

namespace kubexx::controller {

/// The JSON merge patch (RFC 7386) that turns the JSON object `from` into `to`; "{}" when they are
/// equal. A changed list is replaced as a whole. Null members of `to` count as absent. A member
/// that `to` does not have is removed as a whole, also when it is an object: only so does the patch
/// turn `from` into `to`, as that of Go's jsonpatch.CreateMergePatch does. kMalformed when `from`
/// or `to` is not a JSON object.
apimachinery::Result<std::string> MergePatchBetween(std::string_view from, std::string_view to);

/// Like MergePatchBetween for two states of a Kubernetes object, but a patch that replaces or
/// removes a list has the metadata.resourceVersion of `from`, too, when it has one. The server then
/// answers with kConflict when the object is no longer the one that `from` shows: otherwise the
/// patch would undo what somebody else has just changed in that list. As controller-runtime's
/// MergeFrom without a list, and as its MergeFromWithOptimisticLock with one.
///
/// `type`, if set, is the type of the object, and tells which of its fields are maps, such as the
/// labels. A map that `to` does not have is removed key by key: the encoding leaves out empty maps,
/// so the program has taken away the keys that it has seen, and not the ones that somebody else has
/// added since. controller-runtime's MergeFrom knows no types, and removes these as well.
apimachinery::Result<std::string> MergePatchKeepingLists(std::string_view from, std::string_view to,
                                                         const codec::TypeSchema* type = nullptr);

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_MERGE_PATCH_H_
