/// @file
/// The patch that makes a write.
#ifndef KUBEXX_RELOADER_WRITE_PATCH_H_
#define KUBEXX_RELOADER_WRITE_PATCH_H_

#include <string>

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/plan/workload_write.h"

namespace kubexx::reloader {

/// The merge patch, of either type, that sets and removes annotations of the object.
codec::JsonTree AnnotationsPatch(const AnnotationEdits& edits);

/// The merge patch, of either type, that makes all of `write` but its variables: metadata, and
/// spec.restartAt, spec.paused and the template's annotations.
codec::JsonTree PatchWithoutVariables(const WorkloadWrite& write);

/// The strategic merge patch that makes all of `write` at once: metadata.annotations, spec.paused,
/// and in spec.template the annotations and the variables of the containers, which are merged by
/// name. A variable that is set loses the valueFrom that it may have:
/// {"spec":{"template":{"spec":{"containers":[{"name":...,"env":[
///   {"name":...,"value":...,"valueFrom":null}]}]}}}}
std::string StrategicMergePatch(const WorkloadWrite& write);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WRITE_PATCH_H_
