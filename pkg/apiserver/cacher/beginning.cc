#include "kubexx/apiserver/cacher/beginning.h"

#include <map>
#include <string>
#include <utility>

namespace kubexx::apiserver {

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
    for (std::size_t i = 0; i < objects.size(); ++i) {
      const CachedObject& object = *objects[i];
      left_out_[i] = (!newest.empty() && newest.contains(object.key.ToString())) ||
                     !selection.Matches(object.key, object.attributes);
      left_ -= left_out_[i] ? 1U : 0U;
    }
  }
  for (auto& [key, object] : newest) {
    if (object != nullptr && selection.Matches(object->key, object->attributes)) {
      changed_.push_back(std::move(object));
    }
  }
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
                         (at_changed_ == changed_.size() ||
                          objects[at_]->key.ToString() < changed_[at_changed_]->key.ToString());
  CachedObjectRef next = from_base ? objects[at_++] : std::move(changed_[at_changed_++]);
  if (--left_ == 0) {
    *this = Beginning();
  }
  return next;
}

}  // namespace kubexx::apiserver
