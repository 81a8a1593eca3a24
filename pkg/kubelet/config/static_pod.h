/// @file
/// Static pods: those that a node has from a file or a URL, and their mirrors in the API.
#ifndef KUBEXX_KUBELET_CONFIG_STATIC_POD_H_
#define KUBEXX_KUBELET_CONFIG_STATIC_POD_H_

#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/kubelet/config/pod_update.h"

namespace kubexx::kubelet {

/// Where a manifest was read.
struct ManifestOrigin {
  std::string_view node_name{};
  /// kFileSource or kHttpSource.
  std::string_view source = kFileSource;
  /// The path or the URL; part of the pod's UID, so that two files of one text are two pods.
  std::string_view location{};
};

/// Reads one Pod, or from kHttpSource one Pod or PodList, in YAML or JSON, and makes static pods of
/// them as the kubelet does: the name gets the node's as a suffix, the namespace and the spec their
/// defaults, the UID is a digest of manifest, node and location, and the phase is Pending. Pods of
/// a file tolerate every NoExecute taint. kMalformed for what cannot be read, kInvalid for what no
/// node can run from a manifest: no name, no containers, references to objects of the API.
apimachinery::Result<std::vector<Pod>> ParseManifest(std::string_view manifest,
                                                     const ManifestOrigin& origin);

/// "web" on the node "Node1" is "web-node1".
std::string StaticPodName(std::string_view name, std::string_view node_name);

/// Whether the pod's source is not the API server.
bool IsStaticPod(const Pod& pod);
/// Whether the pod stands in the API for a static one.
bool IsMirrorPod(const Pod& pod);
/// Whether `mirror` is the mirror of this state of the static pod; if not it must be made anew.
bool IsMirrorOf(const Pod& mirror, const Pod& static_pod);

/// What to create in the API for a static pod: itself with kConfigMirrorAnnotation, owned by the
/// node. `node_uid` is of the Node object.
Pod MirrorPodOf(const Pod& static_pod, std::string_view node_uid);

}  // namespace kubexx::kubelet

#endif  // KUBEXX_KUBELET_CONFIG_STATIC_POD_H_
