#include "kubexx/reloader/watch/workload_list_watch.h"

#include <algorithm>
#include <utility>

#include "kubexx/reloader/watch/served_apis.h"

namespace kubexx::reloader {

using apimachinery::Fail;
using apimachinery::ListOptions;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;

namespace {

constexpr std::string_view kList = "list";
constexpr std::string_view kWatch = "watch";
constexpr base::Duration kFirstRetry = std::chrono::seconds(1);
/// A watch counts as permitted when it has not been refused for this long.
constexpr base::Duration kProbeTime = std::chrono::seconds(1);

// The message of the error that makes a reflector list at once.
constexpr std::string_view kNewList = "a new list is wanted";
apimachinery::Error ListPlease() { return Fail(Reason::kExpired, std::string(kNewList)); }

// The message of the error that makes a reflector wait for the next change.
constexpr std::string_view kNotWatched = "not watched";

}  // namespace

WorkloadListWatch::WorkloadListWatch(std::shared_ptr<cache::ListerWatcher> inner,
                                     std::shared_ptr<Fallbacks> fallbacks, Options options)
    : inner_(std::move(inner)), fallbacks_(std::move(fallbacks)), options_(std::move(options)) {}

bool WorkloadListWatch::IsOwn(const Status& status) {
  return status.message.ends_with(kNewList) || status.message.ends_with(kNotWatched);
}

WorkloadListWatch::Mode WorkloadListWatch::mode() const {
  const base::MutexLock lock(mu_);
  return mode_;
}

Right WorkloadListWatch::RightTo(std::string_view verb) const {
  return {.kind = options_.other_kind.empty() ? KindName(options_.kind) : options_.other_kind,
          .verb = verb,
          .namespace_ = options_.namespace_};
}

bool WorkloadListWatch::IsOnDemand() const {
  const Mode now = mode();
  return now == Mode::kOnDemand || now == Mode::kProbing;
}

WorkloadListWatch::Hearing WorkloadListWatch::hearing() const {
  const base::MutexLock lock(mu_);
  switch (mode_) {
    case Mode::kWatched:
      return is_granted_ ? Hearing::kWatched : Hearing::kInDoubt;
    case Mode::kOnDemand:
    case Mode::kProbing:
      return Hearing::kOnDemand;
    case Mode::kAbsent:
      break;
  }
  return Hearing::kNone;
}

void WorkloadListWatch::SetGranted(bool granted) {
  const base::MutexLock lock(mu_);
  is_granted_ = granted;
}

void WorkloadListWatch::SetMode(Mode mode) {
  const base::MutexLock lock(mu_);
  const bool again = mode_ == mode || mode_ == Mode::kProbing;
  mode_ = mode;
  retry_ = again ? std::min(2 * retry_, options_.retry_interval) : kFirstRetry;
  probe_at_ = options_.clock.Now() + retry_;
  ChangedLocked();
}

void WorkloadListWatch::BeginProbe() {
  const base::MutexLock lock(mu_);
  mode_ = Mode::kProbing;
  probe_at_ = options_.clock.Now();
  ChangedLocked();
}

bool WorkloadListWatch::Serves(const std::stop_token& stop) {
  if (!options_.is_served) {
    return true;
  }
  const auto served = options_.is_served(AgeOfAnswers(), stop);
  if (!served || *served) {
    if (served) {
      fallbacks_->Granted(RightTo(Fallbacks::kServed));
    }
    return true;  // when it cannot be told, the list tells
  }
  return false;
}

base::Duration WorkloadListWatch::AgeOfAnswers() const {
  const base::MutexLock lock(mu_);
  // Who only waits for the API may share the answers of others who wait, whatever moment they ask.
  return mode_ == Mode::kAbsent
             ? std::clamp<base::Duration>(retry_ * 3 / 4, ServedApis::kNow, ServedApis::kOfLate)
             : base::Duration(ServedApis::kNow);
}

// Returns a list without objects and without an error.
Result<codec::ListMeta> WorkloadListWatch::Absent() {
  SetMode(Mode::kAbsent);
  codec::ListMeta empty;
  empty.resource_version = "0";
  return empty;
}

Result<codec::ListMeta> WorkloadListWatch::NotServed(const Status& status) {
  bool is_believed = false;
  {
    const base::TimePoint now = options_.clock.Now();
    const base::MutexLock lock(mu_);
    unserved_since_ = unserved_since_.value_or(now);
    is_believed = !has_listed_ || now - *unserved_since_ >= options_.unserved_patience;
  }
  if (!is_believed) {  // to believe this would delete every workload, and everything that is known
    return Fail(status);
  }
  fallbacks_->Refused(RightTo(Fallbacks::kServed), status, "");
  return Absent();
}

void WorkloadListWatch::HasListed() {
  const base::MutexLock lock(mu_);
  has_listed_ = true;
  unserved_since_.reset();
  failing_since_.reset();
}

void WorkloadListWatch::NoteFailure(const Status& status) {
  {
    const base::TimePoint now = options_.clock.Now();
    const base::MutexLock lock(mu_);
    // Without a connection this says nothing of the kind: all other kinds wait for the server as
    // well.
    if (status.reason != Reason::kNotFound) {
      unserved_since_.reset();  // a server that says this again begins a new period
    }
    if (has_listed_ || mode_ == Mode::kAbsent || status.reason == Reason::kUnavailable ||
        status.reason == Reason::kCancelled) {
      failing_since_.reset();
      return;
    }
    failing_since_ = failing_since_.value_or(now);
    if (is_late_ || now - *failing_since_ < options_.late_after) {
      return;
    }
    is_late_ = true;
  }
  if (options_.on_late) {
    options_.on_late(status);
  }
}

Result<codec::ListMeta> WorkloadListWatch::OnListRefused(const Status& status) {
  bool has_listed = false;
  {
    const base::MutexLock lock(mu_);
    has_listed = has_listed_;
  }
  if (status.reason == Reason::kForbidden) {
    fallbacks_->Refused(RightTo(kList), status,
                        options_.other_kind.empty() ? "workloads of this kind are not rolled"
                                                    : "its changes roll nothing");
    if (has_listed) {  // a server that is starting also says this, so the present objects are kept
      return Fail(status);
    }
    return Absent();
  }
  if (status.reason == Reason::kNotFound) {
    return NotServed(status);
  }
  NoteFailure(status);
  return Fail(status);
}

Result<codec::ListMeta> WorkloadListWatch::List(const ListOptions& options, ObjectSink sink,
                                                std::stop_token stop) {
  ListOptions request = options;
  if (options.continue_.empty()) {
    if (!Serves(stop)) {
      return NotServed(Status(Reason::kNotFound, "the API is not served"));
    }
    BeginFullList();
    const base::MutexLock lock(mu_);
    begun_ = asked_;
    if (mode_ != Mode::kWatched) {
      // The list has to be the present state, and not one that the server's cache remembers.
      request.resource_version.clear();
      request.resource_version_match.clear();
    }
  }
  auto listed = inner_->List(request, sink, std::move(stop));
  if (!listed) {
    return OnListRefused(listed.error());
  }
  if (mode() == Mode::kAbsent) {
    SetMode(Mode::kWatched);  // as far as it is known yet
  }
  if (listed->continue_.empty()) {
    fallbacks_->Granted(RightTo(kList));
    HasListed();
    const base::MutexLock lock(mu_);
    version_ = listed->resource_version;
  }
  return listed;
}

Result<void> WorkloadListWatch::TryWatch(const ListOptions& options, EventSink sink,
                                         const std::stop_token& stop) {
  bool granted = false;
  return WatchHasEnded(inner_->Watch(
      options, [&](cache::WatchEvent&& event) { return Pass(std::move(event), sink, granted); },
      stop));
}

Result<void> WorkloadListWatch::Pass(cache::WatchEvent&& event, EventSink sink, bool& granted) {
  if (!granted) {
    granted = true;
    SetMode(Mode::kWatched);
    SetGranted(true);
    fallbacks_->Granted(RightTo(kWatch));
  }
  if (event.initial_events_end) {
    HasListed();
  }
  // From an old version, it would bring states from before the lists that have been made since.
  return HasParts() ? Result<void>(ListPlease()) : sink(std::move(event));
}

Result<void> WorkloadListWatch::WatchHasEnded(Result<void> result) {
  SetGranted(false);
  if (!result && result.error().reason == Reason::kForbidden) {
    // The mode is set first, so that everybody who is told of it can rely on lists from then on.
    SetMode(Mode::kOnDemand);
    fallbacks_->Refused(RightTo(kWatch), result.error(),
                        options_.other_kind.empty() ? "workloads are listed when a source changes"
                                                    : "its changes roll nothing");
  }
  return result;
}

WorkloadListWatch::Demand WorkloadListWatch::DemandLocked(base::TimePoint list) const {
  const base::TimePoint now = options_.clock.Now();
  const bool wanted = mode_ == Mode::kOnDemand && asked_ > done_;
  if (wanted && now >= list) {
    return {.next = Next::kList};
  }
  if (now >= probe_at_ && (mode_ == Mode::kOnDemand || now >= list)) {
    return {.next = mode_ == Mode::kOnDemand ? Next::kTryWatch : Next::kList};
  }
  const base::TimePoint probe = mode_ == Mode::kOnDemand ? probe_at_ : std::max(probe_at_, list);
  return {.until = wanted ? std::min(list, probe) : probe};
}

WorkloadListWatch::Next WorkloadListWatch::AwaitDemand(const std::stop_token& stop) {
  // The time counts from here, so that the reflector does not regard the watch as broken.
  const base::TimePoint list = NextListTime();
  const base::MutexLock lock(mu_);
  while (!stop.stop_requested()) {
    const Demand demand = DemandLocked(list);
    if (demand.next) {
      return *demand.next;
    }
    options_.clock.WaitUntil(mu_, changed_, stop, demand.until);
  }
  return Next::kStop;
}

void WorkloadListWatch::ChangedLocked() {
  changed_.notify_all();
  if (tell_) {
    tell_();
  }
}

void WorkloadListWatch::ListIsInStore() {
  const base::MutexLock lock(mu_);
  done_ = begun_;
  ChangedLocked();
}

Result<void> WorkloadListWatch::BeginInitialWatch(const std::stop_token& stop) {
  // A refusal here makes the reflector list.
  if (mode() != Mode::kWatched || !Serves(stop)) {
    return Fail(Reason::kForbidden, std::string(kNotWatched));
  }
  BeginFullList();
  return {};
}

Result<void> WorkloadListWatch::InitialWatchHasEnded(Result<void> result) {
  if (!result && result.error().reason == Reason::kNotFound) {
    return Fail(Reason::kForbidden, result.error().message);
  }
  if (!result && result.error().reason != Reason::kForbidden) {
    NoteFailure(result.error());
  }
  return result;
}

std::optional<Result<void>> WorkloadListWatch::ProbeHasEnded(const Result<void>& result) {
  if (mode() == Mode::kOnDemand) {
    return std::nullopt;
  }
  SetMode(Mode::kWatched);  // it was not refused, whatever else has happened to it
  return result && HasParts() ? Result<void>(ListPlease()) : result;
}

// When nothing was listed, the end of the watch is enough to list again, and is not an error.
Result<void> WorkloadListWatch::ListIsDue() const {
  return mode() == Mode::kAbsent ? Result<void>() : Result<void>(ListPlease());
}

Result<void> WorkloadListWatch::Watch(const ListOptions& options, EventSink sink,
                                      std::stop_token stop) {
  if (options.send_initial_events.value_or(false)) {
    KX_RETURN_IF_ERROR(BeginInitialWatch(stop));
    return InitialWatchHasEnded(TryWatch(options, sink, stop));
  }
  ListIsInStore();
  if (mode() == Mode::kWatched) {
    auto result = TryWatch(options, sink, stop);
    if (mode() == Mode::kWatched) {
      return result;
    }
  }
  while (true) {
    switch (AwaitDemand(stop)) {
      case Next::kStop:
        return Fail(Reason::kCancelled, "stopped");
      case Next::kList:
        return ListIsDue();
      case Next::kTryWatch:
        break;
    }
    BeginProbe();
    if (auto result = ProbeHasEnded(TryWatch(options, sink, stop))) {
      return *std::move(result);
    }
  }
}

std::uint64_t WorkloadListWatch::AskForList() {
  const base::MutexLock lock(mu_);
  ChangedLocked();
  return ++asked_;
}

std::optional<std::string> WorkloadListWatch::AwaitList(std::uint64_t number,
                                                        const std::stop_token& stop,
                                                        base::Duration patience) {
  const base::TimePoint deadline = options_.clock.Now() + patience;
  const base::MutexLock lock(mu_);
  while (done_ < number && !stop.stop_requested()) {
    base::TimePoint until = deadline;
    if (mode_ == Mode::kProbing) {
      until = std::min(deadline, probe_at_ + kProbeTime);
    } else if (mode_ != Mode::kOnDemand) {
      return std::nullopt;
    }
    if (options_.clock.Now() >= until) {
      return std::nullopt;
    }
    options_.clock.WaitUntil(mu_, changed_, stop, until);
  }
  return done_ < number ? std::nullopt : std::optional(version_);
}

}  // namespace kubexx::reloader
