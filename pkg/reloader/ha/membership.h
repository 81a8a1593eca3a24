/// @file
/// Finds out which replicas are alive, and which shards each of them should take.
///
/// All replicas at work must divide the namespaces into the same number of shards: otherwise two of
/// them would work on some namespaces and none on others. While the number is being changed, those
/// that were there first go on, and the others wait until these are gone.
#ifndef KUBEXX_RELOADER_HA_MEMBERSHIP_H_
#define KUBEXX_RELOADER_HA_MEMBERSHIP_H_

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/ha/member_view.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// Stores members. Implementations are thread-safe, except for Renew. A call gives up after
/// `limit`; zero: it may take as long as it likes.
class MemberStore {
 public:
  virtual ~MemberStore() = default;
  /// Creates or renews this replica's own entry. Call it on one thread at a time.
  virtual apimachinery::Result<void> Renew(std::stop_token stop, base::Duration limit) = 0;
  virtual apimachinery::Result<std::vector<Member>> List(std::stop_token stop,
                                                         base::Duration limit) = 0;
  /// The replica that works on all namespaces by the one Lease of replicas without shards, as a
  /// member with one shard; std::nullopt when nobody holds it. `created` is 0.
  virtual apimachinery::Result<std::optional<Member>> Leader(std::stop_token stop,
                                                             base::Duration limit) = 0;
  /// Removes a member. It is not an error if there is none.
  virtual apimachinery::Result<void> Remove(const std::string& name, std::stop_token stop,
                                            base::Duration limit) = 0;
  /// Calls `on_change` when a member was added or removed. Returns when the watch ends.
  virtual apimachinery::Result<void> Watch(const std::function<void()>& on_change,
                                           std::stop_token stop) = 0;
};

/// Stores each member as a Lease "<lease>-member-<identity>" in the namespace of `lease`, with a
/// label that names `lease` and an annotation with the number of shards. The Leader is the holder
/// of `lease`. Needs the rights to get, list, watch, create, update and delete Leases there.
std::unique_ptr<MemberStore> NewLeaseMemberStore(std::shared_ptr<rest::RESTClient> client,
                                                 apimachinery::ObjectKey lease,
                                                 std::string identity, int shards);

/// Renews this replica's sign of life and divides the shards among the live replicas. Thread-safe.
///
/// While a live replica that was there first has another number of shards, this one takes no shard
/// and gives no sign of life, so that nobody counts on it. With one shard there are no signs of
/// life: such a replica only waits, at its start, for those that have more. Where it may not list
/// them, it does not wait, and they give way to whoever holds the one Lease. A replica that has not
/// been able to renew its sign of life for `expiry` begins anew, as the youngest one.
class Membership {
 public:
  struct Options {
    std::string identity{};
    int shards = 1;
    base::Duration expiry = std::chrono::seconds(15);
    base::Duration renew_period = std::chrono::seconds(2);
    /// For how long this replica goes on waiting after it has found that the last one with another
    /// number of shards has gone, whose writes may not have ended yet.
    base::Duration hand_over = std::chrono::seconds(5);
    base::Clock& clock = base::Clock::Real();
    /// For the metric kubexx_reloader_replica_waits; must outlive this object.
    metrics::Registry* registry = nullptr;
  };

  /// `store` must outlive this object.
  Membership(Options options, MemberStore& store);
  /// Stops.
  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  void Start();
  /// Removes this replica's sign of life, so that other replicas take its shards as soon as it
  /// gives them up. This object goes on counting them as this replica's own.
  void Stop();

  /// Blocks until this replica should take the shard. Returns a token that is requested when it
  /// should not any longer; std::nullopt when `stop` was requested first.
  std::optional<std::stop_token> AwaitAssigned(int shard, const std::stop_token& stop) const;

  /// A sentence that says why this replica can take no shard: for ten seconds or more it has not
  /// been permitted to list the replicas. std::nullopt when there is no such problem.
  std::optional<std::string> Problem() const;

  /// A sentence that says for which replica with another number of shards this one waits;
  /// std::nullopt when it waits for none.
  std::optional<std::string> Waiting() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_HA_MEMBERSHIP_H_
