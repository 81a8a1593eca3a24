#include "kubexx/reloader/watch/event_router.h"

#include <algorithm>
#include <utility>

#include "kubexx/cache/informer_event.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/model/source_trace.h"
#include "kubexx/reloader/watch/provider_classes.h"
#include "kubexx/reloader/watch/source_event.h"

namespace kubexx::reloader {

using cache::RawEvent;

EventType EventTypeOf(const RawEvent& event) {
  switch (event.type) {
    case RawEvent::Type::kAdd:
      return EventType::kAdd;
    case RawEvent::Type::kUpdate:
      return EventType::kUpdate;
    case RawEvent::Type::kDelete:
      break;
  }
  return EventType::kDelete;
}

std::function<void(const RawEvent&)> EventRouter::SourceHandler(SourceType type,
                                                                std::stop_token stop) {
  return
      [this, type, stop = std::move(stop)](const RawEvent& event) { OnSource(type, event, stop); };
}

void EventRouter::OnSource(SourceType type, const RawEvent& event, const std::stop_token& stop) {
  const EventType event_type = EventTypeOf(event);
  parts_.metrics.EventReceived(event_type, type);
  bool dropped = false;
  if (parts_.rules.keys.other_namespaces) {
    OnForeign(type, event, stop);
  }
  if (parts_.absences != nullptr && !event.is_in_initial_list) {
    parts_.absences->Forget({type, event.key()});
  }
  if (!IsSelected(event.key().namespace_, stop)) {
    parts_.metrics.Skipped(SkipReason::kIgnoredOrNotSelected);
  } else if (type == SourceType::kSecretProviderClass || event.type != RawEvent::Type::kAdd ||
             !event.is_in_initial_list) {
    dropped = !parts_.caches.WaitForWorkloads(stop) ||
              !(type == SourceType::kSecretProviderClass ? OnPodStatus(event)
                                                         : OnSourceChange(type, event));
  }
  parts_.metrics.EventProcessed(event_type, type, dropped);
}

bool EventRouter::IsSelected(const std::string& namespace_, const std::stop_token& stop) const {
  return !parts_.ignored_namespaces.contains(namespace_) &&
         (parts_.namespaces == nullptr ||
          (parts_.namespaces->WaitForSync(stop) && parts_.namespaces->Contains(namespace_)));
}

bool EventRouter::IsCreated(const RawEvent& event) const {
  // An update is of an object that has got its last missing field.
  return parts_.rules.reload_on_create &&
         (event.type == RawEvent::Type::kUpdate || parts_.absences == nullptr ||
          !parts_.absences->has_selector() || IsAsCreated(event.object()));
}

bool EventRouter::OnSourceChange(SourceType type, const RawEvent& event) {
  const auto meaning = MeaningOf(type, event);
  if (!meaning) {
    return true;
  }
  const bool deleted = *meaning == RawEvent::Type::kDelete;
  auto source = SourceFrom(type, deleted ? event.old_object() : event.object());
  if (!source && IsDescribed(type)) {  // it could not be decoded, as its informer has reported
    if (deleted) {
      NoteWorkloads({.id = {type, event.key()}}, nullptr);
    }
    return true;  // nothing rolls for what is not known
  }
  if (!source) {
    logging::Error("Cannot read the source that an event tells of",
                   {{"type", NamesOf(type).upper},
                    {"source", event.key().ToString()},
                    {"error", source.error()}});
    return false;
  }
  if (parts_.history != nullptr) {
    NoteKeys(type, event);
  }
  if (deleted) {
    const Move before{.digest = std::exchange(source->digest, kNoSource),
                      .version = VersionNumber(event.old_resource_version()),
                      .prints = std::exchange(source->prints, {})};
    // A list shows that the source is gone, but not since when.
    source->resource_version =
        event.final_state_unknown ? 0 : VersionNumber(event.resource_version());
    NoteWorkloads(*source, &before);
    return true;
  }
  if (*meaning == RawEvent::Type::kAdd) {
    source->resource_version = VersionNumber(event.resource_version());
    // A workload that rolled for an earlier source of this name may be behind.
    const Move nothing{.digest = kNoSource};
    NoteWorkloads(*source, IsCreated(event) ? &nothing : nullptr);
    return true;
  }
  if (!event.is_single_change) {
    NoteUnseenWrites(source->id, {.from = VersionNumber(event.old_resource_version()),
                                  .to = VersionNumber(event.resource_version())});
  }
  const auto old_source = SourceFrom(type, event.old_object());
  if (old_source && old_source->digest == source->digest) {
    parts_.metrics.Skipped(SkipReason::kNoDataChange);
    if (*old_source != *source) {  // the ignore or the match annotation has changed
      NoteWorkloads(*source, nullptr);
    } else {
      NoteDoubted(source->id);
    }
    return true;
  }
  source->resource_version = VersionNumber(event.resource_version());
  const Move before =
      old_source ? Move{.digest = old_source->digest, .prints = old_source->prints} : Move();
  NoteWorkloads(*source, old_source ? &before : nullptr);
  return true;
}

void EventRouter::NoteKeys(SourceType type, const RawEvent& event) {
  struct State {
    Digest digest = kNoSource;
    std::optional<SourceTrace> trace{};
    bool is_known = true;
  };
  const auto state_of = [&](const cache::Object& object) {
    const auto source = SourceFrom(type, object);
    return State{source ? source->digest : kNoSource, TraceFrom(object), source.has_value()};
  };
  const bool is_new = event.type == RawEvent::Type::kAdd;
  const bool is_gone = event.type == RawEvent::Type::kDelete;
  const State before = is_new ? State() : state_of(event.old_object());
  const State now = is_gone ? State() : state_of(event.object());
  if (before.digest == now.digest || !before.is_known || !now.is_known) {
    return;
  }
  parts_.history->changes().Add(
      {type, event.key()},
      ChangeBetween(type, before.digest, before.trace ? &*before.trace : nullptr, now.digest,
                    now.trace ? &*now.trace : nullptr,
                    apimachinery::Time::From(parts_.clock.Wall())));
}

bool EventRouter::OnPodStatus(const RawEvent& event) {
  if (event.type == RawEvent::Type::kDelete) {
    return true;  // the pods go, and what they reported stays known
  }
  auto report = PodReportFrom(event.object());
  if (!report) {
    logging::Error("Cannot read the SecretProviderClassPodStatus that an event tells of",
                   {{"status", event.key().ToString()}, {"error", report.error()}});
    return false;
  }
  if (!*report) {
    return true;
  }
  PodReport& now = **report;
  if (event.type == RawEvent::Type::kUpdate) {
    const auto old_report = PodReportFrom(event.old_object());
    const bool had = old_report && *old_report && (*old_report)->source == now.source;
    if (had && (*old_report)->digest == now.digest) {
      parts_.metrics.Skipped(SkipReason::kNoDataChange);
      return true;
    }
    now.updated = had;  // a first report is not a change
  }
  const auto before = parts_.caches.GetSource(now.source);
  if (!parts_.caches.provider_classes().Observe(now)) {
    return true;
  }
  if (const auto source = parts_.caches.GetSource(now.source)) {
    const Move had{.digest = before ? before->digest : kNoSource};
    NoteWorkloads(*source, now.updated && before ? &had : nullptr);
  }
  return true;
}

void EventRouter::OnProviderClass(const RawEvent& event, const std::stop_token& stop) {
  const SourceId id{SourceType::kSecretProviderClass, event.key()};
  if (event.type == RawEvent::Type::kDelete) {
    parts_.caches.provider_classes().Forget(id);
    return;
  }
  if (event.type == RawEvent::Type::kUpdate && event.object().bytes == event.old_object().bytes) {
    return;
  }
  if (!parts_.caches.WaitForWorkloads(stop) || !IsSelected(id.key.namespace_, stop)) {
    return;
  }
  if (const auto source = parts_.caches.GetSource(id)) {
    NoteWorkloads(*source, nullptr);
  }
}

bool EventRouter::IsOnlyEnd(const Source& source, const Move* before) const {
  return before != nullptr && source.digest == kNoSource && !source.unknown &&
         !parts_.rules.reload_on_delete;
}

void EventRouter::NoteWorkloads(const Source& source, const Move* before) {
  if (before != nullptr && parts_.recent != nullptr) {
    parts_.recent->Add(source.id, before->digest, {source.digest, source.resource_version});
  }
  const Caches::Concerned users = parts_.caches.WorkloadsOf(source.id);
  const bool is_listed_for = parts_.on_demand.Changed(
      source.id, before == nullptr ? std::nullopt : std::optional(before->digest),
      !users.by_name.empty() || !users.by_pattern.empty(), source.resource_version);
  const auto is_wanted = [&](const WorkloadId& workload) {
    // The watch may have been refused since then, and nobody would list for this change.
    return !IsOnlyEnd(source, before) &&
           (!is_listed_for || !parts_.on_demand.Covers(workload.kind, workload.key.namespace_));
  };
  NoteKnown(source, before, is_wanted);
}

// Some ConfigMaps are written each second and used by many workloads. In most cases there is
// nothing to look at then.
void EventRouter::NoteDoubted(const SourceId& source) {
  const Caches::Concerned concerned = parts_.caches.WorkloadsOf(source);
  for (const auto* workloads : {&concerned.by_name, &concerned.by_pattern}) {
    for (const WorkloadId& workload : *workloads) {
      if (parts_.memory.IsReleased(workload)) {
        parts_.note(workload, Cause::kWorkloadEvent);
      }
    }
  }
}

void EventRouter::NoteUnseenWrites(const SourceId& source, const UnseenWrites& writes) {
  if (writes.from == 0 || writes.from >= writes.to) {
    return;
  }
  const Caches::Concerned concerned = parts_.caches.WorkloadsOf(source);
  for (const auto* workloads : {&concerned.by_name, &concerned.by_pattern}) {
    for (const WorkloadId& workload : *workloads) {
      if (parts_.memory.RecordUnseenWrites(workload, source, writes)) {
        parts_.note(workload, Cause::kWorkloadEvent);
      }
    }
  }
}

void EventRouter::OnListed(const SourceId& id, const std::optional<Digest>& before) {
  const Source source = parts_.caches.GetSource(id).value_or(Source{.id = id});
  const Move had{.digest = before.value_or(kNoSource)};
  const Move* const known = before ? &had : nullptr;
  NoteKnown(source, known, [&](const WorkloadId&) { return !IsOnlyEnd(source, known); });
}

void EventRouter::NoteKnown(const Source& source, const Move* before,
                            base::FunctionRef<bool(const WorkloadId&)> wanted) {
  const Move now{.digest = source.digest,
                 .version = source.resource_version,
                 .prints = source.prints,
                 .prints_before = before == nullptr ? KeyPrints() : before->prints};
  // An event without earlier data that is about something else, for example annotations, names no
  // version.
  const bool is_made = source.id.type != SourceType::kSecretProviderClass &&
                       source.digest != kNoSource && source.resource_version != 0;
  const auto note = [&](const WorkloadId& workload) {
    if (before != nullptr) {
      Record(workload, source.id, *before, now);
    } else if (is_made) {
      parts_.memory.RecordCreation(workload, source.id, now);
    }
    if (wanted(workload)) {
      parts_.note(workload, CauseOf(source, workload));
    }
  };
  const Caches::Concerned concerned = parts_.caches.WorkloadsOf(source.id);
  std::ranges::for_each(concerned.by_name, note);
  if (IsForeign(source.id)) {
    return;  // no pattern matches it
  }
  MatchBudget budget;
  for (const WorkloadId& id : concerned.by_pattern) {
    const auto workload = parts_.caches.GetWorkload(id);
    if (!workload) {
      continue;
    }
    const auto text = ReloadTextOf(*workload, source.id.type, parts_.rules.keys);
    const auto list = text ? ListFor(*text, budget) : nullptr;
    // The plan drops a source that does not concern the workload.
    if ((text && !budget.Take(list.get(), source.id.key.name)) ||
        Reloads(Decide(source, *workload, parts_.rules, list.get()))) {
      note(id);
    }
  }
}

Cause EventRouter::CauseOf(const Source& source, const WorkloadId& workload) const {
  // A release that changes these makes no pods.
  if (source.release.empty() || workload.kind == WorkloadKind::kCronJob ||
      workload.kind == WorkloadKind::kJob) {
    return Cause::kSourceEvent;
  }
  const auto user = parts_.caches.GetWorkload(workload);
  return user && user->release == source.release ? Cause::kReleaseEvent : Cause::kSourceEvent;
}

void EventRouter::Record(const WorkloadId& workload, const SourceId& source, const Move& before,
                         const Move& now) {
  if (now.digest == kNoSource) {
    parts_.memory.RecordEnd(workload, source, before, now.version);
  } else {
    parts_.memory.RecordChange(workload, source, before.digest, now);
  }
}

}  // namespace kubexx::reloader
