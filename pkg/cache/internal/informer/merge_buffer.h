/// @file
/// Changes that wait for a handler that cannot keep up.
#ifndef KUBEXX_CACHE_INTERNAL_INFORMER_MERGE_BUFFER_H_
#define KUBEXX_CACHE_INTERNAL_INFORMER_MERGE_BUFFER_H_

#include <cstddef>
#include <list>
#include <optional>
#include <unordered_map>
#include <variant>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/cache/informer_event.h"
#include "kubexx/cache/internal/packed/entry.h"

namespace kubexx::cache {

/// At most one change an object, in the order in which the objects first changed. Each goes from
/// the state that was last taken out of here, or that was known before, to the latest. Not
/// thread-safe.
class MergeBuffer {
 public:
  /// What a handler is told of one object.
  struct Change {
    RawEvent::Type type = RawEvent::Type::kAdd;
    EntryRef object{};
    EntryRef old{};  ///< none for an add
    RawEvent::Flags flags{};
  };
  /// `tells_passing`: see HandlerOptions.
  explicit MergeBuffer(bool tells_passing = false) : tells_passing_(tells_passing) {}

  /// The end of the initial list.
  struct Synced {};
  using Item = std::variant<Change, Synced>;

  /// True when it became one with a change that waits, or undid it.
  bool Push(Change change);
  void PushSynced() { items_.emplace_back(Synced{}); }

  bool empty() const { return items_.empty(); }
  std::size_t size() const { return items_.size(); }
  /// The oldest item; nothing when there is none.
  std::optional<Item> Pop();
  void Clear();

 private:
  bool tells_passing_;
  std::list<Item> items_{};
  std::unordered_map<apimachinery::ObjectKey, std::list<Item>::iterator> waiting_{};
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_INFORMER_MERGE_BUFFER_H_
