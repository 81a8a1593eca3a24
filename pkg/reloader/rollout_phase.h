/// @file
/// How far a workload's rollout is, by its status.
#ifndef KUBEXX_RELOADER_ROLLOUT_PHASE_H_
#define KUBEXX_RELOADER_ROLLOUT_PHASE_H_

#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/reloadpolicy/phase.h"

namespace kubexx::reloader {

/// As `kubectl rollout status` reads it, but that pods which are replaced and not available yet are
/// told apart. A Deployment that is paused, or whose pods nobody replaces (OnDelete), is complete:
/// nothing more will come of it.
reloadpolicy::Phase PhaseOf(const api::apps::v1::Deployment& deployment);
/// kFailed does not occur: the kind does not report it.
reloadpolicy::Phase PhaseOf(const api::apps::v1::StatefulSet& set);
reloadpolicy::Phase PhaseOf(const api::apps::v1::DaemonSet& set);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_ROLLOUT_PHASE_H_
