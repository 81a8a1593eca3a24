#include "kubexx/cache/testing/fake_source.h"

#include <algorithm>
#include <utility>

#include "kubexx/base/clock.h"

namespace kubexx::cache::testing {

using apimachinery::Fail;
using apimachinery::ListOptions;
using apimachinery::ObjectKey;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using codec::WatchEventType;

namespace {

Status Expired() { return {Reason::kExpired, "too old resource version", 410}; }

std::uint64_t ParseVersion(const std::string& text) { return text.empty() ? 0 : std::stoull(text); }

Status TooLarge() {
  Status status(Reason::kTimeout, "Too large resource version", 504);
  status.details.causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
  return status;
}

WatchEvent BookmarkEvent(std::uint64_t version, bool end) {
  WatchEvent event{.type = WatchEventType::kBookmark, .initial_events_end = end};
  event.object.resource_version = std::to_string(version);
  return event;
}

}  // namespace

std::string FakeJson(const ObjectKey& key, std::string_view resource_version,
                     std::string_view payload) {
  return R"({"metadata":{"namespace":")" + key.namespace_ + R"(","name":")" + key.name +
         R"(","resourceVersion":")" + std::string(resource_version) + R"("},"data":{"payload":")" +
         std::string(payload) + "\"}}";
}

std::string FakeSource::Put(const ObjectKey& key, std::string_view payload) {
  base::MutexLock lock(mu_);
  const std::string version = std::to_string(version_ + 1);
  Object object{.encoding = codec::Encoding::kJson,
                .bytes = FakeJson(key, version, payload),
                .key = key,
                .resource_version = version};
  AppendLocked(objects_.contains(key) ? WatchEventType::kModified : WatchEventType::kAdded, object);
  objects_[key] = std::move(object);
  return version;
}

std::string FakeSource::PutObject(Object object) {
  base::MutexLock lock(mu_);
  object.resource_version = std::to_string(version_ + 1);
  const bool known = objects_.contains(object.key);
  AppendLocked(known ? WatchEventType::kModified : WatchEventType::kAdded, object);
  std::string version = object.resource_version;
  objects_[object.key] = std::move(object);
  return version;
}

void FakeSource::Delete(const ObjectKey& key) {
  base::MutexLock lock(mu_);
  if (const auto found = objects_.find(key); found != objects_.end()) {
    DeleteLocked(std::move(found->second));
  }
}

void FakeSource::DeleteAs(Object last) {
  base::MutexLock lock(mu_);
  DeleteLocked(std::move(last));
}

void FakeSource::DeleteLocked(Object last) {
  objects_.erase(last.key);
  last.resource_version = std::to_string(version_ + 1);
  AppendLocked(WatchEventType::kDeleted, std::move(last));
}

void FakeSource::AppendLocked(WatchEventType type, Object object) {
  history_.push_back({++version_, type, std::move(object)});
  changed_.notify_all();
}

FakeSource::Objects FakeSource::objects() const {
  base::MutexLock lock(mu_);
  return objects_;
}

std::string FakeSource::resource_version() const {
  base::MutexLock lock(mu_);
  return std::to_string(version_);
}

void FakeSource::DropWatches() {
  base::MutexLock lock(mu_);
  ++drops_;
  drop_status_.reset();
  changed_.notify_all();
}

void FakeSource::BreakWatches(Status status) {
  base::MutexLock lock(mu_);
  ++drops_;
  drop_status_ = std::move(status);
  changed_.notify_all();
}

void FakeSource::Compact() {
  base::MutexLock lock(mu_);
  compacted_ = version_;
  history_.clear();
  snapshots_.clear();
}

void FakeSource::RestoreBackup(const Objects& backup, std::uint64_t version) {
  base::MutexLock lock(mu_);
  objects_ = backup;
  version_ = compacted_ = version;
  history_.clear();
  snapshots_.clear();
  ++drops_;
  drop_status_ = Status(Reason::kUnavailable, "connection reset");
  changed_.notify_all();
}

void FakeSource::SendBookmark() {
  base::MutexLock lock(mu_);
  ++bookmarks_;
  changed_.notify_all();
}

void FakeSource::PutUnreadable(std::string why) {
  base::MutexLock lock(mu_);
  unreadable_ = std::move(why);
}

void FakeSource::MendUnreadable() {
  base::MutexLock lock(mu_);
  unreadable_.clear();
}

void FakeSource::SendUnreadable(std::string why) {
  base::MutexLock lock(mu_);
  AppendLocked(WatchEventType::kAdded, UnreadableObject({Reason::kMalformed, std::move(why), 400}));
}

