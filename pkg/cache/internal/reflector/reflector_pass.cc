#include "kubexx/cache/internal/reflector/reflector_pass.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <utility>

#include "kubexx/base/after.h"
#include "kubexx/base/stop_timer.h"
#include "kubexx/logging/log.h"

namespace kubexx::cache {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using codec::WatchEventType;

constexpr base::Duration kShortWatch = std::chrono::seconds(1);
// The min_watch_timeout of a watch that is on trial.
constexpr std::chrono::seconds kTrial{30};

double Seconds(base::Duration d) { return std::chrono::duration<double>(d).count(); }

}  // namespace

Reflector::Pass::Pass(Reflector& owner, std::stop_token stop)
    : owner_(owner),
      clock_(owner.options_.clock),
      metrics_(*owner.metrics_),
      stop_(std::move(stop)),
      random_(owner.options_.seed != 0 ? owner.options_.seed : std::random_device{}()),
      backoff_(owner.options_.tuning.backoff, clock_, [this] { return Random(); }),
      internal_errors_(owner.options_.tuning.max_internal_error_retry),
      state_({.page_size = owner.options_.tuning.page_size,
              .use_watch_list = owner.options_.use_watch_list,
              .force_pages = owner.options_.tuning.force_pages}),
      full_state_(owner.name_, owner.store_, owner.store_mu_, metrics_, clock_) {}

Reflector::Pass::~Pass() = default;

Reflector::Pass::Turn Reflector::Pass::StepOn(const std::function<void()>& tell) {
  const base::Duration resync_period = owner_.options_.resync_period;
  if (!action_) {
    action_ = state_.Start();
    next_resync_ = base::After(clock_.Now(), resync_period);
  }
  Turn turn;
  std::optional<ReflectorInput> input;
  try {
    if (!owner_.store_.HasRoom(tell)) {
      silent_until_ = base::TimePoint::max();  // it is not the server that is silent
      return turn;
    }
    ResyncIfDue();
    if (!watch_ && clock_.Now() < not_before_) {
      turn.at = not_before_;
    } else {
      input = Advance(tell, turn);
    }
  } catch (...) {
    watch_.reset();
    input = FailedWith(owner_.Thrown(), action_->kind, clock_.Now());
  }
  if (input && !stop_.stop_requested()) {
    if (const auto failed = FailureOf(*input)) {
      owner_.Report(*failed);
    }
    action_ = state_.Next(*input);
    not_before_ =
        action_->backoff ? base::After(clock_.Now(), DelayOf(*action_)) : base::TimePoint::min();
    turn.more = true;
  }
  if (resync_period > base::Duration::zero()) {
    turn.at = std::min(turn.at, next_resync_);
  }
  return turn;
}

std::optional<ReflectorInput> Reflector::Pass::Advance(const std::function<void()>& tell,
                                                       Turn& turn) {
  if (watch_) {
    return ReadTheWatch(turn);
  }
  if (action_->kind == ReflectorAction::Kind::kWatch ||
      action_->kind == ReflectorAction::Kind::kWatchList) {
    turn.more = true;
    return OpenTheWatch(tell);
  }
  return Try(*action_);
}

void Reflector::Pass::ResyncIfDue() {
  const base::Duration period = owner_.options_.resync_period;
  if (period > base::Duration::zero() && clock_.Now() >= next_resync_) {
    owner_.ResyncOnce(stop_);
    next_resync_ = base::After(clock_.Now(), period);
  }
}

base::Duration Reflector::Pass::DelayOf(const ReflectorAction& action) {
  if (!action.as_told) {
    // A watch that worked for a while resets the backoff of watches, but not that of full states.
    const base::Duration delay = action.restart ? backoff_.NextOfAll() : backoff_.Next();
    return std::max<base::Duration>(delay, action.min_delay);
  }
  const double jitter = owner_.options_.tuning.backoff.jitter;
  return std::chrono::duration_cast<base::Duration>(action.min_delay * (1 + jitter * Random()));
}

