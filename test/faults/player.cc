#include "faults/player.h"

#include <signal.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <deque>
#include <iterator>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/stop_timer.h"
#include "oracle/random.h"

namespace kubexx::faults {
namespace {

using network_test::Fault;
using network_test::HostileProxy;
using Part = Cluster::Part;

/// A change of rights may have to wait for the server.
constexpr std::chrono::seconds kRightsLimit(60);

/// What the next connections of an operator meet: early bytes are the interesting ones, of a
/// handshake, a head, the first event.
std::deque<HostileProxy::Plan> PlansOf(std::uint64_t detail) {
  oracle::Random random(detail);
  std::deque<HostileProxy::Plan> plans;
  for (std::uint64_t left = 1 + random.Below(4); left > 0; --left) {
    constexpr Fault kPlanned[] = {Fault::kCut, Fault::kReset, Fault::kStall, Fault::kTrickle,
                                  Fault::kHalfClose};
    const double size = static_cast<double>(random.Below(1000)) / 1000 * std::log(32.0 * 1024);
    plans.push_back({.fault = kPlanned[random.Below(std::size(kPlanned))],
                     .direction = random.Below(2),
                     .after = static_cast<std::size_t>(std::exp(size)) - 1});
  }
  return plans;
}

}  // namespace

void Player::Strike(HostileProxy& proxy, const PlannedFault& fault) const {
  switch (fault.kind) {
    case FaultKind::kReset:
      return proxy.Strike(Fault::kReset);
    case FaultKind::kHalfClose:
      return proxy.Strike(Fault::kHalfClose, fault.detail % 2);
    case FaultKind::kBadConnections:
      proxy.Expect(PlansOf(fault.detail));
      return proxy.Strike(Fault::kCut);
    case FaultKind::kStall:
      return proxy.StandStill(true);
    case FaultKind::kRefuse:
      proxy.Refuse(true);
      return proxy.Strike(Fault::kCut);
    default:
      return proxy.Strike(Fault::kCut);
  }
}

void Player::BeginAt(Replica& replica, const PlannedFault& fault) const {
  switch (fault.kind) {
    case FaultKind::kOperatorKill:
      return replica.Kill();
    case FaultKind::kOperatorRestart:
      return replica.Terminate();
    case FaultKind::kOperatorPause:
    case FaultKind::kOperatorLongPause:
      return replica.StandStill(true);
    default:
      return Strike(replica.proxy(), fault);
  }
}

// Not what the judge has not seen yet.
void Player::Compact(const std::stop_token& stop) const {
  (void)targets_.storage.Compact(targets_.judge.seen(), stop);
}

void Player::TakeRights(Loss loss, std::size_t space, const std::stop_token& stop) const {
  const base::StopTimer timer(base::Clock::Real(), stop, kRightsLimit);
  targets_.rights.Take(loss, space, timer.token());
}

void Player::Begin(const PlannedFault& fault, std::size_t running, const std::stop_token& stop) {
  switch (fault.kind) {
    case FaultKind::kServerKill:
      return targets_.cluster.Send(Part::kServer, SIGKILL);
    case FaultKind::kServerRestart:
      return targets_.cluster.Send(Part::kServer, SIGTERM);
    case FaultKind::kServerPause:
      return targets_.cluster.Send(Part::kServer, SIGSTOP);
    case FaultKind::kEtcdKill:
      return targets_.cluster.Send(Part::kEtcd, SIGKILL);
    case FaultKind::kEtcdPause:
      return targets_.cluster.Send(Part::kEtcd, SIGSTOP);
    case FaultKind::kCompaction:
      return Compact(stop);
    case FaultKind::kSecretsRight:
    case FaultKind::kWatchRight:
    case FaultKind::kPatchRight:
    case FaultKind::kNamespaceRight:
    case FaultKind::kLeasesRight:
    case FaultKind::kAllRights:
      return TakeRights(LossOf(fault.kind), fault.detail, stop);
    default:
      for (std::size_t i = 0; i < running; ++i) {
        if (fault.replica == i || fault.replica == running) {
          BeginAt(*targets_.replicas[i], fault);
        }
      }
  }
}

void Player::End(const PlannedFault& fault, const std::stop_token& stop) {
  switch (fault.kind) {
    case FaultKind::kStall:
      return targets_.replicas[fault.replica]->proxy().StandStill(false);
    case FaultKind::kRefuse:
      return targets_.replicas[fault.replica]->proxy().Refuse(false);
    case FaultKind::kOperatorKill:
    case FaultKind::kOperatorRestart:
      return targets_.replicas[fault.replica]->StartAgain();
    case FaultKind::kOperatorPause:
    case FaultKind::kOperatorLongPause:
      return targets_.replicas[fault.replica]->StandStill(false);
    case FaultKind::kServerKill:
    case FaultKind::kServerRestart:
      return targets_.cluster.StartAgain(Part::kServer);
    case FaultKind::kServerPause:
      return targets_.cluster.Send(Part::kServer, SIGCONT);
    case FaultKind::kEtcdKill:
      return targets_.cluster.StartAgain(Part::kEtcd);
    case FaultKind::kEtcdPause:
      return targets_.cluster.Send(Part::kEtcd, SIGCONT);
    case FaultKind::kSecretsRight:
    case FaultKind::kWatchRight:
    case FaultKind::kPatchRight:
    case FaultKind::kNamespaceRight:
    case FaultKind::kLeasesRight:
    case FaultKind::kAllRights:
      return TakeRights(Loss::kNothing, 0, stop);
    case FaultKind::kCut:
    case FaultKind::kReset:
    case FaultKind::kHalfClose:
    case FaultKind::kBadConnections:
    case FaultKind::kCompaction:
      return;
  }
}

apimachinery::Result<void> Player::Heal(std::size_t running, const std::stop_token& stop) {
  for (std::size_t i = 0; i < running; ++i) {
    Replica& replica = *targets_.replicas[i];
    replica.proxy().Recover();
    replica.StandStill(false);
    replica.StartAgain();
  }
  KX_RETURN_IF_ERROR(targets_.cluster.Heal());
  TakeRights(Loss::kNothing, 0, stop);
  return {};
}

}  // namespace kubexx::faults
