#include "kubexx/reloader/policy/policy_flags.h"

#include <chrono>
#include <optional>
#include <utility>

#include "kubexx/reloadpolicy/key_scope.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

constexpr std::int64_t kMaxCount = 1'000'000;

Result<std::optional<int>> CountOf(const char* flag, std::int64_t value) {
  if (value < 0 || value > kMaxCount) {
    return Fail(Reason::kInvalidConfig,
                std::string(flag) + ": must be between 0, for no limit, and 1000000");
  }
  return value == 0 ? std::nullopt : std::optional(static_cast<int>(value));
}

}  // namespace

void PolicyFlags::AddTo(flags::FlagSet& flags) {
  flags.AddBool(
      "reload-policies",
      "obey ReloadPolicies and ClusterReloadPolicies (kubexx.io) where their CRDs are installed",
      &enabled_);
  flags.AddBool(
      "require-cluster-policies",
      "with --namespaces: roll nothing while the operator may not read ClusterReloadPolicies; "
      "without --namespaces this always holds",
      &requires_cluster_);
  flags.AddBool("allow-restore",
                "take snapshots of ConfigMaps, and put the last good data back, where waves of a "
                "policy have onFailure: Restore; needs the rights to create, update and delete "
                "them",
                &allows_restore_);
  flags.AddBool("pause-rollouts",
                "roll nothing; an operator that starts without the flag makes these rollouts",
                &paused_);
  flags.AddInt("max-concurrent-rollouts",
               "how many rollouts may be under way in the cluster; 0 for no limit", &in_cluster_);
  flags.AddInt("max-concurrent-rollouts-per-namespace",
               "how many rollouts may be under way in each namespace; 0 for no limit",
               &in_namespace_);
  flags.AddBool("health-gate",
                "a rollout is under way until all pods have been available for a while, not only "
                "replaced; one at a time in a namespace when there is no other limit",
                &health_gate_);
  flags.AddDuration("health-timeout", "a rollout that takes longer has failed, from 1s to 24h",
                    &health_timeout_);
  flags.AddInt("stop-after-failures",
               "roll no more workloads while this many rollouts have failed; 0 for never",
               &stop_after_failures_);
  flags.AddDuration("min-rollout-interval",
                    "least time between two rollouts of one workload, at most 720h",
                    &min_interval_);
  flags.AddString("maintenance-windows",
                  "begin rollouts only in these windows: \"<cron schedule> <duration> [<time "
                  "zone>]\", separated by ;",
                  &windows_);
  flags.AddChoice(
      "keys",
      "keys of a ConfigMap or Secret that count for a workload; with Referenced only those "
      "that its pod template uses",
      {"All", "Referenced"}, &keys_);
}

Result<reloadpolicy::Settings> PolicyFlags::Build() const {
  reloadpolicy::Settings settings;
  KX_ASSIGN_OR_RETURN(settings.max_in_cluster, CountOf("--max-concurrent-rollouts", in_cluster_));
  KX_ASSIGN_OR_RETURN(settings.max_in_namespace,
                      CountOf("--max-concurrent-rollouts-per-namespace", in_namespace_));
  KX_ASSIGN_OR_RETURN(settings.stop_after_failures,
                      CountOf("--stop-after-failures", stop_after_failures_));
  if (min_interval_ < base::Duration(0) || min_interval_ > std::chrono::hours(720)) {
    return Fail(Reason::kInvalidConfig, "--min-rollout-interval: must be between 0s and 720h");
  }
  if (health_timeout_ < std::chrono::seconds(1) || health_timeout_ > std::chrono::hours(24)) {
    return Fail(Reason::kInvalidConfig, "--health-timeout: must be between 1s and 24h");
  }
  auto windows = reloadpolicy::MaintenanceWindow::ParseList(windows_);
  if (!windows) {
    return Fail(windows.error().WithContext("--maintenance-windows"));
  }
  if (!windows->empty()) {
    settings.windows = *std::move(windows);
  }
  if (keys_ != reloadpolicy::ToString(reloadpolicy::KeyScope::kAll)) {
    settings.keys = reloadpolicy::ParseKeyScope(keys_);
  }
  if (paused_) {
    settings.paused = true;
  }
  if (health_gate_) {
    settings.health_gate = true;
  }
  if (min_interval_ > base::Duration(0)) {
    settings.min_interval = min_interval_;
  }
  if (health_timeout_ != std::chrono::minutes(10)) {
    settings.health_timeout = health_timeout_;
  }
  return settings;
}

}  // namespace kubexx::reloader
