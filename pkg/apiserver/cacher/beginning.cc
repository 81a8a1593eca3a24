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

}  // namespace

Beginning::Beginning(std::shared_ptr<const ObjectsAtATime> base,
                     const std::vector<CacheEvent>& changes, const Selection& selection)
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
  for (auto& [key, object] : newest) {
    const auto place =
        std::lower_bound(objects.begin(), objects.end(), std::string_view(key), KeyIsBefore);
    const auto before = static_cast<std::size_t>(place - objects.begin());
    if (place != objects.end() && (*place)->key.ToString() == key && !left_out_[before]) {
      left_out_[before] = true;
      --left_;
    }
    if (object != nullptr && selection.Matches(object->key, object->attributes)) {
      Changed& changed = changed_.emplace_back();
      changed.object = std::move(object);
      changed.before = before;
    }
  }
  bytes_ = left_out_.size() / 8 + changed_.size() * sizeof(Changed);
  left_ += changed_.size();
  if (left_ == 0) {
    *this = Beginning();
  }
}

void Beginning::SkipLeftOut() {
  while (at_ < left_out_.size() && left_out_[at_]) {
    ++at_;
  }
}

CachedObjectRef Beginning::Next() {
  SkipLeftOut();
  const std::vector<CachedObjectRef>& objects = base_->objects;
  const bool from_base = at_ < objects.size() &&
                         (at_changed_ == changed_.size() || at_ < changed_[at_changed_].before);
  CachedObjectRef next = from_base ? objects[at_++] : std::move(changed_[at_changed_++].object);
  if (--left_ == 0) {
    *this = Beginning();
  }
  return next;
}

}  // namespace kubexx::apiserver
