#include "kubexx/apiserver/cacher/watch_cache.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "kubexx/apiserver/object/status_json.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::WatchEventType;

/// What an event needs besides the text of its object, roughly.
constexpr std::size_t kEventOverhead = 256;

std::size_t TextSizeOf(const CachedObjectRef& object) {
  return object == nullptr ? 0 : object->text.size();
}

std::size_t SizeOf(const CacheEvent& event) {
  return TextSizeOf(event.object) + TextSizeOf(event.previous) + kEventOverhead;
}

}  // namespace

/// Collects a full state.
class WatchCache::NewState final : public cache::Replacement {
 public:
  explicit NewState(WatchCache& cache) : cache_(cache) {}

  Result<void> Add(cache::Object&& object) override {
    KX_ASSIGN_OR_RETURN(CachedObjectRef made, cache_.Make(std::move(object)));
    std::string key = made->key.ToString();
    objects_.insert_or_assign(std::move(key), std::move(made));
    return {};
  }
  Result<void> Delete(const apimachinery::ObjectKey& key) override {
    objects_.erase(key.ToString());
    return {};
  }
  Result<void> Commit(std::string_view resource_version) override {
    cache_.Commit(std::move(objects_), RevisionOf(resource_version));
    return {};
  }

 private:
  WatchCache& cache_;
  Objects objects_;
};

WatchCache::WatchCache(ResourceTypeRef type, base::Clock& clock, WindowLimits limits)
    : type_(std::move(type)), clock_(clock), limits_(limits) {}

Result<void> WatchCache::WaitFor(std::int64_t revision, base::TimePoint deadline,
                                 const std::stop_token& stop, OnFailure on_failure) const {
  if (Has(revision)) {
    return {};
  }
  base::MutexLock lock(mu_);
  while (!synced_ || revision_ < revision) {
    if (failed_ && (!synced_ || on_failure == OnFailure::kGiveUp)) {
      return Fail(NotBegun());
    }
    const base::Wake wake = clock_.WaitUntil(mu_, advanced_, stop, deadline);
    if (wake == base::Wake::kStopped) {
      return Fail(Reason::kCancelled, "the request has ended");
    }
    if (wake == base::Wake::kTimeout && (!synced_ || revision_ < revision)) {
      return Fail(TooLargeResourceVersion(revision, revision_));
    }
  }
  return {};
}

apimachinery::Status WatchCache::NotBegun() {
  apimachinery::Status status(Reason::kTooManyRequests, "storage is (re)initializing", 429);
  status.details.retry_after = std::chrono::seconds(1);
  return status;
}

void WatchCache::NoteFailure() {
  base::MutexLock lock(mu_);
  failed_ = true;
  advanced_.notify_all();
}

CachedList WatchCache::List(const Selection& selection) const {
  CachedList list;
  {
    base::MutexLock lock(mu_);
    list = ListLocked(selection.namespace_, selection.fields.Exactly("metadata.name"));
  }
  if (!selection.all()) {
    std::erase_if(list.items, [&selection](const CachedObjectRef& object) {
      return !selection.Matches(object->key, object->attributes);
    });
  }
  return list;
}

CachedList WatchCache::ListLocked(const std::string& namespace_, const std::string& name) const {
  CachedList list;
  list.revision = revision_;
  list.since = changed_;
  if (!name.empty() && type_->namespaced == !namespace_.empty()) {
    const apimachinery::ObjectKey key{.namespace_ = namespace_, .name = name};
    if (const auto found = objects_.find(key.ToString()); found != objects_.end()) {
      list.items.push_back(found->second);
    }
    return list;
  }
  const std::string prefix = namespace_.empty() ? "" : namespace_ + "/";
  if (prefix.empty()) {
    list.items.reserve(objects_.size());
  }
  for (auto at = objects_.lower_bound(prefix); at != objects_.end(); ++at) {
    if (!at->first.starts_with(prefix)) {
      break;
    }
    list.items.push_back(at->second);
  }
  return list;
}

std::optional<std::int64_t> WatchCache::BeginOfAll() const {
  base::MutexLock lock(mu_);
  return synced_ && !dropped_ ? std::optional(window_begin_) : std::nullopt;
}

WatchCache::WindowRoom WatchCache::Room() const {
  base::MutexLock lock(mu_);
  const std::size_t max_bytes = MaxWindowBytesLocked();
  return {.events = limits_.events - std::min(limits_.events, events_.size()),
          .bytes = max_bytes - std::min(max_bytes, window_bytes_)};
}

