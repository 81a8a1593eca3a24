#include "kubexx/cache/watch/until.h"

#include <algorithm>
#include <chrono>
#include <exception>

#include "kubexx/base/function_ref.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/stop_timer.h"
#include "kubexx/cache/internal/reflector/retry_after.h"
#include "kubexx/cache/shared_informer_base.h"

namespace kubexx::cache {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using codec::WatchEventType;

namespace {

constexpr base::Duration kBetweenWatches = std::chrono::seconds(1);

bool EndsRetryWatch(const Status& status) {
  return apimachinery::IsExpired(status) || status.reason == Reason::kUnauthorized ||
         status.reason == Reason::kForbidden;
}

/// The conditions of a call, which have to become true one after the other.
class Conditions {
 public:
  explicit Conditions(std::vector<WatchCondition> conditions)
      : conditions_(std::move(conditions)) {}

  bool all_met() const { return next_ == conditions_.size(); }
  /// Returns true when the event met the last condition.
  Result<bool> See(const WatchEvent& event) {
    if (all_met()) {
      return true;
    }
    try {
      KX_ASSIGN_OR_RETURN(const bool met, conditions_[next_](event));
      next_ += met ? 1 : 0;
    } catch (const std::exception& e) {
      return Fail(Reason::kInternalError, std::string("a condition threw: ") + e.what());
    } catch (...) {
      return Fail(Reason::kInternalError, "a condition threw");
    }
    return all_met();
  }

 private:
  const std::vector<WatchCondition> conditions_;
  std::size_t next_ = 0;
};

Status EndOf(const base::StopTimer& timer) {
  return timer.expired() ? Status(Reason::kTimeout, "timed out waiting for a condition")
                         : Status(Reason::kCancelled, "stopped waiting for a condition");
}

WatchEvent ToWatchEvent(const RawEvent& event) {
  const WatchEventType type = event.type == RawEvent::Type::kAdd      ? WatchEventType::kAdded
                              : event.type == RawEvent::Type::kUpdate ? WatchEventType::kModified
                                                                      : WatchEventType::kDeleted;
  return {.type = type, .object = event.object()};
}

/// Passes the result of an informer's handler to a thread that waits for it.
class Outcome {
 public:
  explicit Outcome(std::vector<WatchCondition> conditions) : conditions_(std::move(conditions)) {}

  void See(const RawEvent& raw) {
    WatchEvent event = ToWatchEvent(raw);
    {
      base::MutexLock lock(mu_);
      if (result_) {
        return;
      }
    }
    const Result<bool> met = Ask(event);
    if (met && !*met) {
      return;
    }
    base::MutexLock lock(mu_);
    result_ = met ? Result<WatchEvent>(std::move(event)) : Result<WatchEvent>(Fail(met.error()));
    changed_.notify_all();
  }

  /// Calls `ask`, which is the user's code, while no condition is being checked, because they may
  /// share variables. After `ask` has returned true, no condition is checked any more, so that the
  /// variables stay as the user's code has set them. When the conditions have already been met or
  /// have failed, `ask` is not called, and the answer is false.
  Result<bool> AskFirst(base::FunctionRef<Result<bool>()> ask) {
    const base::MutexLock lock(asking_);
    if (over_) {
      return false;
    }
    auto met = ask();
    over_ = met && *met;
    return met;
  }

  /// Returns nothing when `stop` was requested first.
  std::optional<Result<WatchEvent>> Await(base::Clock& clock, const std::stop_token& stop) {
    base::MutexLock lock(mu_);
    while (!result_ && !stop.stop_requested()) {
      clock.WaitUntil(mu_, changed_, stop, base::TimePoint::max());
    }
    return result_;
  }

 private:
  Result<bool> Ask(const WatchEvent& event) {
    const base::MutexLock lock(asking_);
    if (over_) {
      return false;
    }
    auto met = conditions_.See(event);
    over_ = !met || *met;
    return met;
  }