// An exception ends only this attempt. The source or the store may have thrown it, or the system
// may have had no thread.
ReflectorInput Reflector::Pass::Try(const ReflectorAction& action) {
  try {
    return Execute(action);
  } catch (...) {
    return FailedWith(owner_.Thrown(), action.kind, clock_.Now());
  }
}

ReflectorInput Reflector::Pass::Execute(const ReflectorAction& action) {
  if (action.restart) {
    full_state_.Begin();
  }
  switch (action.kind) {
    case ReflectorAction::Kind::kListPage:
      return ListPage(action);
    case ReflectorAction::Kind::kCommit:
      return CommitList(action.resource_version);
    case ReflectorAction::Kind::kWatchList:
    case ReflectorAction::Kind::kWatch:
      return Watch(action);
    case ReflectorAction::Kind::kAskVersion:
      return AskVersion();
  }
  return StoreFailed{};
}

// An object that cannot be read now cannot be read a moment later either, and to ask again at once
// would only delay the other objects.
void Reflector::Pass::Miss(const Status& why) {
  state_.Missed();
  metrics_.unreadable.Increment();
  if (const auto left_out = owner_.unreadable_lines_.Admit()) {
    logging::Error("Cannot read an object from the API server, and leaves it out",
                   {{"reflector", owner_.name_}, {"error", why}, {"others", *left_out}});
  }
}

ReflectorInput Reflector::Pass::ListPage(const ReflectorAction& action) {
  store_error_.reset();
  const auto take = [this](Object&& object) -> Result<void> {
    LeaveOutIfKeyTooLong(object, owner_.options_.max_key_part);
    if (object.unreadable) {
      Miss(*object.unreadable);
      return Store([&] { return full_state_.Unreadable(*object.unreadable); });
    }
    return Store([&] { return full_state_.Add(std::move(object)); });
  };
  auto meta = owner_.Guard([&] { return owner_.source_->List(action.options, take, stop_); });
  if (store_error_) {
    return StoreFailed{*store_error_};
  }
  if (!meta) {
    return ListFailed{meta.error()};
  }
  // A proxy may answer each page with the same bytes, and then the list would never end.
  if (!meta->continue_.empty() && meta->continue_ == action.options.continue_) {
    return ListFailed{Status(Reason::kInternalError,
                             "the server answered a continue token with the same token again")};
  }
  return PageListed{std::move(*meta)};
}

ReflectorInput Reflector::Pass::CommitList(const std::string& resource_version) {
  if (const auto result = full_state_.Commit(resource_version); !result) {
    return StoreFailed{result.error()};
  }
  owner_.SetLastResourceVersion(resource_version);
  answered_ = true;
  return Committed{};
}

ReflectorInput Reflector::Pass::AskVersion() {
  auto version = owner_.source_->CurrentVersion(stop_);
  answered_ = version.has_value();
  return VersionAsked{.version = std::move(version), .when = clock_.Now()};
}

apimachinery::ListOptions Reflector::Pass::BeginWatch(const ReflectorAction& action) {
  apimachinery::ListOptions options = action.options;
  const WatchTuning& tuning = owner_.options_.tuning;
  const auto shortest =
      action.on_trial ? std::min(tuning.min_watch_timeout, kTrial) : tuning.min_watch_timeout;
  const auto lifetime = static_cast<double>(shortest.count());
  options.timeout = std::chrono::seconds(static_cast<std::int64_t>(lifetime * (1 + Random())));
  store_error_.reset();
  lost_change_.reset();
  watch_items_ = 0;
  metrics_.watches.Increment();
  watch_began_ = clock_.Now();
  return options;
}

