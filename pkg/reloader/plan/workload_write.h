/// @file
/// What is written to a workload, apart from how.
#ifndef KUBEXX_RELOADER_PLAN_WORKLOAD_WRITE_H_
#define KUBEXX_RELOADER_PLAN_WORKLOAD_WRITE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kubexx::reloader {

/// A variable of a container of the pod template.
struct VariableEdit {
  std::string container{};
  std::string name{};
  /// Nothing: the variable is removed.
  std::optional<std::string> value{};
  bool operator==(const VariableEdit&) const = default;
};

/// Annotations to set, or to remove when they have no value. Others stay as they are.
using AnnotationEdits = std::map<std::string, std::optional<std::string>>;

/// All that one write changes on one workload: it arrives as a whole or not at all, with the
/// exceptions that WorkloadWriter names. A value type.
struct WorkloadWrite {
  /// Of the object that the write was made for; a write that creates or deletes objects is refused
  /// with kConflict when the workload has another one by now. Empty: not checked.
  std::string uid{};
  /// Of the object that the write was made for; of kinds that are patched, and of a CronJob that is
  /// rolled, a write to any other version is refused with kConflict. Empty: not checked.
  std::string resource_version{};
  /// These two make new pods...
  std::vector<VariableEdit> variables{};
  AnnotationEdits template_annotations{};
  /// ...and these do not.
  AnnotationEdits annotations{};
  /// The Deployment whose template makes the pods: it gets the variables and template_annotations.
  /// Empty: the workload's own.
  std::string template_of{};
  /// As resource_version, of that Deployment.
  std::string template_resource_version{};
  /// metadata.generation of the object that the write was made for, to tell whether it changes
  /// anything below spec. 0: not known.
  std::int64_t generation = 0;
  /// Of a Rollout: makes new pods by this spec.restartAt, without a change of the template.
  std::optional<std::string> restart_at{};
  /// Names what is rolled for: the same for two tries of one change. Of kinds that are rolled by
  /// creating an object, so that a try whose end is not known is not repeated.
  std::string token{};
  /// The workload, as far as is known, is suspended: the write rolls nothing, but is sent, since it
  /// may not be any more.
  bool suspended = false;
  /// spec.paused, of kinds that have it.
  std::optional<bool> paused{};

  /// Whether it makes new pods.
  bool Rolls() const {
    return !variables.empty() || !template_annotations.empty() || restart_at.has_value();
  }
  bool empty() const { return !Rolls() && annotations.empty() && !paused; }
  bool operator==(const WorkloadWrite&) const = default;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_WORKLOAD_WRITE_H_
