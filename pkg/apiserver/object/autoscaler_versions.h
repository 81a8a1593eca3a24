/// @file
/// Converts HorizontalPodAutoscalers between autoscaling/v1 and v2. They are the same objects; v1
/// holds in annotations what it has no fields for.
#ifndef KUBEXX_APISERVER_OBJECT_AUTOSCALER_VERSIONS_H_
#define KUBEXX_APISERVER_OBJECT_AUTOSCALER_VERSIONS_H_

#include <string_view>

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Converts `object`, in either version, to `api_version`, which is "autoscaling/v1" or
/// "autoscaling/v2", as kube-apiserver does. It ignores and drops annotations that it cannot read;
/// an object in v2 has none of these annotations. The result may have its fields in another order
/// than the type.
codec::JsonTree AutoscalerInVersion(const codec::JsonTree& object, std::string_view api_version);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_AUTOSCALER_VERSIONS_H_