std::optional<ReflectorInput> Reflector::Pass::OpenTheWatch(const std::function<void()>& tell) {
  if (action_->restart) {
    full_state_.Begin();
  }
  const apimachinery::ListOptions options = BeginWatch(*action_);
  watch_stop_ = std::stop_source();
  const auto stop_watch = [stop = watch_stop_]() mutable { stop.request_stop(); };
  on_stop_.emplace(stop_, stop_watch);
  // This watchdog limits the time until the answer; ReadTheWatch limits the time between events.
  base::StopTimer watchdog(clock_, stop_, owner_.options_.tuning.watch_idle_timeout);
  const std::stop_callback<std::function<void()>> on_silence(watchdog.token(), stop_watch);
  auto opened =
      owner_.Guard([&] { return owner_.source_->StartWatch(options, watch_stop_.get_token()); });
  if (!opened) {
    return EndWatch(apimachinery::Fail(opened.error()), watchdog.expired());
  }
  watch_ = std::move(*opened);
  watch_->Notify(tell);
  silent_until_ = SilentUntil();
  return std::nullopt;
}

std::optional<ReflectorInput> Reflector::Pass::ReadTheWatch(Turn& turn) {
  const std::size_t items = watch_items_;
  auto found = owner_.Guard([this] {
    return watch_->Read([this](WatchEvent&& event) -> Result<void> {
      KX_RETURN_IF_ERROR(CheckOrder(event));
      KX_RETURN_IF_ERROR(Store([&] { return Apply(std::move(event)); }));
      return CheckComplete();
    });
  });
  if (!found || *found == OpenWatch::Found::kEnd) {
    watch_.reset();
    return EndWatch(found ? Result<void>() : Result<void>(apimachinery::Fail(found.error())),
                    false);
  }
  // Bytes that are no event are no sign of life: a proxy may send them for a server that is gone.
  if (watch_items_ != items || silent_until_ == base::TimePoint::max()) {
    silent_until_ = SilentUntil();
  } else if (clock_.Now() >= silent_until_) {
    watch_.reset();
    return EndWatch({}, true);
  }
  if (*found == OpenWatch::Found::kSome) {
    turn.more = true;
  } else {
    turn.at = std::min(watch_->Arm(), silent_until_);
  }
  return std::nullopt;
}

base::TimePoint Reflector::Pass::SilentUntil() const {
  const base::Duration limit = owner_.options_.tuning.watch_idle_timeout;
  return limit > base::Duration::zero() ? base::After(clock_.Now(), limit) : base::TimePoint::max();
}

ReflectorInput Reflector::Pass::EndWatch(Result<void> result, bool fell_silent) {
  (void)Store([this] { return ShowAll(); });  // an error of the store is kept in store_error_
  if (fell_silent) {
    result = Fail(Reason::kUnavailable, "the watch brought nothing for too long and was closed");
  }
  const base::Duration lasted = clock_.Now() - watch_began_;
  const bool was_short = lasted < kShortWatch;
  metrics_.watch_seconds.Observe(Seconds(lasted));
  metrics_.items_per_watch.Observe(static_cast<double>(watch_items_));
  if (was_short && watch_items_ == 0) {
    metrics_.short_watches.Increment();
  }
  if (store_error_) {
    return StoreFailed{*store_error_};
  }
  if (!was_short && HasWorked(result)) {
    backoff_.Worked(lasted);
  }
  answered_ = false;
  const bool internal_error = !result && result.error().reason == Reason::kInternalError;
  const bool sit_out = internal_error && internal_errors_.Contains(clock_.Now());
  return WatchEnded{std::move(result), watch_items_ > 0, was_short, sit_out, clock_.Now()};
}

// Returns whether a watch took the time, and not an attempt to begin one. A watch that brought
// nothing until it broke counts when the server answered right before the watch began.
bool Reflector::Pass::HasWorked(const Result<void>& watch) const {
  return watch || watch_items_ > 0 || (answered_ && watch.error().reason == Reason::kUnavailable);
}

// Shows the events that were to be shown together with the event that ended the watch.
Result<void> Reflector::Pass::ShowAll() {
  {
    base::MutexLock lock(owner_.store_mu_);
    owner_.store_.Flush();
  }
  if (!state_.in_initial_events()) {
    owner_.SetLastResourceVersion(state_.last_resource_version());
  }
  return {};
}

