#include "kubexx/apiserver/cacher/beginning.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace kubexx::apiserver {
namespace {

/// Whether the text of the object's key, as ObjectKey::ToString makes it, comes before `text`. It
/// is not made, because a beginning compares many.
bool KeyIsBefore(const CachedObjectRef& object, std::string_view text) {
  const apimachinery::ObjectKey& key = object->key;
  if (key.namespace_.empty()) {
    return key.name < text;
  }
  const std::size_t size = key.namespace_.size();
  if (const int order = text.substr(0, size).compare(key.namespace_); order != 0) {
    return order > 0;
  }
  if (text.size() <= size || text[size] != '/') {
    return text.size() > size && static_cast<unsigned char>(text[size]) > '/';
  }
  return key.name < text.substr(size + 1);
}

/// So many objects, or this part of the state's (one of so many), are few.
constexpr std::size_t kFew = 64;
constexpr std::size_t kFewOf = 32;

}  // namespace

std::shared_ptr<const ObjectsAtATime> StateOf(std::vector<CachedObjectRef>&& objects,
                                              const ObjectsAtATime& now) {
  auto made = std::make_shared<ObjectsAtATime>(now);
  made->objects = std::move(objects);
  made->bytes = made->objects.size() * sizeof(CachedObjectRef);
  for (const CachedObjectRef& object : made->objects) {
    made->bytes += object->text.size();
  }
  return made;
}

Beginning::Beginning(std::shared_ptr<const ObjectsAtATime> base,
                     const std::vector<CacheEvent>& changes, const Selection& selection,
                     const ObjectsAtATime& now)
    : base_(std::move(base)) {
  std::map<std::string, CachedObjectRef> newest;  // null when it was deleted
  for (const CacheEvent& change : changes) {
    newest[change.object->key.ToString()] =
        change.type == codec::WatchEventType::kDeleted ? nullptr : change.object;
  }
  const std::vector<CachedObjectRef>& objects = base_->objects;
  left_ = objects.size();
  if (!newest.empty() || !selection.all()) {
    left_out_.resize(objects.size());
  }
  if (!selection.all()) {
    for (std::size_t i = 0; i < objects.size(); ++i) {
      left_out_[i] = !selection.Matches(objects[i]->key, objects[i]->attributes);
      left_ -= left_out_[i] ? 1U : 0U;
    }
  }
  // There are few of them, so each is looked for in the base, and not each of the base in them.
  std::vector<CachedObjectRef> changed;  // in the order of the storage keys
  for (auto& [key, object] : newest) {
    const auto place =
        std::lower_bound(objects.begin(), objects.end(), std::string_view(key), KeyIsBefore);
    const auto before = static_cast<std::size_t>(place - objects.begin());
    if (place != objects.end() && (*place)->key.ToString() == key && !left_out_[before]) {
      left_out_[before] = true;
      --left_;
    }
    if (object != nullptr && selection.Matches(object->key, object->attributes)) {
      changed.push_back(std::move(object));
      before_.push_back(before);
    }
  }
  left_ += changed.size();
  if (left_ == 0) {
    *this = Beginning();
    return;
  }
  if (!changed.empty()) {
    own_ = StateOf(std::move(changed), now);
  }
  if (!selection.all() && left_ <= std::max(kFew, objects.size() / kFewOf)) {
    LeaveBase(now);
  }
  const std::size_t own = own_ == nullptr ? 0 : own_->objects.size() * sizeof(CachedObjectRef);
  bytes_ = left_out_.size() / 8 + before_.size() * sizeof(std::size_t) + own;
}

void Beginning::LeaveBase(const ObjectsAtATime& now) {
  std::vector<CachedObjectRef> selected;
  selected.reserve(left_);
  while (left_ > 0) {
    selected.push_back(Next());
  }
  left_ = selected.size();
  own_ = StateOf(std::move(selected), now);
}

void Beginning::SkipLeftOut() {
  while (at_ < left_out_.size() && left_out_[at_]) {
    ++at_;
  }
}

CachedObjectRef Beginning::Next() {
  SkipLeftOut();
  const bool from_base = base_ != nullptr && at_ < base_->objects.size() &&
                         (at_own_ == before_.size() || at_ < before_[at_own_]);
  CachedObjectRef next = from_base ? base_->objects[at_++] : own_->objects[at_own_++];
  if (--left_ == 0) {
    *this = Beginning();
  }
  return next;
}

}  // namespace kubexx::apiserver
