/// @file
/// How far a workload's rollout is, by its status.
#ifndef KUBEXX_RELOADER_ROLLOUT_PHASE_H_
#define KUBEXX_RELOADER_ROLLOUT_PHASE_H_

#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloadpolicy/phase.h"

namespace kubexx::reloader {

/// As `kubectl rollout status` reads it, but that pods which are replaced and not available yet are
/// told apart. A workload whose pods nobody replaces (OnDelete) is complete: nothing more will come
/// of it.
reloadpolicy::Phase PhaseOf(const api::apps::v1::Deployment& deployment);
/// kFailed does not occur: the kind does not report it.
reloadpolicy::Phase PhaseOf(const api::apps::v1::StatefulSet& set);
reloadpolicy::Phase PhaseOf(const api::apps::v1::DaemonSet& set);
/// Of an Argo Rollout, as its controller sums it up. A canary or blue-green rollout
/// that waits for its next step is kWaiting.
reloadpolicy::Phase PhaseOfRollout(const codec::JsonTree& tree);
/// Of a DeploymentConfig.
reloadpolicy::Phase PhaseOfConfig(const codec::JsonTree& tree);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_ROLLOUT_PHASE_H_
