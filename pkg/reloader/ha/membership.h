/// @file
/// Which replicas there are, and which shards are whose to take.
#ifndef KUBEXX_RELOADER_HA_MEMBERSHIP_H_
#define KUBEXX_RELOADER_HA_MEMBERSHIP_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// A replica's sign of life as stored.
struct Member {
  std::string name{};
  std::string version{};  ///< changes with every renewal
  bool operator==(const Member&) const = default;
};

/// Who lives, by what was seen when: times written by others are never compared. Pure.
class MemberView {
 public:
  /// A member whose version has not changed for `expiry` is dead.
  explicit MemberView(base::Duration expiry) : expiry_(expiry) {}

  /// All that is stored, as of `now`.
  void Saw(const std::vector<Member>& members, base::TimePoint now);
  /// Ascending.
  std::vector<std::string> Live(base::TimePoint now) const;
  /// Dead for so long that what they left can be removed.
  std::vector<std::string> Abandoned(base::TimePoint now) const;

 private:
  struct Entry {
    std::string version{};
    base::TimePoint since{};
  };
  base::Duration expiry_;
  std::map<std::string, Entry> entries_;
};

/// The member that is to take a shard: every member takes as many as any other, or one less. Empty
/// without members. `members` ascending. Replicas that disagree about the members for a while may
/// both want a shard, or none of them; its Lease decides.
std::string TakerOf(int shard, const std::vector<std::string>& members);

/// Where members are stored. Implementations are thread-safe, but for Renew.
class MemberStore {
 public:
  virtual ~MemberStore() = default;
  /// Creates or renews this replica's own; on one thread at a time.
  virtual apimachinery::Result<void> Renew(std::stop_token stop) = 0;
  virtual apimachinery::Result<std::vector<Member>> List(std::stop_token stop) = 0;
  /// kNotFound is a success.
  virtual apimachinery::Result<void> Remove(const std::string& name, std::stop_token stop) = 0;
  /// Calls `on_change` when a member came or went; returns when the watch ends.
  virtual apimachinery::Result<void> Watch(const std::function<void()>& on_change,
                                           std::stop_token stop) = 0;
};

/// One Lease a member, "<lease>-member-<identity>" in `lease`'s namespace, with a label that names
/// `lease`. Needs get, list, watch, create, update and delete on Leases there.
std::unique_ptr<MemberStore> NewLeaseMemberStore(std::shared_ptr<rest::RESTClient> client,
                                                 apimachinery::ObjectKey lease,
                                                 std::string identity);

/// Keeps this replica's sign of life up and divides the shards among those that live. Thread-safe.
class Membership {
 public:
  struct Options {
    std::string identity{};
    int shards = 1;
    base::Duration expiry = std::chrono::seconds(15);
    base::Duration renew_period = std::chrono::seconds(2);
    base::Clock& clock = base::Clock::Real();
  };

  /// `store` must outlive this.
  Membership(Options options, MemberStore& store);
  /// Stops.
  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  void Start();
  /// Removes this replica's sign of life, so that the others take its shards as soon as it gives
  /// them back. It keeps them until then.
  void Stop();

  /// Blocks until the shard is this replica's to take, and returns a token that is requested when
  /// it is not any more; nothing when `stop` was requested first.
  std::optional<std::stop_token> AwaitAssigned(int shard, const std::stop_token& stop) const;

  /// In a sentence, why this replica can have no shard: it has never been allowed to see which
  /// replicas there are, for ten seconds or more.
  std::optional<std::string> Problem() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_HA_MEMBERSHIP_H_
