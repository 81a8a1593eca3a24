/// @file
/// The types that the sources of a node's pods and their consumers exchange.
#ifndef KUBEXX_KUBELET_CONFIG_POD_UPDATE_H_
#define KUBEXX_KUBELET_CONFIG_POD_UPDATE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/api/core/v1/types.gen.h"

namespace kubexx::kubelet {

using api::core::v1::Pod;
/// A shared pod; all holders of a state share its pods.
using PodRef = std::shared_ptr<const Pod>;

/// The kubelet's name for the source of files, in the annotation kConfigSourceAnnotation.
inline constexpr std::string_view kFileSource = "file";
/// The name for the source of a URL.
inline constexpr std::string_view kHttpSource = "http";
/// The name for the source of the API server, which has the pods that the scheduler assigned to the
/// node.
inline constexpr std::string_view kApiSource = "api";
/// The source of an update that has the pods of all sources.
inline constexpr std::string_view kAllSources = "*";

/// The annotation with the source's name; every pod has it.
inline constexpr std::string_view kConfigSourceAnnotation = "kubernetes.io/config.source";
/// The annotation with the time when the pod was first seen; every pod has it.
inline constexpr std::string_view kConfigSeenAnnotation = "kubernetes.io/config.seen";
/// The annotation of a static pod with its UID, which is a digest of its manifest.
inline constexpr std::string_view kConfigHashAnnotation = "kubernetes.io/config.hash";
/// The annotation of a mirror pod with the hash of its static pod.
inline constexpr std::string_view kConfigMirrorAnnotation = "kubernetes.io/config.mirror";

/// As the kubelet's PodOperation.
enum class PodOperation : std::uint8_t {
  kSet,        ///< these are all pods of the source
  kAdd,        ///< these pods are new
  kDelete,     ///< these have a deletion time now and end gracefully
  kRemove,     ///< the source no longer has these
  kUpdate,     ///< these changed in what runs
  kReconcile,  ///< these changed only in status
};

/// "SET", "ADD" and so on.
std::string_view ToString(PodOperation operation);

/// A change of one source's pods. The pods are in no particular order.
struct PodUpdate {
  PodOperation operation = PodOperation::kSet;
  std::string source{};
  std::vector<PodRef> pods{};
};

/// Called with all pods of a source whenever one of them may have changed.
using PodSink = std::function<void(std::vector<Pod>)>;

}  // namespace kubexx::kubelet

#endif  // KUBEXX_KUBELET_CONFIG_POD_UPDATE_H_
