/// @file
/// How far a workload's rollout is, by its status.
#ifndef KUBEXX_RELOADER_MODEL_ROLLOUT_PHASE_H_
#define KUBEXX_RELOADER_MODEL_ROLLOUT_PHASE_H_

#include <string_view>

#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloadpolicy/phase.h"

namespace kubexx::reloader {

/// As `kubectl rollout status` reads it, but that pods which are replaced and not available yet are
/// told apart. A workload whose pods nobody replaces (OnDelete) is complete: nothing more will come
/// of it.
reloadpolicy::Phase PhaseOf(const api::apps::v1::Deployment& deployment);
/// Whether no pod of a Deployment is of an earlier template, however the present one's are.
bool AllPodsAreReplaced(const api::apps::v1::Deployment& deployment);
/// kFailed does not occur: the kind does not report it.
reloadpolicy::Phase PhaseOf(const api::apps::v1::StatefulSet& set);
reloadpolicy::Phase PhaseOf(const api::apps::v1::DaemonSet& set);
/// On a Rollout with spec.workloadRef: the generation that the last rollout under a policy gave to
/// the Deployment whose template it runs.
inline constexpr std::string_view kTemplateGenerationAnnotation =
    "reloader.kubexx.io/template-generation";

/// Of an Argo Rollout, as its controller sums it up. A canary or blue-green rollout
/// that waits for its next step is kWaiting. With spec.workloadRef it is kUnseen until the
/// controller has seen the template's generation, too, by the operator's annotation and Argo's own.
reloadpolicy::Phase PhaseOfRollout(const codec::JsonTree& tree);
/// Of a DeploymentConfig.
reloadpolicy::Phase PhaseOfConfig(const codec::JsonTree& tree);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_ROLLOUT_PHASE_H_
