/// @file
/// Defaults of pods and of their templates.
#ifndef KUBEXX_APISERVER_ENDPOINTS_PREPARATION_POD_DEFAULTS_H_
#define KUBEXX_APISERVER_ENDPOINTS_PREPARATION_POD_DEFAULTS_H_

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Those of a PodSpec, also in a template, as kube-apiserver has them.
void SetPodSpecDefaults(codec::JsonTree& spec);

/// Besides those, the ones that only a pod itself has.
void SetPodDefaults(codec::JsonTree& pod);

/// Those of what volumes are made of: `holder` has the source, as a pod's volume or the spec of a
/// PersistentVolume.
void SetVolumeSourceDefaults(codec::JsonTree& holder);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_PREPARATION_POD_DEFAULTS_H_
