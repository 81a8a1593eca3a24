#include "kubexx/reloader/ha/held_shards.h"

#include <cstdint>

namespace kubexx::reloader {

int ShardOf(std::string_view namespace_, int shards) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : namespace_) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211ULL;
  }
  return static_cast<int>(hash % static_cast<std::uint64_t>(shards));
}

HeldShards::HeldShards(int shards, base::Clock& clock)
    : clock_(clock), number_(shards), shards_(static_cast<std::size_t>(shards)) {}

HeldShards::Permit::~Permit() {
  if (owner_ != nullptr) {
    owner_->Leave(shard_);
  }
}

std::optional<HeldShards::Permit> HeldShards::Enter(std::string_view namespace_) {
  const int shard = ShardOf(namespace_, shards());
  std::function<bool()> holds;
  std::optional<Permit> permit;
  {
    const base::MutexLock lock(mu_);
    Shard& entry = shards_[static_cast<std::size_t>(shard)];
    if (!entry.open) {
      return std::nullopt;
    }
    ++entry.writes;
    permit.emplace(Permit(this, shard, entry.stop.get_token(), entry.tenure));
    holds = entry.holds;
  }
  if (holds && !holds()) {
    return std::nullopt;  // the destructor returns the permit
  }
  return permit;
}

void HeldShards::Leave(int shard) {
  const base::MutexLock lock(mu_);
  --shards_[static_cast<std::size_t>(shard)].writes;
  ended_.notify_all();
}

void HeldShards::Open(int shard, std::function<bool()> holds) {
  const base::MutexLock lock(mu_);
  Shard& entry = shards_[static_cast<std::size_t>(shard)];
  entry.open = true;
  ++entry.tenure;
  entry.holds = std::move(holds);
  entry.stop = std::stop_source();
}

void HeldShards::Close(int shard, base::Duration grace) {
  const base::TimePoint deadline = clock_.Now() + grace;
  std::stop_source stop;
  {
    const base::MutexLock lock(mu_);
    Shard& entry = shards_[static_cast<std::size_t>(shard)];
    entry.open = false;
    stop = entry.stop;
    while (entry.writes > 0) {
      if (clock_.WaitUntil(mu_, ended_, {}, deadline) == base::Wake::kTimeout) {
        break;
      }
    }
  }
  stop.request_stop();  // it runs callbacks, so the lock is released
  {
    const base::MutexLock lock(mu_);
    Shard& entry = shards_[static_cast<std::size_t>(shard)];
    while (entry.writes > 0) {
      ended_.wait(mu_);
    }
    entry.holds = nullptr;
  }
  const base::MutexLock lock(tell_mu_);
  if (on_closed_) {
    on_closed_(shard);
  }
}

base::Subscription HeldShards::OnClosed(std::function<void(int shard)> closed) {
  const base::MutexLock lock(tell_mu_);
  on_closed_ = std::move(closed);
  return base::Subscription([this] {
    const base::MutexLock unsubscribing(tell_mu_);
    on_closed_ = nullptr;
  });
}

bool HeldShards::IsOpen(int shard) const {
  const base::MutexLock lock(mu_);
  return shards_[static_cast<std::size_t>(shard)].open;
}

}  // namespace kubexx::reloader