Result<void> Reflector::Pass::CheckOrder(const WatchEvent& event) {
  const std::string& version = event.object.resource_version;
  if (state_.in_initial_events() || !state_.MayGoBack(version) ||
      !state_.GoesBack(version, clock_.Now())) {
    return {};
  }
  ++watch_items_;
  return Fail(Reason::kExpired,
              "resourceVersion " + version + " came after " + state_.last_resource_version() +
                  ": the server was restored, or started anew",
              410);
}

Result<void> Reflector::Pass::Apply(WatchEvent&& event) {
  ++watch_items_;
  LeaveOutIfKeyTooLong(event.object, owner_.options_.max_key_part);
  if (event.object.unreadable) {
    return Leave(event);
  }
  if (state_.in_initial_events()) {
    return ApplyInitial(std::move(event));
  }
  const WatchEventType type = event.type;
  const std::string resource_version = event.object.resource_version;
  const bool more = event.more;
  {
    base::MutexLock lock(owner_.store_mu_);
    if (more) {
      owner_.store_.MoreFollow();
    }
    switch (type) {
      case WatchEventType::kAdded:
        KX_RETURN_IF_ERROR(owner_.store_.Add(std::move(event.object)));
        break;
      case WatchEventType::kModified:
        KX_RETURN_IF_ERROR(owner_.store_.Update(std::move(event.object)));
        break;
      case WatchEventType::kDeleted:
        KX_RETURN_IF_ERROR(owner_.store_.Delete(std::move(event.object)));
        break;
      case WatchEventType::kBookmark:
        owner_.store_.Bookmark(resource_version);
        break;
      case WatchEventType::kError:
        return Fail(Reason::kInternalError, "a source passed on an ERROR event");
    }
    if (!more) {
      owner_.store_.Flush();
    }
  }
  state_.Applied(type, resource_version);
  if (!more) {
    owner_.SetLastResourceVersion(state_.last_resource_version());
  }
  return {};
}

// Only the events before this one have been waiting to be shown.
Result<void> Reflector::Pass::Leave(const WatchEvent& event) {
  const Status& why = *event.object.unreadable;
  if (!state_.in_initial_events() && !state_.is_incomplete()) {
    lost_change_ = why;
  }
  Miss(why);
  if (state_.in_initial_events()) {
    return full_state_.Unreadable(why);
  }
  base::MutexLock lock(owner_.store_mu_);
  KX_RETURN_IF_ERROR(owner_.store_.Unreadable(why));
  if (!event.more) {
    owner_.store_.Flush();
  }
  return {};
}

// Until the next full state, readers are told that something is missing. A list brings the object,
// unless that cannot be read either. In that case the next watch goes on for its time, whatever it
// brings: further lists would bring nothing.
Result<void> Reflector::Pass::CheckComplete() {
  if (!lost_change_) {
    return {};
  }
  const Status why = *std::exchange(lost_change_, std::nullopt);
  return Fail(why.WithContext("a change cannot be read, so the state is listed again"));
}

Result<void> Reflector::Pass::ApplyInitial(WatchEvent&& event) {
  switch (event.type) {
    case WatchEventType::kAdded:
    case WatchEventType::kModified:
      return full_state_.Add(std::move(event.object));
    case WatchEventType::kDeleted:
      return full_state_.Delete(event.object.key);
    case WatchEventType::kBookmark:
      if (!event.initial_events_end) {
        return {};
      }
      KX_RETURN_IF_ERROR(full_state_.Commit(event.object.resource_version));
      state_.InitialEventsEnded(event.object.resource_version);
      owner_.SetLastResourceVersion(event.object.resource_version);
      return {};
    case WatchEventType::kError:
      break;
  }
  return Fail(Reason::kInternalError, "a source passed on an ERROR event");
}

}  // namespace kubexx::cache
