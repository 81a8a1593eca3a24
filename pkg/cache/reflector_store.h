/// @file
/// Where a Reflector puts what it sees.
#ifndef KUBEXX_CACHE_REFLECTOR_STORE_H_
#define KUBEXX_CACHE_REFLECTOR_STORE_H_

#include <memory>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/object.h"

namespace kubexx::cache {

/// A new full state under construction. Objects are taken one at a time, so the peak is the store
/// plus one object. Destroying it without Commit leaves the store as it was.
class Replacement {
 public:
  virtual ~Replacement() = default;
  /// Takes an object; one with the same key replaces what was added before.
  virtual apimachinery::Result<void> Add(Object&& object) = 0;
  /// Takes an object out again: a WatchList may report changes before its initial events have
  /// ended.
  virtual apimachinery::Result<void> Delete(const apimachinery::ObjectKey& key) = 0;
  /// The source has something that could not be read, and so is not added. An error, as long as a
  /// store does not say otherwise: then the old state stays, and not one that lacks something.
  virtual apimachinery::Result<void> Unreadable(const apimachinery::Status& why) {
    return apimachinery::Fail(why);
  }
  /// Makes the objects added the store's whole content in one step, at `resource_version`. What
  /// could not be read until then counts no longer, but for what this replacement was told of.
  virtual apimachinery::Result<void> Commit(std::string_view resource_version) = 0;
};

/// As client-go's ReflectorStore, with a streamed Replace. Called by one Reflector and by one of
/// its threads at a time; calls may block to hold the source back. An error makes the Reflector
/// list again rather than go on past a gap.
class ReflectorStore {
 public:
  virtual ~ReflectorStore() = default;
  virtual apimachinery::Result<void> Add(Object&& object) = 0;
  virtual apimachinery::Result<void> Update(Object&& object) = 0;
  /// A change could not be read. A store that goes on lacks it until the next full state, and has
  /// to tell its readers, since nobody knows whom it concerned; others leave it an error.
  virtual apimachinery::Result<void> Unreadable(const apimachinery::Status& why) {
    return apimachinery::Fail(why);
  }
  /// `object` is the last state, as the DELETED event carried it.
  virtual apimachinery::Result<void> Delete(Object&& object) = 0;
  /// The change that is given next is not the last that is there, see WatchEvent::more.
  virtual void MoreFollow() {}
  /// No other change is there to follow those made so far: until now a store may have kept from
  /// its readers that they were made.
  virtual void Flush() {}
  virtual std::unique_ptr<Replacement> BeginReplace() = 0;
  /// The source has nothing older than `resource_version` left to send.
  virtual void Bookmark(std::string_view resource_version) = 0;
  /// Delivers every object again as an update without change.
  virtual apimachinery::Result<void> Resync() = 0;
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_REFLECTOR_STORE_H_