void FakeSource::FailLists(Status status, int times) {
  base::MutexLock lock(mu_);
  list_fault_ = {std::move(status), times};
}

void FakeSource::FailWatches(Status status, int times) {
  base::MutexLock lock(mu_);
  watch_fault_ = {std::move(status), times};
}

void FakeSource::BreakNextListAfter(int objects, Status status) {
  base::MutexLock lock(mu_);
  list_break_.emplace(objects, std::move(status));
}

void FakeSource::RefuseWatchList() {
  base::MutexLock lock(mu_);
  refuse_watch_list_ = true;
}

int FakeSource::lists() const {
  base::MutexLock lock(mu_);
  return static_cast<int>(list_requests_.size());
}

int FakeSource::watches() const {
  base::MutexLock lock(mu_);
  return static_cast<int>(watch_requests_.size());
}

std::vector<ListOptions> FakeSource::list_requests() const {
  base::MutexLock lock(mu_);
  return list_requests_;
}

std::vector<ListOptions> FakeSource::watch_requests() const {
  base::MutexLock lock(mu_);
  return watch_requests_;
}

void FakeSource::AwaitWatches(int n, const base::testing::Where& where) const {
  base::MutexLock lock(mu_);
  base::testing::Patience patience(std::to_string(n) + " requests to watch", where);
  while (static_cast<int>(watch_requests_.size()) < n) {
    patience.Wait(changed_, mu_, watch_requests_.size());
  }
}

void FakeSource::AwaitLists(int n, const base::testing::Where& where) const {
  base::MutexLock lock(mu_);
  base::testing::Patience patience(std::to_string(n) + " requests to list", where);
  while (static_cast<int>(list_requests_.size()) < n) {
    patience.Wait(changed_, mu_, list_requests_.size());
  }
}

void FakeSource::AwaitCaughtUp(const base::testing::Where& where) const {
  base::MutexLock lock(mu_);
  base::testing::Patience patience("a watch at version " + std::to_string(version_), where);
  while (std::ranges::none_of(
      open_, [version = version_](const auto& each) { return each.second >= version; })) {
    patience.Wait(changed_, mu_, open_);
  }
}

Result<FakeSource::Page> FakeSource::PageLocked(const ListOptions& options) {
  std::uint64_t version = version_;
  std::size_t begin = 0;
  if (options.continue_.empty()) {
    if (ParseVersion(options.resource_version) > version_) {
      return Fail(TooLarge());
    }
    std::vector<Object>& snapshot = snapshots_[version];
    snapshot.clear();
    for (const auto& [key, object] : objects_) {
      snapshot.push_back(object);
    }
  } else {
    const std::size_t colon = options.continue_.find(':');
    version = std::stoull(options.continue_.substr(0, colon));
    begin = std::stoull(options.continue_.substr(colon + 1));
  }
  const auto found = snapshots_.find(version);
  if (found == snapshots_.end()) {
    return Fail(Expired());
  }
  Page page;
  page.meta.resource_version = std::to_string(version);
  const std::size_t end =
      options.limit > 0
          ? std::min(found->second.size(), begin + static_cast<std::size_t>(options.limit))
          : found->second.size();
  if (end < found->second.size()) {
    page.meta.continue_ = std::to_string(version) + ":" + std::to_string(end);
  }
  for (std::size_t i = begin; i < end; ++i) {
    page.objects.push_back(found->second[i]);
  }
  if (!unreadable_.empty() && page.meta.continue_.empty()) {
    page.objects.push_back(UnreadableObject({Reason::kMalformed, unreadable_, 400}));
  }
  return page;
}

Result<void> FakeSource::Hand(const std::vector<Object>& objects, ObjectSink sink,
                              const std::stop_token& stop) {
  int handed = 0;
  for (const Object& object : objects) {
    {
      base::MutexLock lock(mu_);
      if (list_break_ && handed >= list_break_->first) {
        Status status = std::move(list_break_->second);
        list_break_.reset();
        return Fail(std::move(status));
      }
    }
    if (stop.stop_requested()) {
      return Fail(Reason::kCancelled, "stopped");
    }
    KX_RETURN_IF_ERROR(sink(Object(object)));
    ++handed;
  }
  return {};
}

Result<codec::ListMeta> FakeSource::List(const ListOptions& options, ObjectSink sink,
                                         std::stop_token stop) {
  Page page;
  {
    base::MutexLock lock(mu_);
    list_requests_.push_back(options);
    changed_.notify_all();
    if (list_fault_.times > 0) {
      --list_fault_.times;
      return Fail(list_fault_.status);
    }
    KX_ASSIGN_OR_RETURN(page, PageLocked(options));
  }
  KX_RETURN_IF_ERROR(Hand(page.objects, sink, stop));
  return page.meta;
}

