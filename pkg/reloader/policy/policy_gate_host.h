/// @file
/// Gives PolicyGate safe access to the operator that it is attached to.
#ifndef KUBEXX_RELOADER_POLICY_POLICY_GATE_HOST_H_
#define KUBEXX_RELOADER_POLICY_POLICY_GATE_HOST_H_

#include <memory>

#include "kubexx/reloader/policy/policy_gate.h"

namespace kubexx::reloader {

/// Holds the host of a gate, if there is one, so that detaching waits until this object is
/// destroyed.
class PolicyGate::HostUse {
 public:
  explicit HostUse(PolicyGate& gate) : gate_(gate) {
    const base::MutexLock lock(gate_.host_mu_);
    host_ = gate_.host_;
    gate_.host_users_ += host_ ? 1 : 0;
  }
  HostUse(const HostUse&) = delete;
  HostUse& operator=(const HostUse&) = delete;
  ~HostUse() {
    if (!host_) {
      return;
    }
    {
      const base::MutexLock lock(gate_.host_mu_);
      --gate_.host_users_;
    }
    gate_.host_idle_.notify_all();
  }
  /// Null when no operator is attached.
  const GateHost* get() const { return host_.get(); }

 private:
  PolicyGate& gate_;
  std::shared_ptr<const GateHost> host_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_POLICY_POLICY_GATE_HOST_H_
