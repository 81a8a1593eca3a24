/// @file
/// Updates as text.
#ifndef KUBEXX_KUBELET_CONFIG_UPDATE_JSON_H_
#define KUBEXX_KUBELET_CONFIG_UPDATE_JSON_H_

#include <string>
#include <vector>

#include "kubexx/kubelet/config/pod_update.h"

namespace kubexx::kubelet {

/// {"operation":"ADD","source":"file","pods":[...]} with the pods as the API has them, and a line
/// feed.
std::string ToJsonLine(const PodUpdate& update);

/// A table for people: source, namespace, name, phase, node and whether a pod is a mirror.
std::string ToTable(const std::vector<PodRef>& pods);

}  // namespace kubexx::kubelet

#endif  // KUBEXX_KUBELET_CONFIG_UPDATE_JSON_H_
