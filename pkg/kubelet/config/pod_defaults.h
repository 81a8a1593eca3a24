/// @file
/// SetPodDefaults: the default values of a pod's fields.
#ifndef KUBEXX_KUBELET_CONFIG_POD_DEFAULTS_H_
#define KUBEXX_KUBELET_CONFIG_POD_DEFAULTS_H_

#include "kubexx/kubelet/config/pod_update.h"

namespace kubexx::kubelet {

/// Fills in the fields of spec for which the API server has a fixed default: policies, grace
/// period, scheduler, probes, ports. As SetDefaults_PodSpec and its like in k8s.io/kubernetes.
void SetPodDefaults(Pod& pod);

}  // namespace kubexx::kubelet

#endif  // KUBEXX_KUBELET_CONFIG_POD_DEFAULTS_H_
