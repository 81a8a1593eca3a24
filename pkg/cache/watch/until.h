/// @file
/// Functions that wait until a condition of objects becomes true; as client-go's `tools/watch`.
#ifndef KUBEXX_CACHE_WATCH_UNTIL_H_
#define KUBEXX_CACHE_WATCH_UNTIL_H_

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/list_options.h"
#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/cache/lister_watcher.h"
#include "kubexx/cache/typed_object.h"

namespace kubexx::cache {

class SharedInformerBase;

/// Settings of a wait.
struct UntilOptions {
  base::Clock& clock = base::Clock::Real();
  /// The wait ends with kTimeout after this long; zero means never.
  base::Duration timeout{0};
};

/// Watches from `options.resource_version` on. Whenever the watch ends, it watches again from the
/// last version seen, at most once a second and after the server's Retry-After, so that no event is
/// missed or passed twice. It uses bookmarks to update the version and does not pass them on.
/// Returns an error of `sink`; kCancelled when `stop` was requested; 401 and 403; and 410, either
/// as an answer or as an event, because then only a list helps. (client-go's RetryWatcher tries for
/// ever when the server answers a watch request with 410.) kMalformed for an event that cannot be
/// read, because the caller may be waiting for it, and a new watch would send it again. kInvalid
/// when the version is "" or "0", from which a watch cannot be resumed.
apimachinery::Result<void> RetryWatch(ListerWatcher& source, apimachinery::ListOptions options,
                                      ListerWatcher::EventSink sink, const std::stop_token& stop,
                                      base::Clock& clock = base::Clock::Real());

/// Returns true for the event that the caller waits for; an error ends the wait.
using WatchCondition = std::function<apimachinery::Result<bool>(const WatchEvent&)>;

/// Waits until the conditions have become true one after the other, each for a later event than the
/// one before, and returns the last event. Starts after `resource_version`, as RetryWatch, whose
/// errors it returns; kTimeout when it takes too long.
apimachinery::Result<WatchEvent> Until(ListerWatcher& source, std::string resource_version,
                                       std::vector<WatchCondition> conditions,
                                       const std::stop_token& stop, UntilOptions options = {});

/// Called when all objects are known; returning true ends the wait.
using Precondition = std::function<apimachinery::Result<bool>(const SharedInformerBase&)>;

/// Waits with an informer, which recovers from all errors that an informer recovers from, including
/// 410. It waits for the informer's sync and then calls `precondition`, if set. While that has not
/// returned true, the conditions get an ADDED event for each existing object, and then every
/// change. They may get the first of these events before `precondition` is called, but the two
/// never run at the same time. If all conditions are true by then, or one has failed,
/// `precondition` is not called. Returns the event that made the last condition true, or
/// std::nullopt when the precondition was true. Errors: kTimeout or kCancelled, whose
/// message says why there is no first list when that is what was missing, or the error of a
/// condition. Blocks; conditions run on a thread of the informer.
apimachinery::Result<std::optional<WatchEvent>> UntilWithSync(
    std::shared_ptr<ListerWatcher> source, Precondition precondition,
    std::vector<WatchCondition> conditions, const std::stop_token& stop, UntilOptions options = {});

/// As WaitFor, for an object of any type: `done` gets it undecoded, and an error of `done` ends the
/// wait.
apimachinery::Result<void> WaitForRaw(
    std::shared_ptr<ListerWatcher> source, const apimachinery::ObjectKey& key,
    const std::function<apimachinery::Result<bool>(const Object*)>& done,
    const std::stop_token& stop, UntilOptions options = {});

/// Waits until `done` returns true for the object at `key`, and returns that object, or
/// std::nullopt when there is none. `done` gets null while there is no object. As kube-rs'
/// await_condition. The caller may narrow `source` to the one object with a field selector. Errors
/// are those of UntilWithSync, and kMalformed when the object cannot be decoded, or when the first
/// list has an object that cannot be read and that may be the one at `key`.
template <class T>
apimachinery::Result<std::optional<T>> WaitFor(std::shared_ptr<ListerWatcher> source,
                                               const apimachinery::ObjectKey& key,
                                               std::function<bool(const T*)> done,
                                               const std::stop_token& stop,
                                               UntilOptions options = {}) {
  std::optional<T> last;
  const auto look = [&](const Object* raw) -> apimachinery::Result<bool> {
    if (raw == nullptr) {
      last.reset();
      return done(nullptr);
    }
    KX_ASSIGN_OR_RETURN(last, DecodeObject<T>(*raw));
    return done(&*last);
  };
  KX_RETURN_IF_ERROR(WaitForRaw(std::move(source), key, look, stop, options));
  return last;
}

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_WATCH_UNTIL_H_
