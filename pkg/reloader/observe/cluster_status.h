/// @file
/// What `kubectl reloader status` tells: the operators, and what the policies hold back.
#ifndef KUBEXX_RELOADER_OBSERVE_CLUSTER_STATUS_H_
#define KUBEXX_RELOADER_OBSERVE_CLUSTER_STATUS_H_

#include <string>
#include <vector>

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloadpolicy/clusterreloadpolicy_v1alpha1.gen.h"
#include "kubexx/reloadpolicy/reloadpolicy_v1alpha1.gen.h"

namespace kubexx::reloader {

/// What the status of a policy says. A value type.
struct PolicyStanding {
  struct Waiting {
    std::string workload{};
    std::string reason{};
    std::string message{};
    std::string since{};  ///< RFC 3339; empty: not known
    std::string until{};  ///< RFC 3339; empty: not known
  };
  struct Failed {
    std::string workload{};
    std::string rolled_at{};  ///< RFC 3339
  };
  /// A workload that has failed in a wave, whose data hold others back.
  struct FailedWave {
    std::string workload{};
    std::vector<std::string> sources{};  ///< such as "ConfigMap/settings"
    std::string since{};                 ///< RFC 3339
  };
  std::string name{};  ///< "ReloadPolicy ns/name" or "ClusterReloadPolicy name"
  /// An operator has written the status, for the present generation of the policy.
  bool is_seen = false;
  bool is_paused = false;  ///< spec.paused
  std::string invalid{};   ///< what of the policy cannot be understood; empty: nothing
  std::string stopped{};   ///< why nothing more is rolled; empty: rollouts go on
  int active = 0;
  int pending = 0;
  int failed = 0;
  /// The first of those that wait and that have failed.
  std::vector<Waiting> waiting{};
  std::vector<Failed> failures{};
  std::vector<FailedWave> failed_waves{};
  /// What was put back last; empty: nothing was.
  std::string restored{};
  /// Why the last good data are not put back, or could not be; empty: nothing is in the way.
  std::string not_restored{};
};

/// Reads a policy and its status.
PolicyStanding StandingOf(const reloadpolicy::v1alpha1::ReloadPolicy& policy);
PolicyStanding StandingOf(const reloadpolicy::v1alpha1::ClusterReloadPolicy& policy);

/// The standing as one JSON object.
codec::JsonTree StandingTree(const PolicyStanding& policy);

/// Everything that `status` shows.
struct ClusterStatus {
  /// Deployments, as "namespace/name". The name is empty where an operator has not been told it
  /// (RELOADER_DEPLOYMENT_NAME).
  std::vector<std::string> operators{};
  std::vector<PolicyStanding> policies{};
  /// The types of policies whose CRDs are not installed, such as "ReloadPolicies".
  std::vector<std::string> not_installed{};
  /// What could not be read, and why.
  std::vector<std::string> unknown{};
};

/// The status as text for people.
std::string ToText(const ClusterStatus& status);
/// The status as one JSON object for programs.
std::string ToJson(const ClusterStatus& status);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OBSERVE_CLUSTER_STATUS_H_
