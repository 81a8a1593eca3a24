/// @file
/// ReflectorStore: the interface through which a Reflector writes into a store.
#ifndef KUBEXX_CACHE_REFLECTOR_STORE_H_
#define KUBEXX_CACHE_REFLECTOR_STORE_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/object.h"

namespace kubexx::cache {

/// A new full state under construction. It takes the objects one at a time, so the peak memory is
/// the store plus one object. Destroying it without Commit leaves the store as it was.
class Replacement {
 public:
  virtual ~Replacement() = default;
  /// Adds an object; it replaces an object with the same key that was added before.
  virtual apimachinery::Result<void> Add(Object&& object) = 0;
  /// Removes an object that was added before. Needed because a WatchList may report changes before
  /// its initial events have ended.
  virtual apimachinery::Result<void> Delete(const apimachinery::ObjectKey& key) = 0;
  /// Called when the source has an object that could not be read, and that is therefore not added.
  /// By default it returns the error, so that the store keeps its old state instead of an
  /// incomplete one.
  virtual apimachinery::Result<void> Unreadable(const apimachinery::Status& why) {
    return apimachinery::Fail(why);
  }
  /// Makes the added objects the store's whole content in one step, at `resource_version`. The
  /// store forgets earlier calls of Unreadable, except those of this replacement.
  virtual apimachinery::Result<void> Commit(std::string_view resource_version) = 0;
};

/// As client-go's ReflectorStore, with a streamed Replace. A store is called by one Reflector, and
/// only by one of its threads at a time. Calls may block to slow down the source. After an error
/// the Reflector lists again, so that no change is lost.
class ReflectorStore {
 public:
  virtual ~ReflectorStore() = default;
  virtual apimachinery::Result<void> Add(Object&& object) = 0;
  virtual apimachinery::Result<void> Update(Object&& object) = 0;
  /// Called when a change could not be read. A store that returns success lacks the change until
  /// the next full state. It has to tell its readers, because nobody knows which object the change
  /// belonged to. The default returns the error.
  virtual apimachinery::Result<void> Unreadable(const apimachinery::Status& why) {
    return apimachinery::Fail(why);
  }
  /// Deletes an object. `object` is its last state, as the DELETED event carried it.
  virtual apimachinery::Result<void> Delete(Object&& object) = 0;
  /// Announces that further changes have arrived and follow the next one, see WatchEvent::more.
  virtual void MoreFollow() {}
  /// Announces that no further change has arrived. Until this call a store may delay telling its
  /// readers about the changes.
  virtual void Flush() {}
  /// Whether the store takes further changes without blocking. After false, it calls `wake` once
  /// when it does, on any thread. A reflector that runs as a task asks before each step, and until
  /// then neither lists, reads nor resyncs; the store should take what comes of one read, since a
  /// task ought not to wait for another.
  virtual bool HasRoom(const std::function<void()>& /*wake*/) { return true; }
  virtual std::unique_ptr<Replacement> BeginReplace() = 0;
  /// Announces that the source has sent every change up to `resource_version`.
  virtual void Bookmark(std::string_view resource_version) = 0;
  /// Delivers every object again as an update without change.
  virtual apimachinery::Result<void> Resync() = 0;
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_REFLECTOR_STORE_H_