std::size_t WatchCache::MaxWindowBytesLocked() const {
  return std::max(limits_.bytes, 2 * object_bytes_);
}

Result<void> WatchCache::Prepend(std::int64_t begin, std::int64_t revision,
                                 std::vector<PastChange>&& changes) {
  std::vector<CacheEvent> events;
  events.reserve(changes.size());
  std::size_t bytes = 0;
  for (PastChange& change : changes) {
    CacheEvent& event = events.emplace_back();
    event.type = change.event.type;
    KX_ASSIGN_OR_RETURN(event.object, Make(std::move(change.event.object)));
    if (change.previous) {
      KX_ASSIGN_OR_RETURN(event.previous, Make(std::move(*change.previous)));
    }
    bytes += SizeOf(event);
  }
  base::MutexLock lock(mu_);
  if (!dropped_ && window_begin_ == begin && revision < begin &&
      events_.size() + events.size() <= limits_.events &&
      window_bytes_ + bytes <= MaxWindowBytesLocked()) {
    times_.insert(times_.begin(), events.size(), clock_.Now());
    window_bytes_ += bytes;
    is_large_ = window_bytes_ > limits_.old_bytes;
    events_.insert(events_.begin(), std::make_move_iterator(events.begin()),
                   std::make_move_iterator(events.end()));
    window_begin_ = revision;
  }
  return {};
}

void WatchCache::Tick(base::TimePoint now, bool bookmarks) {
  if (!is_watched_ && !is_large_) {
    return;
  }
  base::MutexLock lock(mu_);
  TrimLocked(now);
  for (const std::shared_ptr<CacheWatcher>& watcher : watchers_) {
    const bool is_over = now >= watcher->options().deadline;
    if ((bookmarks || is_over) && synced_ && watcher->options().bookmarks &&
        revision_ >= watcher->begin()) {
      watcher->PushBookmark(revision_, false);
    }
    if (is_over) {
      watcher->End();
    }
  }
  std::erase_if(watchers_, [](const auto& watcher) { return watcher->closed(); });
  is_watched_ = !watchers_.empty();
}

void WatchCache::EndWatches() {
  base::MutexLock lock(mu_);
  EndWatchesLocked();
}

void WatchCache::EndWatchesAt(std::int64_t revision) {
  base::MutexLock lock(mu_);
  last_ = std::min(last_, revision);
  if (revision_ >= last_) {
    EndWatchesLocked();
  }
}

void WatchCache::EndWatchesLocked() {
  for (const std::shared_ptr<CacheWatcher>& watcher : watchers_) {
    watcher->End();
  }
  watchers_.clear();
}

std::size_t WatchCache::watchers() const {
  base::MutexLock lock(mu_);
  return watchers_.size();
}

Result<CachedObjectRef> WatchCache::Make(cache::Object&& object) {
  KX_ASSIGN_OR_RETURN(const codec::JsonTree tree, codec::JsonTree::Parse(object.bytes));
  auto made = std::make_shared<CachedObject>();
  made->attributes = AttributesOf(*type_, tree);
  made->key = std::move(object.key);
  made->revision = RevisionOf(object.resource_version);
  made->text = SharedText(std::string_view(object.bytes), texts_);
  return made;
}

Result<void> WatchCache::Add(cache::Object&& object) { return Put(std::move(object)); }

Result<void> WatchCache::Update(cache::Object&& object) { return Put(std::move(object)); }

Result<void> WatchCache::Put(cache::Object&& object) {
  CacheEvent event;
  KX_ASSIGN_OR_RETURN(event.object, Make(std::move(object)));
  base::MutexLock lock(mu_);
  CachedObjectRef& slot = objects_[event.object->key.ToString()];
  event.previous = std::move(slot);
  event.type = event.previous == nullptr ? WatchEventType::kAdded : WatchEventType::kModified;
  slot = event.object;
  object_bytes_ += TextSizeOf(event.object);
  object_bytes_ -= TextSizeOf(event.previous);
  replaced_bytes_ += TextSizeOf(event.previous);
  RecordLocked(std::move(event));
  return {};
}

Result<void> WatchCache::Delete(cache::Object&& object) {
  CacheEvent event;
  event.type = WatchEventType::kDeleted;
  KX_ASSIGN_OR_RETURN(event.object, Make(std::move(object)));
  base::MutexLock lock(mu_);
  const auto found = objects_.find(event.object->key.ToString());
  if (found == objects_.end()) {
    NoteLocked(event.revision());
    return {};
  }
  event.previous = std::move(found->second);
  objects_.erase(found);
  object_bytes_ -= TextSizeOf(event.previous);
  replaced_bytes_ += TextSizeOf(event.previous);
  RecordLocked(std::move(event));
  return {};
}

