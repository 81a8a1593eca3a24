#include "kubexx/kubelet/config/pod_update.h"

namespace kubexx::kubelet {

std::string_view ToString(PodOperation operation) {
  switch (operation) {
    case PodOperation::kSet:
      return "SET";
    case PodOperation::kAdd:
      return "ADD";
    case PodOperation::kDelete:
      return "DELETE";
    case PodOperation::kRemove:
      return "REMOVE";
    case PodOperation::kUpdate:
      return "UPDATE";
    case PodOperation::kReconcile:
      break;
  }
  return "RECONCILE";
}

}  // namespace kubexx::kubelet
