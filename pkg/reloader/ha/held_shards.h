/// @file
/// In which namespaces this replica may write.
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

/// The shard that a namespace belongs to, from 0 to `shards` - 1. The same in every process and
/// version: replicas of different versions must agree on it (FNV-1a, 64 bits, modulo).
int ShardOf(std::string_view namespace_, int shards);

/// Lets writes through in the shards that this replica holds, and knows which are under way, so
/// that a shard is given up when none is. Thread-safe.
class HeldShards {
 public:
  /// All shards are closed. `clock` must outlive this.
  explicit HeldShards(int shards, base::Clock& clock = base::Clock::Real());

  /// One write that is under way. Move-only; ends with its destructor, before the HeldShards does.
  class Permit {
   public:
    Permit(Permit&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)),
          shard_(other.shard_),
          stop_(other.stop_),
          tenure_(other.tenure_) {}
    Permit& operator=(Permit&&) = delete;
    ~Permit();
    /// Requested when the write has to end because the shard was lost.
    const std::stop_token& stop() const { return stop_; }
    /// Counts the times that the shard was opened: another number is another tenure.
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

  /// A permit to write in a namespace now; nothing when its shard is not held.
  std::optional<Permit> Enter(std::string_view namespace_);

  /// The shard is held from now on, as long as `holds` says so, too: it is asked for every permit,
  /// without a lock, and may be empty.
  void Open(int shard, std::function<bool()> holds = {});
  /// Gives no more permits for the shard and returns when those that were given have ended. After
  /// `grace` they are told to.
  void Close(int shard, base::Duration grace);

  /// Calls this at the end of each Close, when nothing is under way in the shard any more. It must
  /// not call this. One at a time.
  base::Subscription OnClosed(std::function<void(int shard)> closed);

  bool IsOpen(int shard) const;
  /// Of the shard of a namespace.
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
  base::Mutex tell_mu_;  ///< taken alone, and held by a call, for which the end of it waits
  std::function<void(int shard)> on_closed_ KX_GUARDED_BY(tell_mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_HA_HELD_SHARDS_H_
