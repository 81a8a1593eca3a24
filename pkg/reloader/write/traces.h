/// @file
/// What operators leave on a workload, and the write that takes it away.
#ifndef KUBEXX_RELOADER_WRITE_TRACES_H_
#define KUBEXX_RELOADER_WRITE_TRACES_H_

#include <string>
#include <vector>

#include "kubexx/dynamic/unstructured.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/plan/workload_write.h"

namespace kubexx::reloader {

/// A variable of a rollout in a container of a pod template.
struct VariableTrace {
  std::string container{};
  std::string name{};
  bool operator==(const VariableTrace&) const = default;
};

/// What this operator, or stakater/Reloader, has left on one workload. What people set to steer an
/// operator is none of it. A value type.
struct Traces {
  WorkloadId workload{};
  std::string uid{};
  /// Annotations of the workload's own metadata: nothing rolls when they go.
  std::vector<std::string> annotations{};
  /// Variables and annotations of the pod template: new pods come when they go. Not of Jobs, whose
  /// template cannot be changed, nor of CronJobs, whose template no operator changes.
  std::vector<VariableTrace> variables{};
  std::vector<std::string> template_annotations{};
  /// The workload is paused, and the operator, which began that, will not resume it any more. Then
  /// the annotation that tells of it is not in `annotations`.
  bool paused = false;
  /// Not empty: it is a keeper (see KeeperFor), the only copy of the Job of this name, and nothing
  /// of it is to be taken away.
  std::string keeps{};

  bool InTemplate() const { return !variables.empty() || !template_annotations.empty(); }
  bool empty() const { return annotations.empty() && !InTemplate() && !paused && keeps.empty(); }
  bool operator==(const Traces&) const = default;
};

/// Finds them on an object of that kind. A variable counts when its name and value are as rollouts
/// make them, so that one of a user with the prefix does not.
Traces TracesOn(WorkloadKind kind, const dynamic::Unstructured& object, const AnnotationKeys& keys);

/// How much of the traces is to go.
struct Removal {
  /// Also what stands in pod templates, which makes new pods.
  bool templates = false;
  /// Also pauses: the workloads are resumed, and pods follow what has changed in the template.
  bool pauses = false;
};

/// The write that takes traces away; empty when nothing of them is to go.
WorkloadWrite RemovalOf(const Traces& traces, const Removal& removal, const AnnotationKeys& keys);

/// Those that stay after RemovalOf.
Traces LeftBy(Traces traces, const Removal& removal);

/// In a clause, without the workload's name: "annotation a, variable V of container c".
std::string TextOf(const Traces& traces);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WRITE_TRACES_H_
