/// @file
/// The kinds of workloads that the operator can roll.
#ifndef KUBEXX_RELOADER_MODEL_WORKLOAD_KIND_H_
#define KUBEXX_RELOADER_MODEL_WORKLOAD_KIND_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kubexx/apimachinery/group_version.h"

namespace kubexx::reloader {

enum class WorkloadKind : std::uint8_t {
  kDeployment,
  kDaemonSet,
  kStatefulSet,
  kCronJob,
  kJob,
  kRollout,           ///< of Argo Rollouts
  kDeploymentConfig,  ///< of OpenShift
};

/// The API resource of every kind, in the order of WorkloadKind.
inline constexpr std::array<apimachinery::ResourceInfo, 7> kWorkloadResources{{
    {"apps", "v1", "Deployment", "deployments", true},
    {"apps", "v1", "DaemonSet", "daemonsets", true},
    {"apps", "v1", "StatefulSet", "statefulsets", true},
    {"batch", "v1", "CronJob", "cronjobs", true},
    {"batch", "v1", "Job", "jobs", true},
    {"argoproj.io", "v1alpha1", "Rollout", "rollouts", true},
    {"apps.openshift.io", "v1", "DeploymentConfig", "deploymentconfigs", true},
}};

inline constexpr std::array kWorkloadKinds{
    WorkloadKind::kDeployment,      WorkloadKind::kDaemonSet, WorkloadKind::kStatefulSet,
    WorkloadKind::kCronJob,         WorkloadKind::kJob,       WorkloadKind::kRollout,
    WorkloadKind::kDeploymentConfig};

/// The API resource of the kind.
constexpr const apimachinery::ResourceInfo& ResourceOf(WorkloadKind kind) {
  return kWorkloadResources[static_cast<std::size_t>(kind)];
}

/// The kind's name in the API: "Deployment".
constexpr std::string_view KindName(WorkloadKind kind) { return ResourceOf(kind).kind; }

/// The inverse of KindName. Returns std::nullopt for any other name.
constexpr std::optional<WorkloadKind> ParseWorkloadKind(std::string_view name) {
  const auto found = std::ranges::find(kWorkloadKinds, name, KindName);
  return found == kWorkloadKinds.end() ? std::nullopt : std::optional(*found);
}

/// Whether every API server has the kind. The other kinds are custom resources, or exist in one
/// distribution only.
constexpr bool IsBuiltIn(WorkloadKind kind) {
  return kind != WorkloadKind::kRollout && kind != WorkloadKind::kDeploymentConfig;
}

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_WORKLOAD_KIND_H_