  base::Mutex asking_;  // is held while the user's code runs, and is locked before mu_
  Conditions conditions_ KX_GUARDED_BY(asking_);
  bool over_ KX_GUARDED_BY(asking_) = false;
  base::Mutex mu_;
  base::CondVar changed_;
  std::optional<Result<WatchEvent>> result_ KX_GUARDED_BY(mu_);
};

}  // namespace

Result<void> RetryWatch(ListerWatcher& source, apimachinery::ListOptions options,
                        ListerWatcher::EventSink sink, const std::stop_token& stop,
                        base::Clock& clock) {
  if (options.resource_version.empty() || options.resource_version == "0") {
    return Fail(Reason::kInvalid,
                "a watch that is to be resumed must begin at a version, not at \"" +
                    options.resource_version + "\"; list first");
  }
  options.allow_watch_bookmarks = true;
  while (true) {
    bool ends = false;
    std::string last = options.resource_version;
    const base::TimePoint began = clock.Now();
    const auto result = source.Watch(
        options,
        [&](WatchEvent&& event) -> Result<void> {
          if (event.object.unreadable) {
            // This event may be the one that the caller waits for, and the server sends it again
            // however often the watch begins.
            ends = true;
            return Fail(event.object.unreadable->WithContext(
                "the watch after resourceVersion " + last + " has an event that cannot be read"));
          }
          std::string version = event.object.resource_version;
          if (event.type != WatchEventType::kBookmark) {
            auto taken = sink(std::move(event));
            ends = !taken;
            KX_RETURN_IF_ERROR(std::move(taken));
          }
          if (!version.empty()) {
            last = std::move(version);
          }
          return {};
        },
        stop);
    options.resource_version = std::move(last);
    if (stop.stop_requested()) {
      return Fail(Reason::kCancelled, "the watch was stopped");
    }
    if (!result && (ends || EndsRetryWatch(result.error()))) {
      return result;
    }
    base::Duration pause = kBetweenWatches - (clock.Now() - began);
    if (!result) {
      pause =
          std::max<base::Duration>({pause, kBetweenWatches, internal::RetryAfter(result.error())});
    }
    if (pause > base::Duration::zero() && !clock.SleepFor(pause, stop)) {
      return Fail(Reason::kCancelled, "the watch was stopped");
    }
  }
}

Result<WatchEvent> Until(ListerWatcher& source, std::string resource_version,
                         std::vector<WatchCondition> conditions, const std::stop_token& stop,
                         UntilOptions options) {
  const base::StopTimer timer(options.clock, stop, options.timeout);
  Conditions awaited(std::move(conditions));
  std::optional<WatchEvent> found;
  const auto result = RetryWatch(
      source, {.resource_version = std::move(resource_version)},
      [&](WatchEvent&& event) -> Result<void> {
        KX_ASSIGN_OR_RETURN(const bool done, awaited.See(event));
        if (done) {
          found = std::move(event);
          return Fail(Reason::kCancelled, "found");
        }
        return {};
      },
      timer.token(), options.clock);
  if (found) {
    return std::move(*found);
  }
  return Fail(timer.token().stop_requested() ? EndOf(timer) : result.error());
}

Result<std::optional<WatchEvent>> UntilWithSync(std::shared_ptr<ListerWatcher> source,
                                                Precondition precondition,
                                                std::vector<WatchCondition> conditions,
                                                const std::stop_token& stop, UntilOptions options) {
  const base::StopTimer timer(options.clock, stop, options.timeout);
  Outcome outcome(std::move(conditions));
  SharedInformerBase informer(std::move(source), {.name = "until", .clock = options.clock});
  informer.Start();
  if (!informer.WaitForSync(timer.token())) {
    Status end = EndOf(timer);
    if (const auto synced = informer.SyncError(); !synced) {
      // For example that the server does not serve the type.
      end.message += ": " + synced.error().message;
    }
    return Fail(std::move(end));
  }
  // The handler must get every event, and must not hold back other handlers.
  const HandlerRegistration registration =
      informer.AddRawHandler("until", [&outcome](const RawEvent& event) { outcome.See(event); },
                             {.overflow = Overflow::kHoldBack});
  if (precondition) {
    // The preconditions are checked after the handler has been added, so that the handler hears of
    // an object that is deleted in between.
    if (!registration.WaitForSync(timer.token())) {
      return Fail(EndOf(timer));
    }
    KX_ASSIGN_OR_RETURN(const bool met, outcome.AskFirst([&] { return precondition(informer); }));
    if (met) {
      return std::nullopt;
    }
  }
  auto result = outcome.Await(options.clock, timer.token());
  if (!result) {
    return Fail(EndOf(timer));
  }
  if (!*result) {
    return Fail(result->error());
  }
  return std::optional(std::move(**result));
}

apimachinery::Result<void> WaitForRaw(
    std::shared_ptr<ListerWatcher> source, const apimachinery::ObjectKey& key,
    const std::function<apimachinery::Result<bool>(const Object*)>& done,
    const std::stop_token& stop, UntilOptions options) {
  const auto precondition = [&](const SharedInformerBase& informer) -> apimachinery::Result<bool> {
    const auto raw = informer.GetRaw(key);
    if (!raw && raw.error().reason != apimachinery::Reason::kNotFound) {
      return apimachinery::Fail(raw.error());  // the object may exist
    }
    return done(raw ? &*raw : nullptr);
  };
  const auto condition = [&](const WatchEvent& event) -> apimachinery::Result<bool> {
    if (event.object.key != key) {
      return false;
    }
    return done(event.type == codec::WatchEventType::kDeleted ? nullptr : &event.object);
  };
  KX_RETURN_IF_ERROR(UntilWithSync(std::move(source), precondition, {condition}, stop, options));
  return {};
}

}  // namespace kubexx::cache
