/// @file
/// MergeBuffer: the changes that wait for a handler that is too slow.
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

/// Holds at most one change per object, in the order in which the objects first changed. Each
/// change leads to the object's latest state. It starts from the state that was last taken out of
/// this buffer, or that the handler knew before. Not thread-safe.
class MergeBuffer {
 public:
  /// A change of one object, as a handler gets it.
  struct Change {
    RawEvent::Type type = RawEvent::Type::kAdd;
    EntryRef object{};
    EntryRef old{};  ///< null for an add
    RawEvent::Flags flags{};
  };
  /// `tells_passing`: see HandlerOptions.
  explicit MergeBuffer(bool tells_passing = false) : tells_passing_(tells_passing) {}

  /// Marks the end of the initial list.
  struct Synced {};
  using Item = std::variant<Change, Synced>;

  /// Adds a change. Returns true when a waiting change was merged with it or cancelled by it.
  bool Push(Change change);
  void PushSynced() { items_.emplace_back(Synced{}); }

  bool empty() const { return items_.empty(); }
  std::size_t size() const { return items_.size(); }
  /// Takes out the oldest item. Returns std::nullopt when there is none.
  std::optional<Item> Pop();
  void Clear();

 private:
  bool tells_passing_;
  std::list<Item> items_{};
  std::unordered_map<apimachinery::ObjectKey, std::list<Item>::iterator> waiting_{};
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_INFORMER_MERGE_BUFFER_H_
