/// @file
/// The content of a write to a workload, independent of how it is sent.
#ifndef KUBEXX_RELOADER_PLAN_WORKLOAD_WRITE_H_
#define KUBEXX_RELOADER_PLAN_WORKLOAD_WRITE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kubexx::reloader {

/// An environment variable of a container in the pod template.
struct VariableEdit {
  std::string container{};
  std::string name{};
  /// std::nullopt: the variable is removed.
  std::optional<std::string> value{};
  bool operator==(const VariableEdit&) const = default;
};

/// Annotations to set, or to remove if they have no value. Other annotations stay as they are.
using AnnotationEdits = std::map<std::string, std::optional<std::string>>;

/// Everything that one write changes on one workload. Either all of it is written or nothing,
/// except for the cases that WorkloadWriter describes. A value type.
struct WorkloadWrite {
  /// The UID of the object that the write was planned for. A write that creates or deletes objects
  /// fails with kConflict if the workload is another object by now. Empty: not checked.
  std::string uid{};
  /// The resource version of the object that the write was planned for. The write fails with
  /// kConflict if the workload has another version. Empty: not checked.
  std::string resource_version{};
  /// JobContentOf the Job that the write was planned for: the write is made to another version of
  /// the Job as well if that has the same content. Empty: the version alone decides.
  std::string content{};
  /// Changes of the pod template, which start new pods...
  std::vector<VariableEdit> variables{};
  AnnotationEdits template_annotations{};
  /// ...and of the workload's own annotations, which do not.
  AnnotationEdits annotations{};
  /// The name of the Deployment whose template makes the pods and gets `variables` and
  /// `template_annotations`. Empty: the workload's own template.
  std::string template_of{};
  /// The resource version of that Deployment, checked like resource_version.
  std::string template_resource_version{};
  /// metadata.generation of the object that the write was planned for. It shows whether the write
  /// changed anything below spec. 0: not known.
  std::int64_t generation = 0;
  /// Only for a Rollout: spec.restartAt, which starts new pods without a change of the template.
  std::optional<std::string> restart_at{};
  /// Identifies what the workload is rolled for; two attempts at one change have the same token.
  /// Used for kinds that are rolled by creating an object, so that an attempt whose outcome is
  /// unknown is not repeated.
  std::string token{};
  /// The workload is suspended as far as is known. The write is sent nevertheless, since that may
  /// have changed, but rolls nothing if the workload is still suspended.
  bool suspended = false;
  /// The new value of spec.paused, for kinds that have it.
  std::optional<bool> paused{};

  /// Whether the write starts new pods.
  bool Rolls() const {
    return !variables.empty() || !template_annotations.empty() || restart_at.has_value();
  }
  bool empty() const { return !Rolls() && annotations.empty() && !paused; }
  bool operator==(const WorkloadWrite&) const = default;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_WORKLOAD_WRITE_H_
