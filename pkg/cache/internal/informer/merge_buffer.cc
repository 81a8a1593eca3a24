#include "kubexx/cache/internal/informer/merge_buffer.h"

#include <iterator>
#include <utility>

namespace kubexx::cache {

using Type = RawEvent::Type;

bool MergeBuffer::Push(Change change) {
  const apimachinery::ObjectKey key = change.object->key();
  const auto found = waiting_.find(key);
  if (found == waiting_.end()) {
    items_.emplace_back(std::move(change));
    waiting_.emplace(key, std::prev(items_.end()));
    return false;
  }
  Change& waits = std::get<Change>(*found->second);
  if (change.type == Type::kUpdate && change.object == change.old) {
    return true;  // the handler will be told of the object anyway, so it needs no resync
  }
  if (waits.type == Type::kAdd && change.type == Type::kDelete && tells_passing_) {
    change.flags.is_single_change = false;
    waits = std::move(change);
    return true;
  }
  if (waits.type == Type::kAdd && change.type == Type::kDelete) {
    items_.erase(found->second);
    waiting_.erase(found);
    return true;
  }
  if (waits.type == Type::kDelete && !waits.old) {
    waits.old = waits.object;
  }
  if (waits.type != Type::kAdd) {
    // An object that was deleted and created again appears as an update of the object that the
    // handler knows.
    waits.type = change.type == Type::kDelete ? Type::kDelete : Type::kUpdate;
    waits.flags = change.flags;
  }
  waits.flags.is_single_change = false;
  waits.object = std::move(change.object);
  return true;
}

std::optional<MergeBuffer::Item> MergeBuffer::Pop() {
  if (items_.empty()) {
    return std::nullopt;
  }
  std::optional<Item> item(std::move(items_.front()));
  items_.pop_front();
  if (const auto* change = std::get_if<Change>(&*item)) {
    waiting_.erase(change->object->key());
  }
  return item;
}

void MergeBuffer::Clear() {
  waiting_.clear();
  items_.clear();
}

}  // namespace kubexx::cache
