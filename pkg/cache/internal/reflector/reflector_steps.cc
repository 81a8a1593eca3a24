// Runs the passes of a Reflector that do not wait for the events of a watch.
#include <algorithm>
#include <functional>
#include <optional>
#include <stop_token>
#include <utility>

#include "kubexx/base/after.h"
#include "kubexx/base/stop_timer.h"
#include "kubexx/cache/internal/reflector/reflector_pass.h"

namespace kubexx::cache {

using apimachinery::Result;

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
      return Store([&] { return Apply(std::move(event)); });
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

void Reflector::Pass::ResyncIfDue() {
  const base::Duration period = owner_.options_.resync_period;
  if (period > base::Duration::zero() && clock_.Now() >= next_resync_) {
    owner_.ResyncOnce(stop_);
    next_resync_ = base::After(clock_.Now(), period);
  }
}

}  // namespace kubexx::cache
