/// @file
/// Knows in which namespaces this replica may write.
#ifndef KUBEXX_RELOADER_HA_HELD_SHARDS_H_
#define KUBEXX_RELOADER_HA_HELD_SHARDS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/subscription.h"

namespace kubexx::reloader {

/// The shard of a namespace, from 0 to `shards` - 1. It is FNV-1a (64 bits) modulo `shards` and
/// must stay the same in every version, because replicas of different versions have to agree on it.
int ShardOf(std::string_view namespace_, int shards);

/// Permits writes in the shards that this replica holds and counts the writes under way, so that a
/// shard is given up only when there are none. Thread-safe.
class HeldShards {
 public:
  /// At first no shard is held. `clock` must outlive this object.
  explicit HeldShards(int shards, base::Clock& clock = base::Clock::Real());

  /// Permits one write, which ends when this object is destroyed. The HeldShards must outlive it.
  /// Move-only.
  class Permit {
   public:
    Permit(Permit&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)),
          shard_(other.shard_),
          stop_(other.stop_),
          tenure_(other.tenure_) {}
    Permit& operator=(Permit&&) = delete;
    ~Permit();
    /// Requested when the write must stop because the shard was lost.
    const std::stop_token& stop() const { return stop_; }
    /// The number of times that the shard has been opened. A different number means a different
    /// tenure.
    std::uint64_t tenure() const { return tenure_; }

   private:
    friend class HeldShards;
    Permit(HeldShards* owner, int shard, std::stop_token stop, std::uint64_t tenure)
        : owner_(owner), shard_(shard), stop_(std::move(stop)), tenure_(tenure) {}

    HeldShards* owner_;
    int shard_;
    std::stop_token stop_;
    std::uint64_t tenure_;
  };

  /// Returns a permit to write in the namespace now; std::nullopt when its shard is not held.
  std::optional<Permit> Enter(std::string_view namespace_);

  /// Opens a shard: it is held from now on, as long as `holds` returns true. `holds` is called for
  /// every permit, without a lock; it may be empty.
  void Open(int shard, std::function<bool()> holds = {});
  /// Closes a shard: gives no more permits, and returns when all writes under way in the shard have
  /// ended. After `grace` it requests Permit::stop of those that are left.
  void Close(int shard, base::Duration grace);

  /// Registers a callback for the end of each Close, when no write is under way in the shard any
  /// more. It must not call this object. Only one callback may be registered at a time.
  base::Subscription OnClosed(std::function<void(int shard)> closed);

  bool IsOpen(int shard) const;
  /// Whether the shard of the namespace is open.
  bool IsOpenFor(std::string_view namespace_) const {
    return IsOpen(ShardOf(namespace_, shards()));
  }
  int shards() const { return number_; }

 private:
  struct Shard {
    bool open = false;
    std::uint64_t tenure = 0;
    int writes = 0;
    std::function<bool()> holds{};
    std::stop_source stop{};
  };

  void Leave(int shard);

  base::Clock& clock_;
  const int number_;
  mutable base::Mutex mu_;
  base::CondVar ended_;
  std::vector<Shard> shards_ KX_GUARDED_BY(mu_);
  /// Never held together with mu_; a call of on_closed_ holds it, and unregistering waits for that.
  base::Mutex tell_mu_;
  std::function<void(int shard)> on_closed_ KX_GUARDED_BY(tell_mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_HA_HELD_SHARDS_H_
