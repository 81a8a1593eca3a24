#include "kubexx/apiserver/cacher/cacher.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "kubexx/apiserver/cacher/past_changes.h"
#include "kubexx/apiserver/cacher/storage_lister_watcher.h"
#include "kubexx/apiserver/object/status_json.h"
#include "kubexx/base/after.h"
#include "kubexx/logging/log.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Result;

/// The interval at which a storage that has no events of this type is asked for its current
/// revision.
constexpr base::Duration kProgressInterval = std::chrono::milliseconds(100);

cache::ReflectorOptions ReflectorOptionsOf(const ResourceType& type, base::Clock& clock,
                                           WatchCache& cache) {
  cache::ReflectorOptions options{.clock = clock};
  options.use_watch_list = false;
  options.max_key_part = std::numeric_limits<std::size_t>::max();
  // The storage belongs to the server, and clients wait for this cache, so the cache must be back
  // soon after the storage. Pauses of half a minute are for clients of an overloaded server. A type
  // whose objects cannot be read, for example while its conversion webhook is down, is listed at
  // the same interval.
  options.tuning.backoff.cap = std::chrono::seconds(5);
  options.tuning.backoff.jitter = 0.25;
  options.on_error = [name = type.QualifiedPlural(), &cache](const apimachinery::Status& status) {
    cache.NoteFailure();
    if (status.reason != apimachinery::Reason::kCancelled) {
      logging::Log(storage::IsOutage(status) ? logging::Level::kDebug : logging::Level::kWarning,
                   "Cannot list and watch a resource in the storage",
                   {{"resource", name}, {"error", status}});
    }
  };
  return options;
}

}  // namespace

Cacher::Cacher(ResourceTypeRef type, storage::Storage& storage, Options options)
    : type_(std::move(type)),
      storage_(storage),
      options_(options),
      cache_(type_, options_.clock, {.events = options_.window}),
      reflector_("apiserver/" + type_->QualifiedPlural(),
                 std::make_shared<StorageListerWatcher>(type_, storage), cache_,
                 ReflectorOptionsOf(*type_, options_.clock, cache_)),
      last_bookmarks_(options_.clock.Now()),
      thread_([this](const std::stop_token& stop) { reflector_.Run(stop); }) {}

Cacher::~Cacher() {
  cache_.EndWatches();
  thread_.request_stop();
}

Result<void> Cacher::ReachBack(std::int64_t revision, const std::stop_token& stop) {
  if (!cache_.Has(revision)) {
    KX_ASSIGN_OR_RETURN(const storage::Revision latest, storage_.CurrentRevision(stop));
    return revision <= latest ? Result<void>() : Fail(TooOldResourceVersion(revision, latest));
  }
  if (revision <= 0 || revision >= cache_.BeginOfAll().value_or(0)) {
    return {};
  }
  const base::TimePoint deadline = base::After(options_.clock.Now(), options_.patience);
  {
    base::MutexLock lock(mu_);
    while (reaching_) {
      if (stop.stop_requested()) {
        return Fail(apimachinery::Reason::kCancelled, "stopped");
      }
      if (options_.clock.Now() >= deadline) {
        return {};  // The watch is refused as one that comes too late.
      }
      options_.clock.WaitUntil(mu_, reached_, stop, deadline);
    }
    reaching_ = true;
  }
  Result<void> read = ReadPast(revision, stop);
  const base::MutexLock lock(mu_);
  reaching_ = false;
  reached_.notify_all();
  return read;
}

Result<void> Cacher::ReadPast(std::int64_t revision, const std::stop_token& stop) {
  const std::optional<std::int64_t> begin = cache_.BeginOfAll();
  if (!begin || revision >= *begin) {
    return {};
  }
  {
    const base::MutexLock lock(mu_);
    if (out_of_reach_.begin == *begin && revision <= out_of_reach_.revision) {
      return {};  // Many watches that come too late must not cost a read of the history each.
    }
  }
  const WatchCache::WindowRoom room = cache_.Room();
  const PastRange range{.after = revision,
                        .until = *begin,
                        .limit = room.events,
                        .max_bytes = room.bytes,
                        .patience = options_.patience};
  if (range.limit == 0) {
    return {};  // Otherwise nobody would receive what the storage reports.
  }
  auto changes = PastChanges(*type_, storage_, range, options_.clock, stop);
  if (!changes) {
    // Changes that the cache cannot tell come with a list: the watch is refused as one that comes
    // too late.
    const apimachinery::Reason reason = changes.error().reason;
    if (reason == apimachinery::Reason::kExpired) {
      const base::MutexLock lock(mu_);
      out_of_reach_ = {.begin = *begin, .revision = revision};
    }
    return reason == apimachinery::Reason::kCancelled ||
                   reason == apimachinery::Reason::kUnavailable
               ? Fail(changes.error())
               : Result<void>();
  }
  return cache_.Prepend(*begin, revision, std::move(*changes));
}

Result<void> Cacher::WaitFor(std::int64_t revision, const std::stop_token& stop) {
  if (revision > 0 && !cache_.Has(revision)) {
    // Nobody can know a version that the storage has not given out. To wait for it would be useless
    // and would keep other requests from being served.
    KX_ASSIGN_OR_RETURN(const storage::Revision latest, storage_.CurrentRevision(stop));
    if (revision > latest) {
      return Fail(TooLargeResourceVersion(revision, latest));
    }
  }
  return Await(revision, WatchCache::OnFailure::kWait, stop);
}

Result<void> Cacher::Await(std::int64_t revision, WatchCache::OnFailure on_failure,
                           const std::stop_token& stop) {
  const base::TimePoint deadline = options_.clock.Now() + options_.patience;
  while (!cache_.Has(revision)) {
    // The cache may have no events because nothing of this type was written. Then it has to ask the
    // storage.
    storage_.RequestProgress(type_->prefix);
    const base::TimePoint until = std::min(deadline, options_.clock.Now() + kProgressInterval);
    const Result<void> waited = cache_.WaitFor(revision, until, stop, on_failure);
    if (!waited && waited.error().reason != apimachinery::Reason::kTimeout) {
      return waited;
    }
    if (!waited && options_.clock.Now() >= deadline) {
      return cache_.Has(0) ? waited : Fail(WatchCache::NotBegun());
    }
  }
  return {};
}

Result<void> Cacher::WaitForLatest(const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(const storage::Revision latest, storage_.CurrentRevision(stop));
  return Await(latest, WatchCache::OnFailure::kWait, stop);
}

Result<void> Cacher::CatchUpWithLatest(const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(const storage::Revision latest, storage_.CurrentRevision(stop));
  return Await(latest, WatchCache::OnFailure::kGiveUp, stop);
}

Result<void> Cacher::CatchUp(std::int64_t revision, const std::stop_token& stop) {
  return cache_.Has(0) ? Await(revision, WatchCache::OnFailure::kGiveUp, stop)
                       : Fail(WatchCache::NotBegun());
}

void Cacher::EndAt(std::int64_t revision) {
  cache_.EndWatchesAt(revision);
  storage_.RequestProgress(type_->prefix);  // Nothing of this type may ever be written again.
}

void Cacher::Tick(base::TimePoint now) {
  const bool bookmarks = now - last_bookmarks_.load() >= options_.bookmark_interval;
  if (bookmarks) {
    last_bookmarks_ = now;
  }
  cache_.Tick(now, bookmarks);
  if (bookmarks) {
    storage_.RequestProgress(type_->prefix);  // for the next callers
  }
}

}  // namespace kubexx::apiserver
