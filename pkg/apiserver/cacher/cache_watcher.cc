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
    : type_(std::move(type)), options_(std::move(options)) {}

void CacheWatcher::PushFirst(SelectedEvent event) {
  base::MutexLock lock(mu_);
  items_.push_back({.type = event.type,
                    .object = std::move(event.object),
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
    items_.clear();
    ended_ = true;
    if (wake_) {
      wake_();
    }
    return;
  }
  AddLocked({.frame = std::move(frame)});
}

void CacheWatcher::PushBookmark(std::int64_t revision, bool initial_end) {
  base::MutexLock lock(mu_);
  if (!ended_ && (initial_end || items_.empty())) {
    AddLocked(
        {.type = WatchEventType::kBookmark, .json = BookmarkJson(*type_, revision, initial_end)});
  }
}

void CacheWatcher::PushError(std::string status_json) {
  base::MutexLock lock(mu_);
  ended_ = true;
  AddLocked({.type = WatchEventType::kError, .json = std::move(status_json)});
}

void CacheWatcher::End() {
  base::MutexLock lock(mu_);
  ended_ = true;
  if (wake_) {
    wake_();
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
    while (!items_.empty() && bytes < kMaxTakenBytes && taken.size() < kMaxTakenFrames) {
      Item& item = items_.front();
      if (item.frame != nullptr) {
        bytes += item.frame->size();
        waiting_bytes_ -= item.frame->size();
        --waiting_frames_;
      } else {
        bytes += item.object == nullptr ? item.json.size() : item.object->text.size();
      }
      taken.push_back(std::move(item));
      items_.pop_front();
    }
    more = !ended_ || !items_.empty();
  }
  for (Item& item : taken) {
    Chunk frame = item.frame != nullptr ? std::move(item.frame) : Encode(item);
    if (frame == nullptr) {
      return false;
    }
    chunks.push_back(std::move(frame));
  }
  return more;
}

http::BodyStream::Chunk CacheWatcher::Encode(const Item& item) const {
  auto frame =
      FormatOf(item.first)
          .Frame(item.type, *type_, item.object == nullptr ? item.json : item.object->Json());
  return frame ? std::make_shared<const std::string>(std::move(*frame)) : nullptr;
}

void CacheWatcher::Closed() {
  base::MutexLock lock(mu_);
  closed_ = true;
  ended_ = true;
  wake_ = nullptr;
  items_.clear();
}

}  // namespace kubexx::apiserver
