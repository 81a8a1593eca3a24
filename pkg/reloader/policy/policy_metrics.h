/// @file
/// Figures of reload policies.
#ifndef KUBEXX_RELOADER_POLICY_POLICY_METRICS_H_
#define KUBEXX_RELOADER_POLICY_POLICY_METRICS_H_

#include "kubexx/base/subscription.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/policy/policy_gate.h"

namespace kubexx::reloader {

/// Shows what `gate` knows with each scrape: rollouts that wait by reason, rollouts under way and
/// failed, policies, those that cannot be read wholly and those that have stopped. All series exist
/// from the start. Both must outlive the subscription.
base::Subscription RegisterPolicyMetrics(const PolicyGate& gate, metrics::Registry& registry);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_POLICY_POLICY_METRICS_H_
