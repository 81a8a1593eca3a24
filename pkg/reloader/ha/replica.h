/// @file
/// This process as one of several replicas.
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

/// Several replicas.
struct HaSettings {
  bool enabled = false;
  std::string pod_name{};       ///< POD_NAME: the identity in Leases
  std::string pod_namespace{};  ///< POD_NAMESPACE: where the Leases are
  /// Into how many parts the namespaces are divided among the replicas; 1: one leader for all.
  int shards = 1;
};

/// The parts of --enable-ha and --shards, put together: a HeldShards that Leases of the API server
/// open and close. To a manager it is a leadership that every replica has at once and never loses,
/// since HeldShards says where a replica may write: `lead` runs what writes with its permits.
/// Thread-safe.
class Replica : public controller::Leadership {
 public:
  /// `client` should be of its own (leaderelection::LockClientConfig). `on_acquired` is called with
  /// each shard when it has been opened; it must not block. Makes no request yet.
  static std::shared_ptr<Replica> New(std::shared_ptr<rest::RESTClient> client,
                                      const HaSettings& settings,
                                      std::function<void(int shard)> on_acquired,
                                      metrics::Registry* registry);

  virtual HeldShards& held_shards() = 0;
  /// Campaigns while `lead` runs, and gives everything back once it has returned: others take over
  /// at once. kInvalidConfig as leaderelection::Config::Validate.
  apimachinery::Result<void> Run(Lead lead, std::stop_token stop) override = 0;
  /// Fails when the process should be killed: writes of a lost shard do not end.
  apimachinery::Result<void> Check() const override = 0;
  /// In a sentence, why this replica does nothing and never will: see Membership::Problem.
  virtual std::optional<std::string> Problem() const = 0;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_HA_REPLICA_H_
