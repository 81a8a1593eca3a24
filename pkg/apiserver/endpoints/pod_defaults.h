/// @file
/// Defaults of pods and of their templates.
#ifndef KUBEXX_APISERVER_ENDPOINTS_POD_DEFAULTS_H_
#define KUBEXX_APISERVER_ENDPOINTS_POD_DEFAULTS_H_

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Those of a PodSpec, also in a template, as kube-apiserver has them.
void SetPodSpecDefaults(codec::JsonTree& spec);

/// Besides those, the ones that only a pod itself has.
void SetPodDefaults(codec::JsonTree& pod);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_POD_DEFAULTS_H_
