#include "kubexx/reloader/event_router.h"

#include <algorithm>

#include "kubexx/logging/log.h"
#include "kubexx/reloader/job_keeper.h"
#include "kubexx/reloader/projection.h"
#include "kubexx/reloader/provider_classes.h"

namespace kubexx::reloader {
namespace {

using RawEvent = cache::SharedInformerBase::RawEvent;

/// Whether something is to be compared, or recorded.
bool Concerns(const Workload& workload, const DecisionRules& rules) {
  return IsKeeper(workload) ||
         std::ranges::any_of(workload.containers,
                             [](const Container& c) { return !c.variables.empty(); }) ||
         !WorkloadTerms(workload, rules).empty();
}

}  // namespace

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

void EventRouter::OnSource(SourceType type, const RawEvent& event, const std::stop_token& stop) {
  const EventType event_type = EventTypeOf(event);
  parts_.metrics.EventReceived(event_type, type);
  bool dropped = false;
  if (parts_.ignored_namespaces.contains(event.key().namespace_)) {
    parts_.metrics.Skipped(SkipReason::kIgnoredOrNotSelected);
  } else if (type == SourceType::kSecretProviderClass || event.type != RawEvent::Type::kAdd ||
             !event.is_in_initial_list) {
    dropped = !parts_.caches.WaitForWorkloads(stop) ||
              !(type == SourceType::kSecretProviderClass ? OnPodStatus(event)
                                                         : OnSourceChange(type, event));
  }
  parts_.metrics.EventProcessed(event_type, type, dropped);
}

bool EventRouter::OnSourceChange(SourceType type, const RawEvent& event) {
  const bool deleted = event.type == RawEvent::Type::kDelete;
  const auto source = SourceFrom(type, deleted ? event.old_object() : event.object());
  if (!source) {
    logging::Error("Event of a source cannot be read", {{"type", NamesOf(type).upper},
                                                        {"source", event.key().ToString()},
                                                        {"error", source.status()}});
    return false;
  }
  if (deleted) {
    if (parts_.rules.reload_on_delete) {
      NoteWorkloads(*source, &source->digest);
    }
    return true;
  }
  if (event.type == RawEvent::Type::kAdd) {
    // A workload that rolled for an earlier one of this name may be behind.
    NoteWorkloads(*source, parts_.rules.reload_on_create ? &kNoSource : nullptr);
    return true;
  }
  const auto old_source = SourceFrom(type, event.old_object());
  if (old_source && old_source->digest == source->digest) {
    parts_.metrics.Skipped(SkipReason::kNoDataChange);
    if (*old_source != *source) {  // the ignore or match annotation
      NoteWorkloads(*source, nullptr);
    }
    return true;
  }
  NoteWorkloads(*source, old_source ? &old_source->digest : nullptr);
  return true;
}

bool EventRouter::OnPodStatus(const RawEvent& event) {
  if (event.type == RawEvent::Type::kDelete) {
    return true;  // pods go; what they reported stays known
  }
  auto report = PodReportFrom(event.object());
  if (!report) {
    logging::Error("Event of a pod's SecretProviderClass cannot be read",
                   {{"status", event.key().ToString()}, {"error", report.status()}});
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
    now.updated = had;  // a first report is no change
  }
  const auto before = parts_.caches.GetSource(now.source);
  if (!parts_.caches.provider_classes().Observe(now)) {
    return true;
  }
  if (const auto source = parts_.caches.GetSource(now.source)) {
    NoteWorkloads(*source, now.updated && before ? &before->digest : nullptr);
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
  if (!parts_.caches.WaitForWorkloads(stop) ||
      parts_.ignored_namespaces.contains(id.key.namespace_)) {
    return;
  }
  if (const auto source = parts_.caches.GetSource(id)) {
    NoteWorkloads(*source, nullptr);
  }
}

void EventRouter::NoteWorkloads(const Source& source, const Digest* before) {
  parts_.on_demand.Changed(source.id, before == nullptr ? std::nullopt : std::optional(*before));
  NoteKnown(source, before, [&](const WorkloadId& workload) {
    return !parts_.on_demand.Covers(workload.kind, workload.key.namespace_);
  });
}

void EventRouter::OnListed(const SourceId& id, const std::optional<Digest>& before) {
  const auto source = parts_.caches.GetSource(id);
  NoteKnown(source.value_or(Source{.id = id}), before ? &*before : nullptr,
            [](const WorkloadId&) { return true; });
}

void EventRouter::NoteKnown(const Source& source, const Digest* before,
                            base::FunctionRef<bool(const WorkloadId&)> wanted) {
  const auto note = [&](const WorkloadId& workload) {
    if (before != nullptr) {
      parts_.memory.RecordChange(workload, source.id, *before);
    }
    if (wanted(workload)) {
      parts_.note(workload, Cause::kSourceEvent);
    }
  };
  const Caches::Concerned concerned = parts_.caches.WorkloadsOf(source.id);
  std::ranges::for_each(concerned.by_name, note);
  for (const WorkloadId& id : concerned.by_pattern) {
    const auto workload = parts_.caches.GetWorkload(id);
    std::vector<BadItem> bad_items;  // the reconcile of the workload reports them
    if (workload && Reloads(Decide(source, *workload, parts_.rules, parts_.patterns, bad_items))) {
      note(id);
    }
  }
}

void EventRouter::OnWorkload(WorkloadKind kind, const RawEvent& event) {
  const WorkloadId id{kind, event.key()};
  if (event.type == RawEvent::Type::kDelete) {
    parts_.memory.Forget(id);
    return;
  }
  if (event.type == RawEvent::Type::kUpdate && event.object().bytes == event.old_object().bytes) {
    return;  // nothing that counts here: status, scale, an image
  }
  const auto workload = WorkloadFrom(kind, event.object());
  if (!workload) {
    logging::Error(
        "Event of a workload cannot be read",
        {{"kind", KindName(kind)}, {"workload", id.key.ToString()}, {"error", workload.status()}});
    return;
  }
  if (event.type == RawEvent::Type::kUpdate) {
    const auto old_workload = WorkloadFrom(kind, event.old_object());
    if (!old_workload || old_workload->uid != workload->uid) {
      parts_.memory.Forget(id);  // deleted and made anew, unseen
    }
  }
  if (Concerns(*workload, parts_.rules) && !parts_.ignored_namespaces.contains(id.key.namespace_)) {
    if (event.type == RawEvent::Type::kAdd && event.is_in_initial_list) {
      parts_.memory.MarkNew(id);
    }
    if (event.type == RawEvent::Type::kAdd && !event.is_in_initial_list &&
        parts_.on_demand.Covers(kind, id.key.namespace_)) {
      // A list brings it along with changes that it may not have seen; those must be known before
      // it is planned, or the present data would pass for what it runs with.
      for (const auto& [source, before] : parts_.on_demand.Before(id.key.namespace_)) {
        parts_.memory.RecordChange(id, source, before);
      }
    }
    parts_.note(id, Cause::kWorkloadEvent);
  }
}

}  // namespace kubexx::reloader
