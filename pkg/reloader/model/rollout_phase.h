/// @file
/// Determines from a workload's status how far its rollout is.
#ifndef KUBEXX_RELOADER_MODEL_ROLLOUT_PHASE_H_
#define KUBEXX_RELOADER_MODEL_ROLLOUT_PHASE_H_

#include <optional>
#include <string_view>

#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloadpolicy/phase.h"

namespace kubexx::reloader {

/// Reads the status as `kubectl rollout status` does, but also distinguishes pods that are replaced
/// and not available yet. A workload with the update strategy OnDelete counts as complete, because
/// no controller replaces its pods.
reloadpolicy::Phase PhaseOf(const api::apps::v1::Deployment& deployment);
/// Whether no pod of a Deployment is of an earlier template, whatever the state of the present
/// template's pods is.
bool AllPodsAreReplaced(const api::apps::v1::Deployment& deployment);
/// When the rollout of a Deployment ended, as the condition Progressing tells it: all pods were
/// replaced, or it made no progress for too long (HasTimedOut). std::nullopt when it goes on.
std::optional<apimachinery::Time> EndOfRollout(const api::apps::v1::Deployment& deployment);
/// The same for an Argo Rollout or a DeploymentConfig.
std::optional<apimachinery::Time> EndOfRollout(const codec::JsonTree& tree);
/// Whether EndOfRollout is when the rollout had made no progress for too long.
bool HasTimedOut(const api::apps::v1::Deployment& deployment);
bool HasTimedOut(const codec::JsonTree& tree);
/// Never returns kFailed: StatefulSets and DaemonSets do not report that.
reloadpolicy::Phase PhaseOf(const api::apps::v1::StatefulSet& set);
reloadpolicy::Phase PhaseOf(const api::apps::v1::DaemonSet& set);
/// On a Rollout with spec.workloadRef: the generation of the referenced Deployment after the
/// operator's last rollout under a policy wrote its template.
inline constexpr std::string_view kTemplateGenerationAnnotation =
    "reloader.kubexx.io/template-generation";

/// The phase of an Argo Rollout, from the summary in its status. A canary or blue-green rollout
/// that waits for its next step is kWaiting. A Rollout with spec.workloadRef is kUnseen until its
/// controller has seen the present generation of the referenced template, according to the
/// operator's annotation and Argo's own.
reloadpolicy::Phase PhaseOfRollout(const codec::JsonTree& tree);
/// The phase of a DeploymentConfig.
reloadpolicy::Phase PhaseOfConfig(const codec::JsonTree& tree);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_ROLLOUT_PHASE_H_
