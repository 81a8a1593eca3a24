#include "kubexx/reloader/policy/policy_metrics.h"

#include <map>
#include <string>

namespace kubexx::reloader {
namespace {

using reloadpolicy::HoldReason;

struct PolicyMetrics {
  std::map<HoldReason, metrics::Gauge> held{};
  metrics::Gauge active;
  metrics::Gauge failed;
  metrics::Gauge policies;
  metrics::Gauge invalid;
  metrics::Gauge stopped;
  metrics::Gauge failed_waves;

  explicit PolicyMetrics(metrics::Registry& registry)
      : active(registry.Gauge("kubexx_reloader_rollouts_active",
                              "Rollouts under way that a limit, health gate or interval follows.")),
        failed(registry.Gauge("kubexx_reloader_rollouts_failed",
                              "Rollouts that have failed and are not mended.")),
        policies(registry.Gauge("kubexx_reloader_policies",
                                "ReloadPolicies and ClusterReloadPolicies.")),
        invalid(registry.Gauge("kubexx_reloader_policies_invalid",
                               "Policies of which a part cannot be read.")),
        stopped(registry.Gauge("kubexx_reloader_policies_stopped",
                               "Policies under which nothing begins, after too many failures.")),
        failed_waves(registry.Gauge(
            "kubexx_reloader_waves_failed",
            "Workloads that have failed in a wave: no other is rolled for their data.")) {
    for (const HoldReason reason : reloadpolicy::kHoldReasons) {
      held[reason] =
          registry.Gauge("kubexx_reloader_rollouts_held", "Rollouts that wait, by what for.",
                         {{"reason", std::string(ToString(reason))}});
    }
  }

  void Show(const PolicyEnforcer::Totals& totals) const {
    for (const auto& [reason, gauge] : held) {
      const auto found = totals.held.find(reason);
      gauge.Set(found == totals.held.end() ? 0 : found->second);
    }
    active.Set(totals.active);
    failed.Set(totals.failed);
    policies.Set(totals.policies);
    invalid.Set(totals.invalid);
    stopped.Set(totals.stopped);
    failed_waves.Set(totals.failed_waves);
  }
};

}  // namespace

base::Subscription RegisterPolicyMetrics(const PolicyEnforcer& enforcer,
                                         metrics::Registry& registry) {
  return registry.OnScrape(
      [&enforcer, metrics = PolicyMetrics(registry)] { metrics.Show(enforcer.TotalsNow()); });
}

}  // namespace kubexx::reloader
