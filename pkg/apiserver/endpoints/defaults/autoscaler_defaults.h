/// @file
/// Defaults of HorizontalPodAutoscalers.
#ifndef KUBEXX_APISERVER_ENDPOINTS_DEFAULTS_AUTOSCALER_DEFAULTS_H_
#define KUBEXX_APISERVER_ENDPOINTS_DEFAULTS_AUTOSCALER_DEFAULTS_H_

#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Sets the missing fields of a HorizontalPodAutoscaler, which may be of any version and is then of
/// that of `type`. As autoscaling/v2's SetDefaults_HorizontalPodAutoscaler.
void SetAutoscalerDefaults(const ResourceType& type, codec::JsonTree& object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_DEFAULTS_AUTOSCALER_DEFAULTS_H_
