/// @file
/// Makes a write on an object that is held as JSON, for kinds that are not patched by the server.
#ifndef KUBEXX_RELOADER_WRITE_TEMPLATE_EDIT_H_
#define KUBEXX_RELOADER_WRITE_TEMPLATE_EDIT_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/plan/workload_write.h"

namespace kubexx::reloader {

/// Sets and removes annotations in the `metadata` of `object`.
void EditAnnotations(const AnnotationEdits& edits, codec::JsonTree& object);

/// Makes the variables and template_annotations of `write` on a pod template. What is there already
/// keeps its place. kConflict when there is no container of a name: the template has changed.
apimachinery::Result<void> EditTemplate(const WorkloadWrite& write, codec::JsonTree& pod_template);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WRITE_TEMPLATE_EDIT_H_
