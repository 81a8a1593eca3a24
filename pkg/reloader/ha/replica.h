/// @file
/// This process as one of several replicas.
#ifndef KUBEXX_RELOADER_HA_REPLICA_H_
#define KUBEXX_RELOADER_HA_REPLICA_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/ha/shard_gate.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// Several replicas.
struct HaSettings {
  bool enabled = false;
  std::string pod_name{};       ///< POD_NAME: the identity in Leases
  std::string pod_namespace{};  ///< POD_NAMESPACE: where the Leases are
  /// Into how many parts the namespaces are divided among the replicas; 1: one leader for all.
  int shards = 1;
};

/// The parts of --enable-ha and --shards, put together: a ShardGate that Leases of the API server
/// open and close. Thread-safe.
class Replica {
 public:
  /// `client` should be of its own (leaderelection::LockClientConfig). Makes no request yet.
  static std::unique_ptr<Replica> New(std::shared_ptr<rest::RESTClient> client,
                                      const HaSettings& settings, metrics::Registry* registry);
  virtual ~Replica() = default;

  virtual ShardGate& gate() = 0;
  /// Begins to campaign. `on_acquired` is called with each shard when the gate has been opened for
  /// it; it must not block. Once only.
  virtual apimachinery::Result<void> Start(std::function<void(int shard)> on_acquired) = 0;
  /// Gives everything back: others take over at once. Stop what writes before, so that nothing is
  /// waited for.
  virtual void Stop() = 0;
  /// Fails when the process should be killed: writes of a lost shard do not end.
  virtual apimachinery::Result<void> Check() const = 0;
  /// In a sentence, why this replica does nothing and never will: see Membership::Problem.
  virtual std::optional<std::string> Problem() const = 0;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_HA_REPLICA_H_
