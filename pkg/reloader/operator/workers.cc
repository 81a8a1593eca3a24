#include "kubexx/reloader/operator/workers.h"

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/logging/log.h"
#include "kubexx/reloader/model/workload_kind.h"
#include "kubexx/tracing/span.h"

namespace kubexx::reloader {
namespace {

/// A key that is not a workload. In the queue, it stands for a check of sources that could not be
/// read.
const workqueue::Key kLateSources{"late sources", {}};
constexpr base::Duration kLateSourcesInterval = std::chrono::seconds(1);
// The time between two checks of a workload whose event is on its way.
constexpr base::Duration kUntilItsEvent = std::chrono::milliseconds(50);

std::string_view NameOf(Reconciler::Outcome outcome) {
  switch (outcome) {
    case Reconciler::Outcome::kNothing:
      return "nothing to do";
    case Reconciler::Outcome::kWritten:
      return "rolled";
    case Reconciler::Outcome::kRetry:
      return "to be tried again";
    case Reconciler::Outcome::kRefused:
      return "refused";
    case Reconciler::Outcome::kPutOff:
      return "put off";
  }
  return "";
}

double WorkSeconds(base::Duration d) { return std::chrono::duration<double>(d).count(); }

}  // namespace

Workers::Workers(Parts parts)
    : parts_(std::move(parts)),
      retries_(parts_.clock),
      late_sources_(parts_.caches),
      tasks_(parts_.queue,
             {.executor = parts_.executor,
              .clock = parts_.clock,
              .number = parts_.number,
              .handle = [this](workqueue::Queue::Item& item, const std::stop_token& stop) {
                Handle(item, stop);
              }}) {}

void Workers::Start(const std::stop_token& stop) {
  parts_.executor->Start();
  stop_ = stop;
  const base::MutexLock lock(mu_);
  begin_ = std::jthread([this] { Begin(); });
  state_ = State::kBeginning;
}

void Workers::Drain(base::Duration timeout) {
  parts_.queue.ShutDownAfterWindows();
  const base::TimePoint deadline = parts_.clock.Now() + timeout;
  State state = State::kIdle;
  {
    const base::MutexLock lock(mu_);
    while (state_ == State::kBeginning &&
           parts_.clock.WaitUntil(mu_, state_changed_, {}, deadline) != base::Wake::kTimeout) {
    }
    state = state_;
  }
  if (state == State::kBeginning) {
    logging::Warning(
        "The operator ends before its workers have begun, which wait for the first lists");
  } else if (state == State::kWorking && !tasks_.AwaitEnd(deadline)) {
    logging::Warning("The operator ends while workers still write", {{"workers", tasks_.busy()}});
  }
}

void Workers::Stop() {
  if (begin_.joinable()) {
    const base::Executor::Waiting waiting;
    begin_.join();
  }
  tasks_.Stop();
  const base::MutexLock lock(mu_);
  state_ = State::kIdle;
}

// On a thread of its own, because it waits for other tasks: as a task, it could have the only
// thread that the executor gets.
void Workers::Begin() {
  const bool begins = parts_.caches.WaitForSync(stop_) &&
                      (parts_.namespaces == nullptr || parts_.namespaces->WaitForSync(stop_)) &&
                      WaitForRolloutGate(stop_);
  if (begins) {
    if (parts_.gate != nullptr) {
      parts_.gate->OnSynced();
    }
    have_begun_ = true;
    LookForLateSources();
    tasks_.Start(stop_);
  }
  const base::MutexLock lock(mu_);
  state_ = begins ? State::kWorking : State::kIdle;
  state_changed_.notify_all();
}

// The gate must know all workloads before it is asked about one, except workloads of a kind that is
// late.
bool Workers::WaitForRolloutGate(const std::stop_token& stop) const {
  return parts_.gate == nullptr ||
         (parts_.gate->WaitForSync(stop) && parts_.listeners.AwaitWorkloads(stop));
}

// Looks at the workloads of namespaces whose sources could not be read before and can be read now,
// because there is no event for a source that was deleted since the last plan.
void Workers::LookForLateSources() {
  const LateSources::Found found = late_sources_.Look();
  for (const SourceSpace& space : found.known) {
    parts_.reconsider([&space](const std::string& name) {
      return space.namespace_.empty() || space.namespace_ == name;
    });
  }
  if (found.some_are_late) {
    parts_.queue.AddAfter(kLateSources, kLateSourcesInterval);
  }
}

void Workers::Handle(workqueue::Queue::Item& item, const std::stop_token& stop) {
  if (*item == kLateSources) {
    LookForLateSources();
    return;
  }
  const auto kind = ParseWorkloadKind(item->kind);
  if (!kind) {
    return;
  }
  const WorkloadId id{*kind, item->object};
  if (item.settling()) {
    KeepNoPlace(id);
    return;  // it has changed meanwhile, and comes again when it has settled
  }
  if (!parts_.queue.shutting_down() && parts_.reconciler.AwaitsEvent(id)) {
    parts_.queue.PutBack(std::move(item), kUntilItsEvent);
    return;
  }
  HandleSettled(item, id, stop);
}

void Workers::HandleSettled(workqueue::Queue::Item& item, const WorkloadId& id,
                            const std::stop_token& stop) {
  const workqueue::Key key = *item;
  const base::TimePoint now = parts_.clock.Now();
  const base::TimePoint due = item.settled() == nullptr ? now : item.settled()->due;
  const auto changed = item.settled() != nullptr && item.settled()->last ? item.settled()->last
                                                                         : retries_.Unanswered(key);
  parts_.metrics.Dequeued(item.settled() != nullptr, WorkSeconds(now - due));
  const Reconciler::Answer answer = ReconcileTraced(id, stop);
  if (answer.outcome == Reconciler::Outcome::kPutOff) {
    parts_.queue.PutBack(std::move(item), answer.again);
    return;
  }
  if (answer.outcome == Reconciler::Outcome::kRetry) {
    parts_.metrics.Retried();
    parts_.queue.AddAfter(key, retries_.After(key, answer.failure, changed));
    return;
  }
  if (answer.outcome == Reconciler::Outcome::kWritten && changed) {
    const base::TimePoint written = parts_.clock.Now();
    parts_.metrics.Reacted(WorkSeconds(written - *changed));
    parts_.metrics.ReactedAfterSettling(WorkSeconds(written - due));
  }
  if (answer.again > base::Duration(0)) {
    parts_.queue.AddAfter(key, answer.again);
  }
  retries_.Forget(key);
}

// The gate may have woken the workload and keep a place for it, which the workload does not use
// now.
void Workers::KeepNoPlace(const WorkloadId& id) {
  if (parts_.gate != nullptr) {
    parts_.gate->OnNothing(id);
  }
}

Reconciler::Answer Workers::ReconcileTraced(const WorkloadId& id, const std::stop_token& stop) {
  tracing::Span span =
      tracing::StartSpan(parts_.tracer, "reconcile workload", tracing::SpanKind::kInternal, {});
  const tracing::Scope scope(span);
  if (span.is_recording()) {
    span.Set("k8s.object.kind", std::string(KindName(id.kind)));
    span.Set("k8s.namespace.name", id.key.namespace_);
    span.Set("k8s.object.name", id.key.name);
  }
  Reconciler::Answer answer = ReconcileIfAllowed(id, stop);
  if (span.is_recording()) {
    span.Set("reloader.outcome", std::string(NameOf(answer.outcome)));
  }
  if (answer.outcome == Reconciler::Outcome::kRetry) {
    span.Fail("it did not succeed, and is tried again; the log tells why");
  }
  return answer;
}

// A workload that may not be reconciled now is looked at when it may be.
Reconciler::Answer Workers::ReconcileIfAllowed(const WorkloadId& id, const std::stop_token& stop) {
  if (parts_.namespaces != nullptr && !parts_.namespaces->Contains(id.key.namespace_)) {
    parts_.metrics.Skipped(SkipReason::kIgnoredOrNotSelected);
    KeepNoPlace(id);
    return {};
  }
  if (parts_.held_shards == nullptr) {
    return parts_.reconciler.Reconcile(id, stop, {.may_put_off = !parts_.queue.shutting_down()});
  }
  const auto permit = parts_.held_shards->Enter(id.key.namespace_);
  if (!permit) {
    // The shard is open but gives no permit: the Lease may be renewed any moment, and there is no
    // notification of that.
    if (parts_.held_shards->IsOpenFor(id.key.namespace_)) {
      return {Reconciler::Outcome::kRetry};
    }
    KeepNoPlace(id);
    return {};
  }
  std::stop_source either;
  const auto end = [&either] { either.request_stop(); };
  const std::stop_callback on_stop(stop, end);
  const std::stop_callback on_loss(permit->stop(), end);
  return parts_.reconciler.Reconcile(
      id, either.get_token(),
      {.tenure = permit->tenure(), .may_put_off = !parts_.queue.shutting_down()});
}

}  // namespace kubexx::reloader
