/// @file
/// Does to a cluster and its operators what a script says.
#ifndef KUBEXX_TEST_FAULTS_PLAYER_H_
#define KUBEXX_TEST_FAULTS_PLAYER_H_

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "faults/cluster.h"
#include "faults/replica.h"
#include "faults/rights.h"
#include "faults/script.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/storage/storage.h"
#include "oracle/oracle.h"

namespace kubexx::faults {

/// Begins and ends faults. Not thread-safe; all calls on the thread that started the processes.
class Player {
 public:
  /// What faults happen to; all of it must outlive the player.
  struct Targets {
    Cluster& cluster;
    apiserver::storage::Storage& storage;
    oracle::Oracle& judge;
    const Rights& rights;
    std::vector<std::unique_ptr<Replica>>& replicas;
  };

  explicit Player(const Targets& targets) : targets_(targets) {}

  /// Of `running` operators, the first ones.
  void Begin(const PlannedFault& fault, std::size_t running, const std::stop_token& stop);
  /// Of a fault that lasts.
  void End(const PlannedFault& fault, const std::stop_token& stop);
  /// Nothing is wrong any more when it returns, whatever has begun: the server serves, rights are
  /// given, connections go through, `running` operators run.
  apimachinery::Result<void> Heal(std::size_t running, const std::stop_token& stop);

 private:
  void Strike(network_test::HostileProxy& proxy, const PlannedFault& fault) const;
  void BeginAt(Replica& replica, const PlannedFault& fault) const;
  void Compact(const std::stop_token& stop) const;
  void TakeRights(Loss loss, std::size_t space, const std::stop_token& stop) const;

  const Targets targets_;
};

}  // namespace kubexx::faults

#endif  // KUBEXX_TEST_FAULTS_PLAYER_H_
