#include "kubexx/reloader/write/pause.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "kubexx/apimachinery/time.h"
#include "kubexx/logging/log.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

// The pause while the Lease may be renewed any moment.
constexpr base::Duration kShardPause = std::chrono::seconds(1);
// The wall clock may be set, so a long pause is checked from time to time.
constexpr base::Duration kMaxWait = std::chrono::hours(1);

// A pause that begins later than this is none of an operator whose clock is ahead of this one's,
// but an edit of the annotation.
constexpr base::WallTime::duration kMostAhead = std::chrono::minutes(10);

// The pause between two attempts on a Deployment that somebody else is writing to.
constexpr base::Duration kConflictPause = std::chrono::milliseconds(100);

const std::string* NonEmpty(const Annotations& annotations, const std::string& key) {
  const std::string* value = Find(annotations, key);
  return value != nullptr && !value->empty() ? value : nullptr;
}

std::shared_ptr<workqueue::RateLimiter> Backoff() {
  return workqueue::NewExponentialFailureRateLimiter(std::chrono::milliseconds(100),
                                                     std::chrono::minutes(1));
}

}  // namespace

Result<std::optional<base::Duration>> PausePeriodOf(const Annotations& annotations,
                                                    const AnnotationKeys& keys) {
  const std::string* text = Find(annotations, keys.pause_period);
  if (text == nullptr) {
    return std::optional<base::Duration>();
  }
  const auto period = apimachinery::Duration::Parse(*text);
  if (!period) {
    return Fail(Reason::kInvalidConfig,
                "annotation " + keys.pause_period + ": \"" + *text +
                    "\" is not a duration, or one of more than 292 years; use one like 30s "
                    "or 5m");
  }
  return std::optional<base::Duration>(period->nanos);
}

std::optional<base::WallTime> PauseEndOf(const Annotations& annotations, const AnnotationKeys& keys,
                                         base::WallTime now) {
  const std::string* paused_at = NonEmpty(annotations, keys.paused_at);
  if (paused_at == nullptr) {
    return std::nullopt;
  }
  const auto begin = apimachinery::Time::Parse(*paused_at);
  const auto period = PausePeriodOf(annotations, keys);
  if (!begin || !period || !*period) {
    return base::WallTime();
  }
  // The sum is made in seconds first, because a begin in the far past or future does not fit into
  // nanoseconds.
  constexpr std::int64_t kMaxSeconds = std::int64_t{1} << 32;
  if (begin->seconds < 0 || begin->seconds > kMaxSeconds) {
    return base::WallTime();
  }
  const base::WallTime begun{std::chrono::seconds(begin->seconds)};
  if (begun > now + kMostAhead) {
    return base::WallTime();
  }
  return begun + std::chrono::duration_cast<base::WallTime::duration>(
                     std::min<base::Duration>(**period, std::chrono::hours(24 * 3650)));
}

Pauses::Pauses(Parts parts)
    : parts_(std::move(parts)),
      queue_({.name = "reloader-pauses",
              .clock = parts_.clock,
              .registry = parts_.registry,
              .rate_limiter = Backoff(),
              .executor = parts_.executor,
              .on_ready = [this] { worker_.OnReady(); }}),
      worker_(queue_, {.executor = parts_.executor,
                       .clock = parts_.clock,
                       .handle = [this](const workqueue::Queue::Item& item,
                                        const std::stop_token& stop) { Handle(*item, stop); }}) {
  worker_.Start(stop_.get_token());
}

Pauses::~Pauses() { Stop(); }

void Pauses::Stop() {
  stop_.request_stop();
  worker_.Stop();
}

