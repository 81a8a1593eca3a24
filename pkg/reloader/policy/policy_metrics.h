/// @file
/// Metrics of reload policies.
#ifndef KUBEXX_RELOADER_POLICY_POLICY_METRICS_H_
#define KUBEXX_RELOADER_POLICY_POLICY_METRICS_H_

#include "kubexx/base/subscription.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/policy/policy_enforcer.h"

namespace kubexx::reloader {

/// Reads the state of `enforcer` at each scrape and exports: waiting rollouts by reason, rollouts
/// under way and failed, policies, policies with unreadable parts, and policies that have stopped
/// rollouts. All series exist from the start. `enforcer` and `registry` must outlive the
/// subscription.
base::Subscription RegisterPolicyMetrics(const PolicyEnforcer& enforcer,
                                         metrics::Registry& registry);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_POLICY_POLICY_METRICS_H_
