#include "slow_storage.h"

#include <chrono>
#include <memory>
#include <utility>

#include "kubexx/base/clock.h"

namespace kubexx::simulation {

using apimachinery::Result;
using apiserver::storage::Deleted;
using apiserver::storage::Event;
using apiserver::storage::KeyValue;
using apiserver::storage::ListOptions;
using apiserver::storage::ListResult;
using apiserver::storage::Revision;
using apiserver::storage::StorageHealth;
using apiserver::storage::Swap;
using apiserver::storage::WatchOptions;

namespace {

/// Longer than most requests are on their way, so that others come in between.
constexpr std::int64_t kMostMicroseconds = 5000;

}  // namespace

void SlowStorage::TakeTime(const std::stop_token& stop) {
  const std::uint64_t rate = rate_;
  if (rate == 0) {
    return;
  }
  std::int64_t time = 0;
  {
    const base::MutexLock lock(mu_);
    time = random_.Chance(rate) ? random_.Between(1, kMostMicroseconds) : 0;
  }
  if (time != 0) {
    base::Clock::Real().SleepFor(std::chrono::microseconds(time), stop);
  }
}

Result<KeyValue> SlowStorage::Get(std::string_view key, Revision revision, std::stop_token stop) {
  return storage_.Get(key, revision, std::move(stop));
}

Result<KeyValue> SlowStorage::Create(std::string_view key, std::string value,
                                     std::stop_token stop) {
  return storage_.Create(key, std::move(value), std::move(stop));
}

Result<Swap> SlowStorage::CompareAndSwap(std::string_view key, Revision expected, std::string value,
                                         std::stop_token stop) {
  TakeTime(stop);
  return storage_.CompareAndSwap(key, expected, std::move(value), std::move(stop));
}

Result<Deleted> SlowStorage::Delete(std::string_view key, Revision expected, std::stop_token stop) {
  TakeTime(stop);
  return storage_.Delete(key, expected, std::move(stop));
}

Result<ListResult> SlowStorage::GetList(std::string_view prefix, const ListOptions& options,
                                        ItemSink sink, std::stop_token stop) {
  return storage_.GetList(prefix, options, sink, std::move(stop));
}

Result<std::int64_t> SlowStorage::Count(std::string_view prefix, std::stop_token stop) {
  return storage_.Count(prefix, std::move(stop));
}

Result<Revision> SlowStorage::CurrentRevision(std::stop_token stop) {
  return storage_.CurrentRevision(std::move(stop));
}

Result<void> SlowStorage::Watch(std::string_view prefix, const WatchOptions& options,
                                EventSink sink, std::stop_token stop) {
  return storage_.Watch(
      prefix, options,
      [&](std::shared_ptr<const Event> event) -> Result<void> {
        TakeTime(stop);
        return sink(std::move(event));
      },
      stop);
}

void SlowStorage::RequestProgress(std::string_view prefix) { storage_.RequestProgress(prefix); }

Result<void> SlowStorage::Compact(Revision revision, std::stop_token stop) {
  return storage_.Compact(revision, std::move(stop));
}

StorageHealth SlowStorage::CheckHealth(base::Duration timeout, std::stop_token stop) {
  return storage_.CheckHealth(timeout, std::move(stop));
}

}  // namespace kubexx::simulation
