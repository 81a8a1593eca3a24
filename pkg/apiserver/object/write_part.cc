#include "kubexx/apiserver/object/write_part.h"

namespace kubexx::apiserver {

WritePart WritePartOf(const Subresource* subresource) {
  if (subresource == nullptr) {
    return WritePart::kObject;
  }
  switch (subresource->is) {
    case Subresource::Is::kStatus:
      return WritePart::kStatus;
    case Subresource::Is::kApproval:
      return WritePart::kApproval;
    case Subresource::Is::kFinalize:
      return WritePart::kFinalizers;
    case Subresource::Is::kResize:
      return WritePart::kResize;
    case Subresource::Is::kEphemeralContainers:
      return WritePart::kEphemeralContainers;
    default:
      return WritePart::kObject;
  }
}

}  // namespace kubexx::apiserver
