#include "kubexx/controller/finalizer.h"

#include "kubexx/codec/json_tree.h"

namespace kubexx::controller::internal {

std::string FinalizersPatch(const ObjectMeta& wanted) {
  codec::JsonTree patch = codec::JsonTree::Object();
  codec::JsonTree& metadata = patch["metadata"];
  metadata = codec::JsonTree::Object();
  // A merge patch replaces a list as a whole, so it must not meet a version with other finalizers.
  // It names no uid, which would make a conflict of an object that is gone; no two objects have the
  // same version.
  if (!wanted.resource_version.empty()) {
    metadata["resourceVersion"] = wanted.resource_version;
  }
  codec::JsonTree& finalizers = metadata["finalizers"];
  for (const std::string& finalizer : wanted.finalizers) {
    finalizers.Append(finalizer);
  }
  return patch.ToJson();
}

}  // namespace kubexx::controller::internal
