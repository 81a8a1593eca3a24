#include "kubexx/apiserver/endpoints/store/creation_gate.h"

#include <utility>

namespace kubexx::apiserver {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

CreationGate::Pass::Pass(CreationGate& gate, Place place)
    : gate_(gate), ticket_([&gate, &place] {
        base::MutexLock lock(gate.mu_);
        gate.under_way_.emplace(gate.next_, std::move(place));
        return gate.next_++;
      }()) {}

CreationGate::Pass::~Pass() {
  base::MutexLock lock(gate_.mu_);
  gate_.under_way_.erase(ticket_);
  gate_.ended_.notify_all();
}

void CreationGate::SetOpen(std::map<std::string, std::string, std::less<>> definitions) {
  base::MutexLock lock(mu_);
  open_ = std::move(definitions);
}

bool CreationGate::IsOpen(std::string_view prefix, std::string_view uid) const {
  base::MutexLock lock(mu_);
  const auto found = open_.find(prefix);
  return found != open_.end() && found->second == uid;
}

bool CreationGate::AnyBefore(std::uint64_t ticket, const Place& place) const {
  for (const auto& [own, where] : under_way_) {
    if (own >= ticket) {
      return false;
    }
    if ((place.prefix.empty() || place.prefix == where.prefix) &&
        (place.namespace_.empty() || place.namespace_ == where.namespace_)) {
      return true;
    }
  }
  return false;
}

bool CreationGate::IsQuiet(const Place& place) const {
  base::MutexLock lock(mu_);
  return !AnyBefore(next_, place);
}

Result<void> CreationGate::AwaitEarlier(const Place& place, base::Clock& clock,
                                        const std::stop_token& stop) {
  base::MutexLock lock(mu_);
  const std::uint64_t end = next_;
  while (AnyBefore(end, place)) {
    if (stop.stop_requested()) {
      return Fail(Reason::kCancelled, "stopped while others created objects");
    }
    clock.WaitUntil(mu_, ended_, stop, base::TimePoint::max());
  }
  return {};
}

}  // namespace kubexx::apiserver