Result<void> Pauses::AddTo(const Workload& workload, WorkloadWrite& write,
                           const std::stop_token& stop) {
  if (Find(workload.annotations, parts_.keys.pause_period) == nullptr) {
    return {};
  }
  if (workload.id.kind != WorkloadKind::kDeployment) {
    logging::Warning("Only Deployments can be paused; the workload is reloaded without a pause",
                     {{"workload", workload.id.key.name},
                      {"kind", KindName(workload.id.kind)},
                      {"namespace", workload.id.key.namespace_}});
    return {};
  }
  KX_ASSIGN_OR_RETURN(const auto period, PausePeriodOf(workload.annotations, parts_.keys));
  if (!period || *period <= base::Duration(0)) {
    return {};
  }
  KX_ASSIGN_OR_RETURN(const PauseState state, parts_.query(workload.id, stop));
  if (!state.paused) {
    write.paused = true;
    write.annotations[parts_.keys.paused_at] =
        apimachinery::Time::From(parts_.clock.Wall()).ToString();
  }
  return {};
}

void Pauses::Consider(const apimachinery::ObjectKey& key) { queue_.Add({"Deployment", key}); }

void Pauses::Handle(const workqueue::Key& key, const std::stop_token& stop) {
  const auto looked = Look({WorkloadKind::kDeployment, key.object}, stop);
  if (!looked) {
    if (!stop.stop_requested()) {
      logging::Error("Cannot resume a Deployment; the operator tries again",
                     {{"workload", key.object.name},
                      {"namespace", key.object.namespace_},
                      {"error", looked.error()}});
    }
    queue_.AddRateLimited(key);
    return;
  }
  queue_.Forget(key);
  if (*looked) {
    queue_.AddAfter(key, std::min(**looked, kMaxWait));
  }
}

Result<std::optional<base::Duration>> Pauses::Look(const WorkloadId& id,
                                                   const std::stop_token& stop) {
  const std::optional<base::Duration> done;
  const base::WallTime now = parts_.clock.Wall();
  const auto workload = parts_.get(id);
  const auto end = workload ? PauseEndOf(workload->annotations, parts_.keys, now) : std::nullopt;
  if (!end) {
    return done;
  }
  // A Deployment that is no longer paused was resumed by somebody. The mark is removed at once, so
  // that their next pause is not regarded as the operator's.
  if (workload->paused && *end > now) {
    return std::optional<base::Duration>(*end - now);
  }
  const auto permit = parts_.held_shards != nullptr ? parts_.held_shards->Enter(id.key.namespace_)
                                                    : std::optional<HeldShards::Permit>();
  if (parts_.held_shards != nullptr && !permit) {
    return parts_.held_shards->IsOpenFor(id.key.namespace_) ? std::optional(kShardPause) : done;
  }
  auto ended = End(id, stop);
  if (!ended && apimachinery::IsObjectNotFound(ended.error())) {
    return done;
  }
  if (!ended && ended.error().reason == Reason::kConflict) {
    return std::optional(kConflictPause);
  }
  return ended;
}

Result<std::optional<base::Duration>> Pauses::End(const WorkloadId& id,
                                                  const std::stop_token& stop) {
  const std::optional<base::Duration> done;
  KX_ASSIGN_OR_RETURN(const PauseState state, parts_.query(id, stop));
  const base::WallTime now = parts_.clock.Wall();
  const auto end = PauseEndOf(state.annotations, parts_.keys, now);
  if (!end) {
    return done;
  }
  const bool is_own = state.paused && !state.by_others;
  if (is_own && *end > now) {
    // This is a later pause than the one that was looked for.
    return std::optional<base::Duration>(*end - now);
  }
  // The write names the version, so that a pause that begins meanwhile keeps its mark.
  const WorkloadWrite write{.resource_version = state.resource_version,
                            .annotations = {{parts_.keys.paused_at, std::nullopt}},
                            .paused = state.paused && state.by_others};
  KX_ASSIGN_OR_RETURN(const WriteOutcome written, parts_.writer.Write(id, write, stop));
  if (written.made) {
    logging::Info(is_own ? "Resumed a Deployment"
                  : state.paused
                      ? "A Deployment stays paused, as somebody else has paused it"
                      : "Somebody else has resumed a Deployment that the operator had paused",
                  {{"workload", id.key.name}, {"namespace", id.key.namespace_}});
  }
  return done;
}

}  // namespace kubexx::reloader
