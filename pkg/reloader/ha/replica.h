/// @file
/// Runs this process as one of several replicas.
#ifndef KUBEXX_RELOADER_HA_REPLICA_H_
#define KUBEXX_RELOADER_HA_REPLICA_H_

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/controller/leadership.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/ha/held_shards.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// The settings for several replicas.
struct HaSettings {
  bool enabled = false;
  std::string pod_name{};       ///< from POD_NAME: the identity in Leases
  std::string pod_namespace{};  ///< from POD_NAMESPACE: the namespace of the Leases
  /// The number of parts into which the namespaces are divided among the replicas. With 1, one
  /// leader works on all of them.
  int shards = 1;
};

/// Combines the parts behind --enable-ha and --shards: a HeldShards whose shards are opened and
/// closed by Leases of the API server. A controller manager sees a leadership that every replica
/// has immediately and never loses, because HeldShards decides where a replica may write: `lead`
/// must write with its permits only. Thread-safe.
class Replica : public controller::Leadership {
 public:
  /// `client` should not be used for anything else (see leaderelection::LockClientConfig).
  /// `on_acquired` is called with each shard after it has been opened; it must not block. New makes
  /// no request.
  static std::shared_ptr<Replica> New(std::shared_ptr<rest::RESTClient> client,
                                      const HaSettings& settings,
                                      std::function<void(int shard)> on_acquired,
                                      metrics::Registry* registry);

  virtual HeldShards& held_shards() = 0;
  /// Campaigns while `lead` runs, and gives up everything after it has returned, so that other
  /// replicas take over immediately. Fails with kInvalidConfig as leaderelection::Config::Validate
  /// does.
  apimachinery::Result<void> Run(Lead lead, std::stop_token stop) override = 0;
  /// Fails when the writes in a lost shard do not end. The process should then be killed.
  apimachinery::Result<void> Check() const override = 0;
  /// A sentence that says why this replica does nothing and never will; see Membership::Problem.
  virtual std::optional<std::string> Problem() const = 0;
  /// A sentence that says for which other replica this one waits; see Membership::Waiting.
  virtual std::optional<std::string> Waiting() const = 0;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_HA_REPLICA_H_
