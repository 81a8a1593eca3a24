/// @file
/// HorizontalPodAutoscalers of autoscaling/v1 and v2: the same objects, of which v1 says in
/// annotations what it has no fields for.
#ifndef KUBEXX_APISERVER_OBJECT_AUTOSCALER_VERSIONS_H_
#define KUBEXX_APISERVER_OBJECT_AUTOSCALER_VERSIONS_H_

#include <string_view>

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// `object`, in either version, in `api_version`, "autoscaling/v1" or "autoscaling/v2", as
/// kube-apiserver converts them. Annotations that cannot be read count for nothing and are dropped;
/// v2 has none of them.
/// The result may have its fields in another order than the type.
codec::JsonTree AutoscalerInVersion(const codec::JsonTree& object, std::string_view api_version);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_AUTOSCALER_VERSIONS_H_
