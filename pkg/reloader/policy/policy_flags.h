/// @file
/// Command-line flags with the settings of reload policies, for workloads without a policy.
#ifndef KUBEXX_RELOADER_POLICY_POLICY_FLAGS_H_
#define KUBEXX_RELOADER_POLICY_POLICY_FLAGS_H_

#include <cstdint>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/flags/flags.h"
#include "kubexx/reloadpolicy/policy.h"

namespace kubexx::reloader {

/// The flags that say whether policies are watched, and the settings that apply where neither an
/// annotation nor a policy specifies anything.
class PolicyFlags {
 public:
  /// Adds the flags, which write to this object.
  void AddTo(flags::FlagSet& flags);
  /// Builds the settings after parsing. Fails with kInvalidConfig, which names the wrong flag and
  /// what is wrong with it.
  apimachinery::Result<reloadpolicy::Settings> Build() const;
  /// Whether the operator watches reload policies.
  bool enabled() const { return enabled_; }
  /// See PolicyWatch::Options::cluster_needed.
  bool requires_cluster() const { return requires_cluster_; }
  /// See Policies::Options::allow_restore.
  bool allows_restore() const { return allows_restore_; }

 private:
  bool enabled_ = true;
  bool requires_cluster_ = false;
  bool allows_restore_ = false;
  bool paused_ = false;
  bool health_gate_ = false;
  std::int64_t in_cluster_ = 0;
  std::int64_t in_namespace_ = 0;
  std::int64_t stop_after_failures_ = 0;
  base::Duration min_interval_{};
  base::Duration health_timeout_ = std::chrono::minutes(10);
  std::string windows_;
  std::string keys_ = "All";
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_POLICY_POLICY_FLAGS_H_
