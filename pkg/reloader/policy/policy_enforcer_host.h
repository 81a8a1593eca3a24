/// @file
/// Gives PolicyEnforcer safe access to the operator that it is attached to.
#ifndef KUBEXX_RELOADER_POLICY_POLICY_ENFORCER_HOST_H_
#define KUBEXX_RELOADER_POLICY_POLICY_ENFORCER_HOST_H_

#include <memory>

#include "kubexx/reloader/policy/policy_enforcer.h"

namespace kubexx::reloader {

/// Holds the host of an enforcer, if there is one, so that detaching waits until this object is
/// destroyed.
class PolicyEnforcer::HostUse {
 public:
  explicit HostUse(PolicyEnforcer& enforcer) : enforcer_(enforcer) {
    const base::MutexLock lock(enforcer_.host_mu_);
    host_ = enforcer_.host_;
    enforcer_.host_users_ += host_ ? 1 : 0;
  }
  HostUse(const HostUse&) = delete;
  HostUse& operator=(const HostUse&) = delete;
  ~HostUse() {
    if (!host_) {
      return;
    }
    {
      const base::MutexLock lock(enforcer_.host_mu_);
      --enforcer_.host_users_;
    }
    enforcer_.host_idle_.notify_all();
  }
  /// Null when no operator is attached.
  const GateHost* get() const { return host_.get(); }

 private:
  PolicyEnforcer& enforcer_;
  std::shared_ptr<const GateHost> host_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_POLICY_POLICY_ENFORCER_HOST_H_
