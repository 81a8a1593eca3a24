#include "kubexx/reloader/pause.h"

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

// While the lease may be renewed any moment.
constexpr base::Duration kGatePause = std::chrono::seconds(1);
// The wall clock may be set: a long pause is looked at now and then.
constexpr base::Duration kMaxWait = std::chrono::hours(1);

const std::string* NonEmpty(const Annotations& annotations, const std::string& key) {
  const std::string* value = Find(annotations, key);
  return value != nullptr && !value->empty() ? value : nullptr;
}

std::shared_ptr<workqueue::RateLimiter> Backoff() {
  return workqueue::NewExponentialFailureRateLimiter(std::chrono::milliseconds(100),
                                                     std::chrono::minutes(1));
}

}  // namespace

Result<std::optional<base::Duration>> PausePeriodOf(const Workload& workload,
                                                    const AnnotationKeys& keys) {
  const std::string* text = Find(workload.annotations, keys.pause_period);
  if (text == nullptr) {
    return std::optional<base::Duration>();
  }
  const auto period = apimachinery::Duration::Parse(*text);
  if (!period) {
    return Fail(Reason::kInvalidConfig, "annotation " + keys.pause_period + ": \"" + *text +
                                            "\" is no duration; use one like 30s or 5m");
  }
  return std::optional<base::Duration>(period->nanos);
}

std::optional<base::WallTime> PauseEndOf(const Workload& workload, const AnnotationKeys& keys) {
  const std::string* paused_at = NonEmpty(workload.annotations, keys.paused_at);
  if (paused_at == nullptr) {
    return std::nullopt;
  }
  const auto begin = apimachinery::Time::Parse(*paused_at);
  const auto period = PausePeriodOf(workload, keys);
  if (!begin || !period || !*period) {
    return base::WallTime();
  }
  // In seconds first: a begin in the far past or future does not fit into nanoseconds.
  constexpr std::int64_t kMaxSeconds = std::int64_t{1} << 32;
  if (begin->seconds < 0 || begin->seconds > kMaxSeconds) {
    return base::WallTime();
  }
  return base::WallTime(std::chrono::seconds(begin->seconds)) +
         std::chrono::duration_cast<base::WallTime::duration>(
             std::min<base::Duration>(**period, std::chrono::hours(24 * 3650)));
}

Pauses::Pauses(Parts parts)
    : parts_(std::move(parts)),
      queue_({.name = "reloader-pauses",
              .clock = parts_.clock,
              .registry = parts_.registry,
              .rate_limiter = Backoff()}),
      thread_([this](const std::stop_token& stop) { Work(stop); }) {}

Pauses::~Pauses() { Stop(); }

void Pauses::Stop() {
  queue_.ShutDown();
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
}

Result<void> Pauses::AddTo(const Workload& workload, WorkloadWrite& write,
                           const std::stop_token& stop) {
  if (Find(workload.annotations, parts_.keys.pause_period) == nullptr) {
    return {};
  }
  if (workload.id.kind != WorkloadKind::kDeployment) {
    logging::Warning("Only Deployments can be paused; the workload is reloaded without",
                     {{"workload", workload.id.key.name},
                      {"kind", KindName(workload.id.kind)},
                      {"namespace", workload.id.key.namespace_}});
    return {};
  }
  KX_ASSIGN_OR_RETURN(const auto period, PausePeriodOf(workload, parts_.keys));
  if (!period || *period <= base::Duration(0)) {
    return {};
  }
  KX_ASSIGN_OR_RETURN(const bool paused, parts_.is_paused(workload.id, stop));
  if (!paused) {
    write.paused = true;
    write.annotations[parts_.keys.paused_at] =
        apimachinery::Time::From(parts_.clock.Wall()).ToString();
  }
  return {};
}

void Pauses::Consider(const apimachinery::ObjectKey& key) { queue_.Add({"Deployment", key}); }

void Pauses::Work(const std::stop_token& stop) {
  for (auto item = queue_.Get(stop); item; item = queue_.Next(std::move(item), stop)) {
    const workqueue::Key key = *item;
    const auto resumed = Resume({WorkloadKind::kDeployment, key.object}, stop);
    if (!resumed) {
      if (!stop.stop_requested()) {
        logging::Error("Deployment cannot be resumed; it is tried again",
                       {{"workload", key.object.name},
                        {"namespace", key.object.namespace_},
                        {"error", resumed.status()}});
      }
      queue_.AddRateLimited(key);
      continue;
    }
    queue_.Forget(key);
    if (*resumed) {
      queue_.AddAfter(key, std::min(**resumed, kMaxWait));
    }
  }
}

Result<std::optional<base::Duration>> Pauses::Resume(const WorkloadId& id,
                                                     const std::stop_token& stop) {
  const std::optional<base::Duration> done;
  const auto workload = parts_.get(id);
  const auto end = workload ? PauseEndOf(*workload, parts_.keys) : std::nullopt;
  if (!end) {
    return done;
  }
  if (const base::WallTime now = parts_.clock.Wall(); *end > now) {
    return std::optional<base::Duration>(*end - now);
  }
  const auto permit = parts_.gate != nullptr ? parts_.gate->Enter(id.key.namespace_)
                                             : std::optional<ShardGate::Permit>();
  if (parts_.gate != nullptr && !permit) {
    return parts_.gate->IsOpenFor(id.key.namespace_) ? std::optional(kGatePause) : done;
  }
  const auto paused = parts_.is_paused(id, stop);
  if (!paused) {
    return paused.status().reason == Reason::kNotFound ? Result<std::optional<base::Duration>>(done)
                                                       : Fail(paused.status());
  }
  if (!*paused) {
    return done;  // somebody has resumed it
  }
  WorkloadWrite write;
  write.uid = workload->uid;
  write.paused = false;
  write.annotations[parts_.keys.paused_at] = std::nullopt;
  const auto written = parts_.writer.Write(id, write, stop);
  if (!written && written.status().reason != Reason::kNotFound) {
    return Fail(written.status());
  }
  logging::Info("Deployment resumed",
                {{"workload", id.key.name}, {"namespace", id.key.namespace_}});
  return done;
}

}  // namespace kubexx::reloader
