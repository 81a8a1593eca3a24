#include "kubexx/apiserver/cacher/cache_watcher.h"

#include <utility>

namespace kubexx::apiserver {
namespace {

using codec::WatchEventType;

/// The number of bytes that one Take returns at most, so that a large state is not held in memory
/// as frames.
constexpr std::size_t kMaxTakenBytes = 256 << 10;
constexpr std::size_t kMaxTakenFrames = 256;

std::string BookmarkJson(const ResourceType& type, std::int64_t revision, bool initial_end) {
  return R"({"kind":")" + type.kind + R"(","apiVersion":")" + type.ApiVersion() +
         R"(","metadata":{"resourceVersion":")" + std::to_string(revision) + "\"" +
         (initial_end ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "") + "}}";
}

}  // namespace

CacheWatcher::CacheWatcher(ResourceTypeRef type, WatcherOptions options)
    : type_(std::move(type)),
      lease_(std::exchange(options.lease, nullptr)),
      options_(std::move(options)) {}

void CacheWatcher::BeginWith(Beginning beginning) {
  base::MutexLock lock(mu_);
  beginning_ = std::move(beginning);
  waiting_bytes_ += beginning_.bytes();
  begun_ = at_first_ = beginning_.left() > 0;
}

void CacheWatcher::PushFirst(SelectedEvent event) {
  base::MutexLock lock(mu_);
  items_.push_back({.object = std::move(event.object),
                    .type = event.type,
                    .first = !std::exchange(begun_, true)});
}

const FrameFormat& CacheWatcher::NextFormat() const {
  base::MutexLock lock(mu_);
  return FormatOf(!begun_);
}

const FrameFormat& CacheWatcher::FormatOf(bool first) const {
  return first && options_.first_format != nullptr ? *options_.first_format : *options_.format;
}

void CacheWatcher::Push(Chunk frame) {
  base::MutexLock lock(mu_);
  if (ended_) {
    return;
  }
  waiting_bytes_ += frame->size();
  ++waiting_frames_;
  if (waiting_bytes_ > options_.max_waiting_bytes ||
      waiting_frames_ > options_.max_waiting_frames) {
    BreakOffLocked();
    return;
  }
  AddLocked({.frame = std::move(frame), .encoded = true});
}

void CacheWatcher::PushBookmark(std::int64_t revision, bool initial_end) {
  base::MutexLock lock(mu_);
  if (!ended_ && (initial_end || !WaitsLocked())) {
    AddLocked(
        {.frame = std::make_shared<const std::string>(BookmarkJson(*type_, revision, initial_end)),
         .type = WatchEventType::kBookmark});
  }
}

void CacheWatcher::PushError(std::string status_json) {
  base::MutexLock lock(mu_);
  ended_ = true;
  AddLocked({.frame = std::make_shared<const std::string>(std::move(status_json)),
             .type = WatchEventType::kError});
}

void CacheWatcher::End() {
  base::MutexLock lock(mu_);
  ended_ = true;
  if (wake_) {
    wake_();
  }
}

void CacheWatcher::EndIfBegun(std::uint64_t replaced) {
  base::MutexLock lock(mu_);
  if (beginning_.left() > 0 && beginning_.replaced() <= replaced) {
    BreakOffLocked();
  }
}

bool CacheWatcher::closed() const { return closed_; }

void CacheWatcher::AddLocked(Item item) {
  item.first = !std::exchange(begun_, true);
  items_.push_back(std::move(item));
  if (wake_) {
    wake_();
  }
}

void CacheWatcher::Start(std::function<void()> wake) {
  base::MutexLock lock(mu_);
  wake_ = std::move(wake);
}

bool CacheWatcher::Take(std::vector<Chunk>& chunks) {
  std::vector<Item> taken;
  bool more = true;
  {
    base::MutexLock lock(mu_);
    std::size_t bytes = 0;
    while (WaitsLocked() && bytes < kMaxTakenBytes && taken.size() < kMaxTakenFrames) {
      Item item = NextLocked();
      bytes += item.frame != nullptr ? item.frame->size() : item.object->text.size();
      taken.push_back(std::move(item));
    }
    more = !ended_ || WaitsLocked();
  }
  for (Item& item : taken) {
    Chunk frame = item.encoded ? std::move(item.frame) : Encode(item);
    if (frame == nullptr) {
      return false;
    }
    chunks.push_back(std::move(frame));
  }
  return more;
}

CacheWatcher::Item CacheWatcher::NextLocked() {
  if (beginning_.left() > 0) {
    const std::size_t had = beginning_.bytes();
    CachedObjectRef next = beginning_.Next();
    waiting_bytes_ -= had - beginning_.bytes();
    return {.object = std::move(next), .first = std::exchange(at_first_, false)};
  }
  Item item = std::move(items_.front());
  items_.pop_front();
  if (item.encoded) {
    waiting_bytes_ -= item.frame->size();
    --waiting_frames_;
  }
  return item;
}

void CacheWatcher::ForgetLocked() {
  beginning_ = Beginning();
  items_.clear();
}

void CacheWatcher::BreakOffLocked() {
  ForgetLocked();
  ended_ = true;
  if (wake_) {
    wake_();
  }
}

http::BodyStream::Chunk CacheWatcher::Encode(const Item& item) const {
  auto frame =
      FormatOf(item.first)
          .Frame(item.type, *type_, item.object == nullptr ? *item.frame : item.object->Json());
  return frame ? std::make_shared<const std::string>(std::move(*frame)) : nullptr;
}

void CacheWatcher::Closed() {
  std::shared_ptr<const void> lease;  // ends without the lock
  base::MutexLock lock(mu_);
  lease.swap(lease_);
  closed_ = true;
  ended_ = true;
  wake_ = nullptr;
  ForgetLocked();
}

}  // namespace kubexx::apiserver
