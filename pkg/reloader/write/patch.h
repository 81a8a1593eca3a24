/// @file
/// Builds the patches that apply a write.
#ifndef KUBEXX_RELOADER_WRITE_PATCH_H_
#define KUBEXX_RELOADER_WRITE_PATCH_H_

#include <string>

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/plan/workload_write.h"

namespace kubexx::reloader {

/// The patch that sets and removes annotations of the object; valid as a merge patch and as a
/// strategic merge patch.
codec::JsonTree AnnotationsPatch(const AnnotationEdits& edits);

/// The patch that applies all of `write` except its variables: the object's annotations,
/// spec.restartAt, spec.paused and the template's annotations. Valid as a merge patch and as a
/// strategic merge patch.
codec::JsonTree PatchWithoutVariables(const WorkloadWrite& write);

/// The strategic merge patch that applies all of `write` at once: metadata.annotations,
/// spec.paused, and in spec.template the annotations and the variables of the containers, which the
/// server merges by name. If a variable that is set has a valueFrom, the patch removes that:
/// {"spec":{"template":{"spec":{"containers":[{"name":...,"env":[
///   {"name":...,"value":...,"valueFrom":null}]}]}}}}
std::string StrategicMergePatch(const WorkloadWrite& write);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WRITE_PATCH_H_
