#include "kubexx/cache/internal/informer/delta_queue.h"

#include <utility>

#include "kubexx/base/executor/executor.h"

namespace kubexx::cache {
namespace {

// A full state counts only with its overhead: its objects will be the store's content, and are not
// a copy that waits.
std::size_t BytesOf(const Delta& delta) {
  constexpr std::size_t kOverhead = sizeof(Delta);
  if (const auto* upsert = std::get_if<UpsertDelta>(&delta)) {
    return kOverhead + upsert->entry->size();
  }
  if (const auto* deleted = std::get_if<Rare<DeleteDelta>>(&delta)) {
    return kOverhead + sizeof(DeleteDelta) + (*deleted)->object.bytes.size();
  }
  return kOverhead;
}

bool IsChange(const Delta& delta) {
  return std::holds_alternative<UpsertDelta>(delta) ||
         std::holds_alternative<Rare<DeleteDelta>>(delta);
}

}  // namespace

apimachinery::Result<void> DeltaQueue::Push(Delta delta) {
  KX_RETURN_IF_ERROR(PushSome(std::move(delta)));
  Flush();
  return {};
}

apimachinery::Result<void> DeltaQueue::PushSome(Delta delta) {
  const std::size_t bytes = BytesOf(delta);
  {
    base::MutexLock lock(mu_);
    if (!came_) {
      came_ = options_.clock.Now();
    }
    const base::TimePoint came = *came_;  // the time that the delta waits for room counts, too
    while (!closed_ && IsFullLocked(bytes) && !base::Executor::IsTask()) {
      CountLocked();
      options_.wake();
      options_.clock.WaitUntil(mu_, not_full_, {}, base::TimePoint::max());
    }
    if (closed_) {
      return apimachinery::Fail(apimachinery::Reason::kCancelled, "the informer is stopped");
    }
    bytes_ += bytes;
    items_.push_back({std::move(delta), bytes, came});
    if (items_.size() != options_.max_batch) {
      return {};
    }
    CountLocked();
  }
  options_.wake();
  return {};
}

void DeltaQueue::Flush() {
  {
    base::MutexLock lock(mu_);
    came_.reset();
    CountLocked();
    if (items_.empty()) {
      return;
    }
  }
  // The lock is released, because the consumer takes it first of all.
  options_.wake();
}

void DeltaQueue::Wake() {
  const base::TimePoint now = options_.clock.Now();
  {
    base::MutexLock lock(mu_);
    items_.push_back({WakeDelta{}, 0, now});
  }
  Flush();
}

DeltaQueue::Item DeltaQueue::TakeLocked() {
  Item item = std::move(items_.front());
  items_.pop_front();
  bytes_ -= item.bytes;
  return item;
}

bool DeltaQueue::HasRoom(const void* who, const std::function<void()>& wake) {
  const base::MutexLock lock(mu_);
  if (closed_ || !IsFullLocked(0)) {
    return true;
  }
  for_room_.insert_or_assign(who, wake);
  return false;
}

void DeltaQueue::WakeAll(const Waiting& waiting) {
  for (const auto& [who, wake] : waiting) {
    wake();
  }
}

std::optional<DeltaBatch> DeltaQueue::Pop() {
  Waiting for_room;
  std::optional<DeltaBatch> batch = Take(for_room);
  WakeAll(for_room);
  return batch;
}

std::optional<DeltaBatch> DeltaQueue::Take(Waiting& for_room) {
  base::MutexLock lock(mu_);
  if (closed_ || items_.empty()) {
    return std::nullopt;
  }
  DeltaBatch batch;
  Item first = TakeLocked();
  batch.queued = first.queued;
  const bool more = IsChange(first.delta);
  batch.deltas.push_back(std::move(first.delta));
  while (more && !items_.empty() && IsChange(items_.front().delta) &&
         batch.deltas.size() < options_.max_batch) {
    batch.deltas.push_back(TakeLocked().delta);
  }
  batch.more = !items_.empty();
  CountLocked();
  not_full_.notify_all();
  if (items_.size() <= options_.max_deltas / 2 && bytes_ <= options_.max_bytes / 2) {
    for_room_.swap(for_room);
  }
  return batch;
}

void DeltaQueue::Close() {
  Waiting for_room;
  {
    base::MutexLock lock(mu_);
    closed_ = true;
    options_.queued.Set(0);  // nobody will take what is left
    not_full_.notify_all();
    for_room_.swap(for_room);
  }
  WakeAll(for_room);
}

void DeltaQueue::Open() {
  std::deque<Item> dropped;
  base::MutexLock lock(mu_);
  dropped.swap(items_);
  came_.reset();
  bytes_ = 0;
  closed_ = false;
  options_.queued.Set(0);
}

}  // namespace kubexx::cache
