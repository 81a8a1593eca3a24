/// @file
/// Waiting for something to become true of objects; as client-go's `tools/watch`.
#ifndef KUBEXX_CACHE_UNTIL_H_
#define KUBEXX_CACHE_UNTIL_H_

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
#include "kubexx/cache/shared_informer_base.h"
#include "kubexx/cache/typed_object.h"

namespace kubexx::cache {

/// Settings of a wait.
struct UntilOptions {
  base::Clock& clock = base::Clock::Real();
  /// The wait ends with kTimeout after this long; zero means never.
  base::Duration timeout{0};
};

/// Watches from `options.resource_version` on, and again from the last version seen whenever the
/// watch ends, at most once a second and after the server's Retry-After, so that no event is missed
/// or told twice. Bookmarks move the version and are not passed on. Returns an error of `sink`,
/// kCancelled when `stop` was requested, 401 and 403, and 410 in either form: from there on only a
/// list helps (client-go's RetryWatcher tries for ever when a watch cannot be opened for it).
/// kMalformed for an event that cannot be read: it may be an awaited one, and would come again.
/// kInvalid when the version is "" or "0", from which a watch cannot be resumed.
apimachinery::Result<void> RetryWatch(ListerWatcher& source, apimachinery::ListOptions options,
                                      ListerWatcher::EventSink sink, const std::stop_token& stop,
                                      base::Clock& clock = base::Clock::Real());

/// True when an event is the awaited one; an error ends the wait.
using WatchCondition = std::function<apimachinery::Result<bool>(const WatchEvent&)>;

/// Waits until the conditions have become true, one after the other, each of a later event than the
/// one before; returns the last event. Begins after `resource_version`, as RetryWatch, whose errors
/// it returns; kTimeout when it takes too long.
apimachinery::Result<WatchEvent> Until(ListerWatcher& source, std::string resource_version,
                                       std::vector<WatchCondition> conditions,
                                       const std::stop_token& stop, UntilOptions options = {});

/// Asked once all objects are known; true ends the wait.
using Precondition = std::function<apimachinery::Result<bool>(const SharedInformerBase&)>;

/// Waits with an informer, which survives everything that an informer does, 410 included. First for
/// its sync, then `precondition` (when set) is asked; when it is false, the conditions see an ADDED
/// event for each object that there is, and then every change. They may see the first of these
/// before the precondition is asked, which it is not any more when they are all true by then, or
/// one has failed; the two never run at the same time. Returns the event that made the last
/// condition true; nothing when the precondition was true. kTimeout or kCancelled, with why there
/// is no first list where that is missing; or the error of a condition. Blocks; conditions run on a
/// thread of the informer's.
apimachinery::Result<std::optional<WatchEvent>> UntilWithSync(
    std::shared_ptr<ListerWatcher> source, Precondition precondition,
    std::vector<WatchCondition> conditions, const std::stop_token& stop, UntilOptions options = {});

/// Waits until `done` of the object at `key`, which is null while there is none, and returns that
/// object, or nothing. As kube-rs' await_condition. `source` may be narrowed to the one object with
/// a field selector. Errors as UntilWithSync, and kMalformed when the object does not decode, or
/// may be one that the first list has and that cannot be read.
template <class T>
apimachinery::Result<std::optional<T>> WaitFor(std::shared_ptr<ListerWatcher> source,
                                               const apimachinery::ObjectKey& key,
                                               std::function<bool(const T*)> done,
                                               const std::stop_token& stop,
                                               UntilOptions options = {}) {
  std::optional<T> last;
  const auto precondition = [&](const SharedInformerBase& informer) -> apimachinery::Result<bool> {
    const auto raw = informer.GetRaw(key);
    if (!raw) {
      if (raw.error().reason != apimachinery::Reason::kNotFound) {
        return apimachinery::Fail(raw.error());  // it may be there
      }
      last.reset();
      return done(nullptr);
    }
    KX_ASSIGN_OR_RETURN(last, DecodeObject<T>(*raw));
    return done(&*last);
  };
  const auto condition = [&](const WatchEvent& event) -> apimachinery::Result<bool> {
    if (event.object.key != key) {
      return false;
    }
    if (event.type == codec::WatchEventType::kDeleted) {
      last.reset();
      return done(nullptr);
    }
    KX_ASSIGN_OR_RETURN(last, DecodeObject<T>(event.object));
    return done(&*last);
  };
  KX_RETURN_IF_ERROR(UntilWithSync(std::move(source), precondition, {condition}, stop, options));
  return last;
}

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_UNTIL_H_
