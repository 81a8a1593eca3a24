/// @file
/// The kinds of workloads that the operator can roll.
#ifndef KUBEXX_RELOADER_MODEL_WORKLOAD_KIND_H_
#define KUBEXX_RELOADER_MODEL_WORKLOAD_KIND_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/group_version.h"
#include "kubexx/reloader/kinds/custom_kind.h"

namespace kubexx::reloader {

/// Custom kinds have the numbers after the last of these, in the order of CustomKinds.
enum class WorkloadKind : std::uint8_t {
  kDeployment,
  kDaemonSet,
  kStatefulSet,
  kCronJob,
  kJob,
  kRollout,           ///< of Argo Rollouts
  kDeploymentConfig,  ///< of OpenShift
};

/// The API resource of every kind that the operator has itself, in the order of WorkloadKind.
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

/// The API resource of the kind, also of a custom one.
inline const apimachinery::ResourceInfo& ResourceOf(WorkloadKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  return index < kWorkloadResources.size()
             ? kWorkloadResources[index]
             : CustomResources().at(index - kWorkloadResources.size());
}

/// What people have said of a custom kind; null for a kind that the operator has itself.
inline const CustomKind* CustomKindOf(WorkloadKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  return index < kWorkloadResources.size() ? nullptr
                                           : &CustomKinds().at(index - kWorkloadResources.size());
}

/// The kinds that the operator has itself, and then the custom ones: see AddCustomKinds.
std::vector<WorkloadKind> AllWorkloadKinds();

/// The API resources of sources and policies, which people name as they name workloads.
const std::array<const apimachinery::ResourceInfo*, 5>& OtherResources();

/// All API resources that the operator has itself: of workloads, sources and policies.
std::vector<apimachinery::ResourceInfo> OwnResources();

/// The kind's name in the API: "Deployment".
inline std::string_view KindName(WorkloadKind kind) { return ResourceOf(kind).kind; }

/// The inverse of KindName. Returns std::nullopt for any other name.
std::optional<WorkloadKind> ParseWorkloadKind(std::string_view name);

/// Whether every API server has the kind. The other kinds are custom resources, or exist in one
/// distribution only.
constexpr bool IsBuiltIn(WorkloadKind kind) { return kind < WorkloadKind::kRollout; }

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_WORKLOAD_KIND_H_
