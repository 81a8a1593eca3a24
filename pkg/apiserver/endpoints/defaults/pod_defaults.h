/// @file
/// Defaults of pods and of their templates.
#ifndef KUBEXX_APISERVER_ENDPOINTS_DEFAULTS_POD_DEFAULTS_H_
#define KUBEXX_APISERVER_ENDPOINTS_DEFAULTS_POD_DEFAULTS_H_

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Sets the defaults of a PodSpec, also in a template, as kube-apiserver does.
void SetPodSpecDefaults(codec::JsonTree& spec);

/// Sets these and the defaults that only a pod itself has.
void SetPodDefaults(codec::JsonTree& pod);

/// Sets the defaults of a volume source. `holder` is the object that contains the source: a pod's
/// volume or the spec of a PersistentVolume.
void SetVolumeSourceDefaults(codec::JsonTree& holder);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_DEFAULTS_POD_DEFAULTS_H_
