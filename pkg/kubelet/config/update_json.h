/// @file
/// Functions that format updates as text.
#ifndef KUBEXX_KUBELET_CONFIG_UPDATE_JSON_H_
#define KUBEXX_KUBELET_CONFIG_UPDATE_JSON_H_

#include <string>
#include <vector>

#include "kubexx/kubelet/config/pod_update.h"

namespace kubexx::kubelet {

/// Formats an update as {"operation":"ADD","source":"file","pods":[...]} and a line feed, with the
/// pods in the API's JSON.
std::string ToJsonLine(const PodUpdate& update);

/// Formats pods as a table for people: source, namespace, name, phase, node and whether a pod is a
/// mirror.
std::string ToTable(const std::vector<PodRef>& pods);

}  // namespace kubexx::kubelet

#endif  // KUBEXX_KUBELET_CONFIG_UPDATE_JSON_H_
