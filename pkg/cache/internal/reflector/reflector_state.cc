#include "kubexx/cache/internal/reflector/reflector_state.h"

#include <utility>

#include "kubexx/cache/internal/packed/packed_store.h"
#include "kubexx/cache/internal/reflector/retry_after.h"

namespace kubexx::cache {
namespace {

using apimachinery::IsExpired;
using apimachinery::IsTooLargeResourceVersion;
using apimachinery::Reason;
using apimachinery::Status;
using Kind = ReflectorAction::Kind;

// The number of consecutive watches without an event after which the reflector asks for a full
// state. A delay of the backoff follows each of them.
constexpr int kMaxFailures = 3;
// The number of consecutive watches with events that last less than a second before the next one is
// delayed.
constexpr int kMaxShortWatches = 2;
// The number of times that a page is requested again before its list starts over.
constexpr int kMaxPageRetries = 3;
// The number of consecutive WatchLists that close too early before the reflector uses LIST.
constexpr int kMaxWatchListAttempts = 2;
// The number of consecutive delays that are the server's Retry-After only. The number is
// client-go's.
constexpr int kMaxToldDelays = 10;
// The least time between two full states that follow a watch without a delay. It is as long as the
// backoff remembers failures. Without this limit, lists that take long and are each followed by a
// useful watch would never be delayed.
constexpr base::Duration kBetweenListsAtOnce = std::chrono::minutes(2);
// The time for which versions are not compared after a full state has shown that they are not
// ordered.
constexpr base::Duration kUnordered = std::chrono::minutes(30);

// Whether the server is unreachable, starting or overloaded. None of these changes its data, so
// there is no reason to list.
bool IsOutage(const Status& status) {
  switch (status.reason) {
    case Reason::kUnavailable:
    case Reason::kTooManyRequests:
    case Reason::kServiceUnavailable:
    case Reason::kUnauthorized:  // also a server whose authenticators are still starting
    case Reason::kForbidden:     // also a server whose RBAC cache is still filling
      return true;
    default:
      return false;
  }
}

// Whether the server may answer the request for its current version when it is asked again.
bool MayBeAnsweredLater(const Status& status) {
  switch (status.reason) {
    case Reason::kForbidden:
    case Reason::kUnauthorized:
      return false;  // if the server refuses the watch as well, the reflector asks again
    case Reason::kInternalError:
    case Reason::kServerTimeout:
    case Reason::kTimeout:
      return true;
    default:
      return IsOutage(status);
  }
}

// After so many unanswered requests for the current version, the reflector tries a watch
// nevertheless.
constexpr int kMaxQuestions = 3;

// Whether the server has refused the request itself, so that it does not support WatchList.
bool RefusesWatchList(const Status& status) {
  return status.reason == Reason::kInvalid || status.reason == Reason::kBadRequest ||
         status.reason == Reason::kMethodNotAllowed || status.reason == Reason::kNotAcceptable;
}

bool IsNumber(std::string_view version) {
  return !version.empty() && version.find_first_not_of("0123456789") == std::string_view::npos;
}

// The API's rules say that versions are opaque. This is the only comparison of them, and its result
// is checked later.
bool IsOlder(std::string_view a, std::string_view b) {
  return IsNumber(a) && IsNumber(b) && IsOlderVersion(a, b);
}

ReflectorAction AfterBackoff(ReflectorAction action, const Status& status = {}) {
  action.backoff = true;
  action.min_delay = internal::RetryAfter(status);
  return action;
}

}  // namespace

ReflectorInput FailedWith(const Status& status, ReflectorAction::Kind kind, base::TimePoint when) {
  switch (kind) {
    case Kind::kListPage:
      return ListFailed{status};
    case Kind::kCommit:
      return StoreFailed{status};
    case Kind::kAskVersion:
      return VersionAsked{.version = apimachinery::Fail(status), .when = when};
    case Kind::kWatchList:
    case Kind::kWatch:
      break;
  }
  return WatchEnded{.result = apimachinery::Fail(status), .was_short = true, .when = when};
}

std::optional<Status> FailureOf(const ReflectorInput& input) {
  if (const auto* list = std::get_if<ListFailed>(&input)) {
    return list->status.WithContext("list");
  }
  if (const auto* store = std::get_if<StoreFailed>(&input)) {
    return store->status.WithContext("change of the store");
  }
  if (const auto* watch = std::get_if<WatchEnded>(&input); watch != nullptr && !watch->result) {
    return watch->result.error().WithContext("watch");
  }
  if (const auto* asked = std::get_if<VersionAsked>(&input); asked != nullptr && !asked->version) {
    return asked->version.error().WithContext("question for the server's version");
  }
  return std::nullopt;
}

ReflectorAction ReflectorState::Next(const ReflectorInput& input) {
  ReflectorAction action = std::visit([this](const auto& each) { return On(each); }, input);
  // A request for the current version comes between two watches, and its outcome is not the outcome
  // of a watch.
  if (action.backoff || !std::holds_alternative<VersionAsked>(input)) {
    HeedRetryAfter(action);
  }
  return action;
}

// A server answers "in a second" for a custom resource whose definition was just created, although
// the backoff may have grown to a minute while there was no definition. But a server that says so
// repeatedly is overloaded, and then the backoff applies.
void ReflectorState::HeedRetryAfter(ReflectorAction& action) {
  if (!action.backoff) {
    told_delays_ = 0;
  } else if (action.min_delay.count() > 0 && told_delays_ < kMaxToldDelays) {
    ++told_delays_;
    action.as_told = true;
  }
}

ReflectorAction ReflectorState::BeginFullState() {
  fresh_tried_ = false;
  incomplete_ = false;
  in_initial_events_ = watch_list_supported_;
  if (!watch_list_supported_) {
    return BeginList();
  }
  watch_list_rv_ = rv_unusable_ ? "" : last_rv_;
  ReflectorAction action{.kind = Kind::kWatchList, .restart = true};
  action.options.resource_version = watch_list_rv_;
  action.options.resource_version_match = "NotOlderThan";
  action.options.send_initial_events = true;
  action.options.allow_watch_bookmarks = true;
  return action;
}

bool ReflectorState::MayListAtOnce(base::TimePoint now) {
  if (listed_at_once_ && now - *listed_at_once_ < kBetweenListsAtOnce) {
    return false;
  }
  listed_at_once_ = now;
  return true;
}

ReflectorAction ReflectorState::BeginList() {
  in_initial_events_ = false;
  incomplete_ = false;
  first_page_ = true;
  full_list_tried_ = false;
  page_retries_ = 0;
  page_ = {};
  page_.resource_version = rv_unusable_ ? "" : last_rv_.empty() ? "0" : last_rv_;
  // The watch cache answers a request with a real version, but only when no limit is set.
  const bool real_version = !page_.resource_version.empty() && page_.resource_version != "0";
  page_.limit = real_version && !server_pages_ && !options_.force_pages ? 0 : options_.page_size;
  first_page_rv_ = page_.resource_version;
  return {.kind = Kind::kListPage, .options = page_, .restart = true};
}

ReflectorAction ReflectorState::BeginWatch() {
  ReflectorAction action{.kind = Kind::kWatch};
  action.options.resource_version = last_rv_;
  action.options.allow_watch_bookmarks = true;
  action.on_trial = on_trial_;
  hold_rv_ = last_rv_.empty() || last_rv_ == "0";
  return action;
}

ReflectorAction ReflectorState::AskVersion() { return {.kind = Kind::kAskVersion}; }

bool ReflectorState::GoesBack(std::string_view resource_version, base::TimePoint now) {
  if (now < ordered_from_ || !MayGoBack(resource_version)) {
    return false;
  }
  went_back_to_ = resource_version;
  went_back_at_ = now;
  rv_unusable_ = true;
  return true;
}

bool ReflectorState::MayGoBack(std::string_view resource_version) const {
  return !hold_rv_ && IsOlder(resource_version, last_rv_);
}

void ReflectorState::Synced(std::string_view resource_version) {
  // The list of a restored server is at least as new as any event that this server sent before.
  if (const std::string event = std::exchange(went_back_to_, {});
      !event.empty() &&
      (!IsOlder(resource_version, last_rv_) || IsOlder(resource_version, event))) {
    ordered_from_ = went_back_at_ + kUnordered;
  }
  last_rv_ = resource_version;
  rv_unusable_ = false;
  on_trial_ = false;
  fresh_tried_ = false;
  in_initial_events_ = false;
  watch_list_attempts_ = 0;
  failures_ = 0;
}

ReflectorAction ReflectorState::On(const PageListed& input) {
  page_retries_ = 0;
  if (first_page_) {
    first_page_ = false;
    list_rv_ = input.meta.resource_version;
    if (!input.meta.continue_.empty() && page_.resource_version == "0") {
      server_pages_ = true;
    }
  }
  if (input.meta.continue_.empty()) {
    return {.kind = Kind::kCommit, .resource_version = list_rv_};
  }
  page_.continue_ = input.meta.continue_;
  page_.resource_version.clear();  // the token contains the version
  return {.kind = Kind::kListPage, .options = page_};
}

ReflectorAction ReflectorState::On(const ListFailed& input) {
  const bool expired = IsExpired(input.status);
  if (expired && !first_page_ && !full_list_tried_) {
    // The snapshot of the token no longer exists. A list in one piece needs no token.
    full_list_tried_ = true;
    first_page_ = true;
    incomplete_ = false;
    page_ = {};
    page_.resource_version = first_page_rv_;
    return {.kind = Kind::kListPage, .options = page_, .restart = true};
  }
  // A server that gave a version and now says that a request with it is invalid may accept a
  // request without a version.
  const bool refused =
      first_page_ && !page_.resource_version.empty() &&
      (input.status.reason == Reason::kBadRequest || input.status.reason == Reason::kInvalid);
  if ((expired || refused || IsTooLargeResourceVersion(input.status)) && !fresh_tried_) {
    fresh_tried_ = true;
    rv_unusable_ = true;
    return BeginList();
  }
  if (!expired && !first_page_ && page_retries_ < kMaxPageRetries) {
    ++page_retries_;
    return AfterBackoff({.kind = Kind::kListPage, .options = page_}, input.status);
  }
  return AfterBackoff(BeginFullState(), input.status);
}

ReflectorAction ReflectorState::On(const Committed&) {
  Synced(list_rv_);
  return BeginWatch();
}

ReflectorAction ReflectorState::On(const StoreFailed&) { return AfterBackoff(BeginFullState()); }

ReflectorAction ReflectorState::On(const WatchEnded& input) {
  if (in_initial_events_) {
    return OnWatchListEnded(input);
  }
  const bool useless = input.was_short && !input.made_progress;
  if (input.made_progress) {
    failures_ = 0;
  }
  // A server that cuts every watch short, even after an event, must not be asked without a pause.
  short_watches_ = input.was_short ? short_watches_ + 1 : 0;
  const bool pause = useless || short_watches_ >= kMaxShortWatches;
  const Status status = input.result ? Status() : input.result.error();
  const bool expired = !input.result && IsExpired(status);
  if (expired || last_rv_.empty() || last_rv_ == "0") {
    // From time to time the list is not delayed: a server that was away for long or was started
    // anew says so to all watches, and the backoff may have grown meanwhile. Such a server asks for
    // a list.
    const bool at_once = (expired || !pause) && MayListAtOnce(input.when);
    return at_once ? BeginFullState() : AfterBackoff(BeginFullState(), status);
  }
  if (!input.result && IsTooLargeResourceVersion(status)) {
    rv_unusable_ = true;  // the server's data are older than ours, so it was restored from a backup
    return AfterBackoff(BeginFullState(), status);
  }
  const bool outage = !input.result && IsOutage(status);
  const bool broken_stream = status.reason == Reason::kUnavailable && !useless;
  const bool failed = !broken_stream && (outage || (input.result ? useless : !input.made_progress));
  // A stream that broke off has ended. A server that is unreachable would not answer a list either.
  if (incomplete_ && (!outage || broken_stream)) {
    // Never at once, because the object may stay unreadable for ever.
    return AfterBackoff(BeginFullState(), status);
  }
  const bool ask = on_trial_ || (failed && !input.result);
  on_trial_ = on_trial_ || !input.result;
  if (!failed) {
    const ReflectorAction next = ask ? AskVersion() : BeginWatch();
    return pause ? AfterBackoff(next, status) : next;
  }
  if (!outage && !input.sit_out && ++failures_ >= kMaxFailures) {
    failures_ = 0;
    return AfterBackoff(BeginFullState(), status);
  }
  return AfterBackoff(ask ? AskVersion() : BeginWatch(), status);
}

ReflectorAction ReflectorState::On(const VersionAsked& input) {
  if (input.version) {
    on_trial_ = false;
    unanswered_ = 0;
    was_denied_ = false;
    if (!GoesBack(*input.version, input.when)) {
      return BeginWatch();
    }
    return MayListAtOnce(input.when) ? BeginFullState() : AfterBackoff(BeginFullState());
  }
  const Status& status = input.version.error();
  if (status.reason == Reason::kUnavailable && ++unanswered_ < kMaxQuestions) {
    return AfterBackoff(AskVersion(), status);
  }
  unanswered_ = 0;
  // A client that may not list, or not now, or whose lists break off, may still be able to watch. A
  // server that is starting refuses requests that it allows a moment later, so one refusal is not
  // enough.
  const bool is_denied = !MayBeAnsweredLater(status);
  on_trial_ = !(is_denied && std::exchange(was_denied_, true));
  return is_denied ? BeginWatch() : AfterBackoff(BeginWatch(), status);
}

ReflectorAction ReflectorState::OnWatchListEnded(const WatchEnded& input) {
  const Status status = input.result ? Status() : input.result.error();
  if (input.result) {
    if (++watch_list_attempts_ >= kMaxWatchListAttempts) {
      watch_list_attempts_ = 0;
      return AfterBackoff(BeginList());
    }
    return input.was_short ? AfterBackoff(BeginFullState()) : BeginFullState();
  }
  if (IsExpired(status) || IsTooLargeResourceVersion(status)) {
    const bool was_fresh = watch_list_rv_.empty();
    rv_unusable_ = true;
    return was_fresh ? AfterBackoff(BeginList(), status) : BeginFullState();
  }
  if (IsOutage(status) && status.reason != Reason::kForbidden) {
    return AfterBackoff(BeginFullState(), status);
  }
  if (RefusesWatchList(status)) {
    watch_list_supported_ = false;
  }
  return BeginList();
}

void ReflectorState::InitialEventsEnded(std::string_view resource_version) {
  Synced(resource_version);
  hold_rv_ = false;
}

void ReflectorState::Applied(codec::WatchEventType type, std::string_view resource_version) {
  if (hold_rv_ && type == codec::WatchEventType::kAdded) {
    return;
  }
  hold_rv_ = false;
  if (!resource_version.empty()) {
    on_trial_ = on_trial_ && resource_version == last_rv_;
    last_rv_ = resource_version;
  }
}

}  // namespace kubexx::cache
