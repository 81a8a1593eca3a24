#include "kubexx/apiserver/endpoints/creation_gate.h"

#include <utility>

namespace kubexx::apiserver {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

CreationGate::Pass::Pass(CreationGate& gate)
    : gate_(gate), ticket_([&gate] {
        base::MutexLock lock(gate.mu_);
        gate.under_way_.insert(gate.next_);
        return gate.next_++;
      }()) {}

CreationGate::Pass::~Pass() {
  base::MutexLock lock(gate_.mu_);
  gate_.under_way_.erase(ticket_);
  gate_.ended_.notify_all();
}

void CreationGate::SetOpen(std::set<std::string, std::less<>> prefixes) {
  base::MutexLock lock(mu_);
  open_ = std::move(prefixes);
}

bool CreationGate::IsOpen(std::string_view prefix) const {
  base::MutexLock lock(mu_);
  return open_.contains(prefix);
}

Result<void> CreationGate::AwaitEarlier(base::Clock& clock, const std::stop_token& stop) {
  base::MutexLock lock(mu_);
  const std::uint64_t end = next_;
  while (!under_way_.empty() && *under_way_.begin() < end) {
    if (stop.stop_requested()) {
      return Fail(Reason::kCancelled, "stopped while others created objects");
    }
    clock.WaitUntil(mu_, ended_, stop, base::TimePoint::max());
  }
  return {};
}

}  // namespace kubexx::apiserver
