/// @file
/// Moves the pod template of a custom kind to where the operator looks for it, and back.
#ifndef KUBEXX_RELOADER_KINDS_CUSTOM_TEMPLATE_H_
#define KUBEXX_RELOADER_KINDS_CUSTOM_TEMPLATE_H_

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/kinds/custom_kind.h"

namespace kubexx::reloader {

/// Changes an object of the kind so that its pod template is at spec.template, as that of a
/// Deployment, and that its managed fields tell of it there. What was at spec.template is gone.
void TakeTemplateHome(const CustomKind& kind, codec::JsonTree& object);

/// Changes a patch that has a pod template at spec.template so that it patches the kind's own.
void SendTemplateAway(const CustomKind& kind, codec::JsonTree& patch);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_KINDS_CUSTOM_TEMPLATE_H_
