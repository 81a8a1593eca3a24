/// @file
/// What the sources of a node's pods say, and what their consumer is told.
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
/// Pods are shared by those who hold a state.
using PodRef = std::shared_ptr<const Pod>;

/// The kubelet's names of sources, in the annotation kConfigSourceAnnotation.
inline constexpr std::string_view kFileSource = "file";
/// Static pods of a URL.
inline constexpr std::string_view kHttpSource = "http";
/// What the scheduler gave to the node.
inline constexpr std::string_view kApiSource = "api";
/// Of an update that has the pods of all sources.
inline constexpr std::string_view kAllSources = "*";

/// The source's name, on every pod.
inline constexpr std::string_view kConfigSourceAnnotation = "kubernetes.io/config.source";
/// When the pod was first seen, on every pod.
inline constexpr std::string_view kConfigSeenAnnotation = "kubernetes.io/config.seen";
/// On a static pod: its UID, which is a digest of its manifest.
inline constexpr std::string_view kConfigHashAnnotation = "kubernetes.io/config.hash";
/// On a mirror pod: the hash of the static pod that it stands for.
inline constexpr std::string_view kConfigMirrorAnnotation = "kubernetes.io/config.mirror";

/// As the kubelet's PodOperation.
enum class PodOperation : std::uint8_t {
  kSet,        ///< these are all pods of the source
  kAdd,        ///< new ones
  kDelete,     ///< to be ended gracefully: they have a deletion time now
  kRemove,     ///< gone from the source
  kUpdate,     ///< changed in what runs
  kReconcile,  ///< changed in status only
};

/// "SET", "ADD" and so on.
std::string_view ToString(PodOperation operation);

/// A change of one source's pods, in no particular order of pods.
struct PodUpdate {
  PodOperation operation = PodOperation::kSet;
  std::string source{};
  std::vector<PodRef> pods{};
};

/// Takes all pods of a source, whenever one of them may have changed.
using PodSink = std::function<void(std::vector<Pod>)>;

}  // namespace kubexx::kubelet

#endif  // KUBEXX_KUBELET_CONFIG_POD_UPDATE_H_
