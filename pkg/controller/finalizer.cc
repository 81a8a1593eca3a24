#include "kubexx/controller/finalizer.h"

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::controller::internal {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

Result<std::string> FinalizersPatch(const ObjectMeta& wanted) {
  if (wanted.resource_version.empty()) {
    const apimachinery::ObjectKey key{wanted.namespace_, wanted.name};
    return Fail(Reason::kInvalid,
                "the finalizers of \"" + key.ToString() +
                    "\" cannot be changed: it has no metadata.resourceVersion. Pass Finalize the "
                    "object that Get or a write has returned, not one that was made by hand");
  }
  codec::JsonTree patch = codec::JsonTree::Object();
  codec::JsonTree& metadata = patch["metadata"];
  metadata = codec::JsonTree::Object();
  // A merge patch replaces a list as a whole, so it must not meet a version of the object with
  // other finalizers. The patch does not name the uid, because then an object that was deleted
  // would be a conflict. The version is enough: no two objects have the same one.
  metadata["resourceVersion"] = wanted.resource_version;
  codec::JsonTree& finalizers = metadata["finalizers"];
  for (const std::string& finalizer : wanted.finalizers) {
    finalizers.Append(finalizer);
  }
  return patch.ToJson();
}

}  // namespace kubexx::controller::internal