void WatchCache::NoteLocked(std::int64_t revision) {
  if (revision > recorded_) {  // The revision before it is complete, whatever was reported of it.
    AdvanceLocked(recorded_);
    recorded_ = revision;
  }
  if (!std::exchange(is_partial_, false)) {
    AdvanceLocked(revision);
  }
}

void WatchCache::RecordLocked(CacheEvent event) {
  if (event.revision() > last_) {
    EndWatchesLocked();
  }
  DispatchLocked(event);
  NoteLocked(event.revision());
  changed_ = std::max(changed_, event.revision());
  const base::TimePoint now = clock_.Now();
  window_bytes_ += SizeOf(event);
  events_.push_back(std::move(event));
  times_.push_back(now);
  TrimLocked(now);
}

void WatchCache::TrimLocked(base::TimePoint now) {
  const std::size_t max_bytes = MaxWindowBytesLocked();
  while (events_.size() > limits_.events || (window_bytes_ > max_bytes && !events_.empty()) ||
         (window_bytes_ > limits_.old_bytes && !events_.empty() &&
          now - times_.front() > limits_.fresh)) {
    DropOldestLocked();
  }
  is_large_ = window_bytes_ > limits_.old_bytes;
}

void WatchCache::DropOldestLocked() {
  window_begin_ = events_.front().revision();
  window_bytes_ -= SizeOf(events_.front());
  events_.pop_front();
  times_.pop_front();
  dropped_ = true;
}

void WatchCache::DispatchLocked(const CacheEvent& event) {
  struct Encoded {
    const FrameFormat* format;
    WatchEventType type;
    http::BodyStream::Chunk frame;
  };
  std::vector<Encoded> encoded;  // There are few: one for each format and kind of change.
  bool any_closed = false;
  for (const std::shared_ptr<CacheWatcher>& watcher : watchers_) {
    const auto type = Select(event, watcher->options().selection);
    if (!type || event.revision() <= watcher->begin()) {
      continue;
    }
    const FrameFormat* const format = &watcher->NextFormat();
    auto found = std::ranges::find_if(
        encoded, [&](const Encoded& one) { return one.format == format && one.type == *type; });
    if (found == encoded.end()) {
      auto frame = format->Frame(*type, *type_, ObjectFor(event, *type)->Json());
      encoded.push_back({format, *type,
                         frame ? std::make_shared<const std::string>(std::move(*frame)) : nullptr});
      found = encoded.end() - 1;
    }
    if (found->frame == nullptr) {
      watcher->End();
    } else {
      watcher->Push(found->frame);
    }
    any_closed = any_closed || watcher->closed();
  }
  if (any_closed) {
    std::erase_if(watchers_, [](const auto& watcher) { return watcher->closed(); });
  }
}

void WatchCache::AdvanceLocked(std::int64_t revision) {
  failed_ = failed_ && !synced_;
  if (revision > revision_) {
    revision_ = revision;
    if (synced_) {
      reached_ = revision;
    }
    advanced_.notify_all();
  }
  if (revision_ >= last_) {
    EndWatchesLocked();
  }
}

std::unique_ptr<cache::Replacement> WatchCache::BeginReplace() {
  return std::make_unique<NewState>(*this);
}

// A new state replaces one whose watch has ended. The events between the two are not known, so no
// watch can go on.
void WatchCache::Commit(Objects objects, std::int64_t revision) {
  base::MutexLock lock(mu_);
  EndWatchesLocked();
  ++generation_;
  objects_ = std::move(objects);
  replaced_bytes_ += std::exchange(object_bytes_, 0);
  for (const auto& [key, object] : objects_) {
    object_bytes_ += TextSizeOf(object);
  }
  events_.clear();
  times_.clear();
  window_bytes_ = 0;
  is_large_ = false;
  states_.clear();
  window_begin_ = revision;
  dropped_ = false;
  revision_ = recorded_ = revision;
  changed_ = revision;
  failed_ = false;
  synced_ = true;
  reached_ = revision;
  advanced_.notify_all();
}

void WatchCache::MoreFollow() {
  base::MutexLock lock(mu_);
  is_partial_ = true;
}

void WatchCache::Bookmark(std::string_view resource_version) {
  base::MutexLock lock(mu_);
  AdvanceLocked(RevisionOf(resource_version));
}

}  // namespace kubexx::apiserver
