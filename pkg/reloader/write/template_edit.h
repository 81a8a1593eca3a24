/// @file
/// Applies a write to an object in JSON form, for kinds that the API server does not patch.
#ifndef KUBEXX_RELOADER_WRITE_TEMPLATE_EDIT_H_
#define KUBEXX_RELOADER_WRITE_TEMPLATE_EDIT_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/plan/workload_write.h"

namespace kubexx::reloader {

/// Sets and removes annotations in the `metadata` of `object`.
void EditAnnotations(const AnnotationEdits& edits, codec::JsonTree& object);

/// Applies the variables and template_annotations of `write` to a pod template, and keeps the order
/// of what exists. Fails with kConflict when a container does not exist, because the template has
/// changed.
apimachinery::Result<void> EditTemplate(const WorkloadWrite& write, codec::JsonTree& pod_template);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WRITE_TEMPLATE_EDIT_H_