Result<std::uint64_t> FakeSource::OpenWatchLocked(const ListOptions& options) {
  watch_requests_.push_back(options);
  changed_.notify_all();
  if (watch_fault_.times > 0) {
    --watch_fault_.times;
    return Fail(watch_fault_.status);
  }
  const bool watch_list = options.send_initial_events.value_or(false);
  if (watch_list && refuse_watch_list_) {
    return Fail(Reason::kInvalid, "sendInitialEvents is forbidden", 422);
  }
  const std::uint64_t version = ParseVersion(options.resource_version);
  if (watch_list && version > version_) {
    return Fail(TooLarge());
  }
  if (!watch_list && version < compacted_) {
    return Fail(Expired());
  }
  return version;
}

// Sends the snapshot first, then the changes that came meanwhile, and then the bookmark that ends
// the initial events.
Result<void> FakeSource::SendInitial(EventSink sink, std::uint64_t& cursor) {
  std::vector<Object> snapshot;
  {
    base::MutexLock lock(mu_);
    cursor = version_;
    for (const auto& [key, object] : objects_) {
      snapshot.push_back(object);
    }
  }
  const auto add = [sink](Object&& object) {
    return sink({.type = WatchEventType::kAdded, .object = std::move(object)});
  };
  KX_RETURN_IF_ERROR(Hand(snapshot, add, {}));
  while (true) {
    std::optional<Event> event;
    {
      base::MutexLock lock(mu_);
      if (cursor < compacted_) {
        return Fail(Expired());
      }
      event = NextEventLocked(cursor);
    }
    if (!event) {
      return sink(BookmarkEvent(cursor, true));
    }
    cursor = event->version;
    KX_RETURN_IF_ERROR(sink({.type = event->type, .object = std::move(event->object)}));
  }
}

std::optional<FakeSource::Event> FakeSource::NextEventLocked(std::uint64_t cursor) const {
  const auto found = std::ranges::upper_bound(history_, cursor, {}, &Event::version);
  return found == history_.end() ? std::nullopt : std::optional(*found);
}

// Returns the next event or bookmark, and nothing when the watch was closed without an error.
Result<std::optional<WatchEvent>> FakeSource::NextLocked(OpenWatch& watch,
                                                         const std::stop_token& stop) {
  open_[watch.id] = watch.cursor;
  changed_.notify_all();
  std::optional<Event> event;
  while (!stop.stop_requested() && watch.drops == drops_ &&
         (watch.bookmarks == bookmarks_ || watch.cursor > version_) && watch.cursor >= compacted_ &&
         !(event = NextEventLocked(watch.cursor))) {
    base::Clock::Real().WaitUntil(mu_, changed_, stop, base::TimePoint::max());
  }
  if (stop.stop_requested()) {
    return Fail(Reason::kCancelled, "stopped");
  }
  if (watch.drops != drops_) {
    return drop_status_ ? Result<std::optional<WatchEvent>>(Fail(*drop_status_)) : std::nullopt;
  }
  if (watch.cursor < compacted_) {
    return Fail(Expired());
  }
  if (!event) {
    watch.bookmarks = bookmarks_;
    return BookmarkEvent(watch.cursor, false);
  }
  watch.cursor = event->version;
  return WatchEvent{.type = event->type, .object = std::move(event->object)};
}

Result<void> FakeSource::Watch(const ListOptions& options, EventSink sink, std::stop_token stop) {
  OpenWatch watch;
  {
    base::MutexLock lock(mu_);
    KX_ASSIGN_OR_RETURN(watch.cursor, OpenWatchLocked(options));
    watch.drops = drops_;
    watch.bookmarks = bookmarks_;
    watch.id = next_watch_++;
  }
  Result<void> result;
  if (options.send_initial_events.value_or(false)) {
    result = SendInitial(sink, watch.cursor);
  }
  while (result) {
    Result<std::optional<WatchEvent>> event;
    {
      base::MutexLock lock(mu_);
      event = NextLocked(watch, stop);
    }
    if (!event) {
      result = Fail(event.error());
    } else if (!*event) {
      break;
    } else {
      result = sink(std::move(**event));
    }
  }
  base::MutexLock lock(mu_);
  open_.erase(watch.id);
  return result;
}

}  // namespace kubexx::cache::testing
