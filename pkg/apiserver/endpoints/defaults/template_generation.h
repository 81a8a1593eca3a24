/// @file
/// The number that a DaemonSet's pod template has, in an annotation.
#ifndef KUBEXX_APISERVER_ENDPOINTS_DEFAULTS_TEMPLATE_GENERATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_DEFAULTS_TEMPLATE_GENERATION_H_

#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The annotation, which every DaemonSet of apps/v1 has.
inline constexpr std::string_view kTemplateGeneration = "deprecated.daemonset.template.generation";

/// Sets kTemplateGeneration of a DaemonSet that is written: 1, or what the client says if that is
/// more, where `current` is null; otherwise that of `current`, and one more if the pod template
/// differs. Clients cannot change or remove it. Returns kBadRequest when the client's is not a
/// number. As the strategy and the conversions of kube-apiserver, which keeps the number in a field
/// that apps/v1 does not have.
apimachinery::Result<void> CountDaemonSetTemplates(const codec::JsonTree* current,
                                                   codec::JsonTree& object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_DEFAULTS_TEMPLATE_GENERATION_H_
