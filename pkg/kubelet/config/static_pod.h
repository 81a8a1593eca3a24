/// @file
/// Static pods, which a node gets from a file or a URL, and their mirror pods in the API.
#ifndef KUBEXX_KUBELET_CONFIG_STATIC_POD_H_
#define KUBEXX_KUBELET_CONFIG_STATIC_POD_H_

#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/kubelet/config/pod_update.h"

namespace kubexx::kubelet {

/// The origin of a manifest.
struct ManifestOrigin {
  std::string_view node_name{};
  /// kFileSource or kHttpSource.
  std::string_view source = kFileSource;
  /// The path or the URL. It is part of the pod's UID, so that two files with the same text are two
  /// pods.
  std::string_view location{};
};

/// Reads one Pod, or from kHttpSource one Pod or PodList, in YAML or JSON, and makes static pods of
/// them as the kubelet does: it appends the node's name to the pod's name, sets the defaults of
/// namespace and spec, sets the UID to a digest of manifest, node and location, and sets the phase
/// to Pending. Pods of a file tolerate every NoExecute taint. kMalformed for text that cannot be
/// read; kInvalid for a pod that a node cannot run from a manifest because it has no name or no
/// containers, or refers to objects of the API.
apimachinery::Result<std::vector<Pod>> ParseManifest(std::string_view manifest,
                                                     const ManifestOrigin& origin);

/// Returns the name of a static pod on a node: "web" on the node "Node1" is "web-node1".
std::string StaticPodName(std::string_view name, std::string_view node_name);

/// Whether the pod comes from a source other than the API server.
bool IsStaticPod(const Pod& pod);
/// Whether the pod represents a static pod in the API.
bool IsMirrorPod(const Pod& pod);
/// Whether `mirror` is the mirror of this state of the static pod. If not, it must be created
/// again.
bool IsMirrorOf(const Pod& mirror, const Pod& static_pod);

/// Returns the mirror pod to create in the API for a static pod: the pod itself with
/// kConfigMirrorAnnotation, owned by the node. `node_uid` is the UID of the Node object.
Pod MirrorPodOf(const Pod& static_pod, std::string_view node_uid);

}  // namespace kubexx::kubelet

#endif  // KUBEXX_KUBELET_CONFIG_STATIC_POD_H_
