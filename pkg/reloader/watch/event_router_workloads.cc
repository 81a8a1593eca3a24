// Handles the events of workloads for an EventRouter.
#include <algorithm>
#include <cstdint>
#include <map>
#include <ranges>
#include <set>
#include <string>
#include <vector>

#include "kubexx/cache/informer_event.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/model/stamps.h"
#include "kubexx/reloader/plan/baseline.h"
#include "kubexx/reloader/watch/event_router.h"
#include "kubexx/reloadpolicy/phase.h"

namespace kubexx::reloader {
namespace {

using cache::RawEvent;

/// Whether there is something to compare or to record. The sources of a Rollout may be in a
/// Deployment that is not known yet.
bool Concerns(const Workload& workload, const DecisionRules& rules) {
  return IsKeeper(workload) || IsOfDeployment(workload) ||
         std::ranges::any_of(workload.containers,
                             [](const Container& c) { return !c.variables.empty(); }) ||
         !WorkloadTerms(workload, rules).empty();
}

/// Whether a plan has something to tell of the workload's annotations: bad items also where no rule
/// applies, because the only item of a list is one.
bool IsToBeLookedAt(const Workload& workload, const DecisionRules& rules) {
  return Concerns(workload, rules) || !BadValues(workload, rules).empty();
}

/// Whether the store has been restored to a state that is older than what was known.
bool GoesBack(const RawEvent& event) {
  return VersionNumber(event.resource_version()) < VersionNumber(event.old_resource_version());
}

/// Returns the version at which an update's change was written, or an earlier version.
std::uint64_t ChangedSince(const RawEvent& event) {
  if (event.is_single_change) {
    return VersionNumber(event.resource_version());
  }
  const std::uint64_t before = VersionNumber(event.old_resource_version());
  return before == 0 ? 0 : before + 1;
}

/// Whether an operator like this one changed the template. If it was this process, it knows for
/// what it rolled; if the data had changed again by then, another rollout shows that in the
/// variable. When no manager is recorded, for example because a variable was only removed, the
/// baseline that came with the change tells.
bool IsOwnRollout(const Workload& before, const Workload& now) {
  const TemplateWriter writer = WriterOfTemplate(before, now);
  return writer == TemplateWriter::kOperator ||
         (writer == TemplateWriter::kUnknown && HasRecorded(before, now));
}

/// Whether an operator has recorded a Job that it made of a CronJob for a change.
bool HasNewJob(const Workload& before, const Workload& now) {
  return now.id.kind == WorkloadKind::kCronJob && now.own_written &&
         before.own_written != now.own_written;
}

/// A resource version before which nothing was written after the recorded Job was made: the plan
/// for that Job had seen what the record names. 0: the record does not tell.
std::uint64_t JobMadeSince(const Workload& cron_job) {
  const auto recorded =
      Baseline::Parse(*Find(cron_job.annotations, kBaselineAnnotation), cron_job.id.key.namespace_);
  if (!recorded || recorded->template_written != Baseline::kNoTemplate ||
      recorded->versions.empty()) {
    return 0;
  }
  return std::ranges::max(std::views::values(recorded->versions)) + 1;
}

/// Whether the change is only outside of the pod template, in a field that does not count here.
/// More replicas are pods that begin, and fewer are none.
bool SameButForScale(Workload before, const Workload& now) {
  if (HasMoreReplicas(before, now)) {
    return false;
  }
  before.replicas = now.replicas;
  before.template_version.generation = now.template_version.generation;
  before.template_written = now.template_written;  // the same manager wrote it
  return before == now;
}

}  // namespace

void EventRouter::NoteTemplate(const Workload& before, const Workload& now, const RawEvent& event) {
  if (!event.is_single_change && MayHaveGoneThereAndBack(before, now)) {
    const std::string other = "another template before " + std::string(event.resource_version());
    const PairMemory::TemplateChange there{.since = ChangedSince(event),
                                           .until = VersionNumber(event.resource_version()),
                                           .before = before.template_version.digest,
                                           .now = other,
                                           .was_rolled_out = AllPodsAreReplaced(before)};
    PairMemory::TemplateChange back = there;
    back.before = other;
    back.now = now.template_version.digest;
    back.was_rolled_out = false;
    back.is_undo = IsUndo(before, now);
    NoteTemplateWith(now, there);
    NoteTemplateWith(now, back);
    if (AllPodsAreReplaced(now)) {
      parts_.memory.TemplateRolledOut(now.id);
    }
    return;
  }
  if (!HasOtherTemplate(before, now)) {
    if (before.paused && (!now.paused || !event.is_single_change)) {
      parts_.memory.Resumed(now.id,
                            event.is_single_change ? VersionNumber(event.resource_version()) : 0);
    }
    if (AllPodsAreReplaced(now) && !AllPodsAreReplaced(before)) {
      parts_.memory.TemplateRolledOut(now.id);
    }
    return;
  }
  const bool is_own = IsOwnRollout(before, now);
  // A CronJob starts nothing when its template changes.
  const bool begins_pods = now.id.kind != WorkloadKind::kCronJob;
  const PairMemory::TemplateChange change{
      .since = begins_pods ? ChangedSince(event) : 0,
      .until = VersionNumber(event.resource_version()),
      .before = before.template_version.digest,
      .now = now.template_version.digest,
      .was_rolled_out = AllPodsAreReplaced(before),
      .is_own = is_own,
      .stamps = is_own ? StampsOfOneRollout(before, now) : std::map<std::string, std::string>(),
      .all_stamps = is_own ? StampsOfRollouts(before, now) : std::set<std::string>(),
      .is_undo = !is_own && IsUndo(before, now),
      .is_paused = now.paused && event.is_single_change};
  NoteTemplateWith(now, change);
}

void EventRouter::NoteTemplateWith(const Workload& now, const PairMemory::TemplateChange& change) {
  if (Concerns(now, parts_.rules)) {
    NoteTemplateOf(now.id, change);
  }
  if (now.id.kind == WorkloadKind::kDeployment) {
    for (const WorkloadId& id : parts_.caches.RolloutsOf(now.id.key)) {
      PairMemory::TemplateChange of_rollout = change;
      of_rollout.is_paused = false;  // its pause is told of by another watch
      // The pods belong to the Rollout. The Deployment has none, or is about to lose them.
      if (const auto rollout = parts_.caches.GetWorkload(id)) {
        of_rollout.was_rolled_out = AllPodsAreReplaced(*rollout);
      }
      NoteTemplateOf(id, of_rollout);
    }
  }
}

void EventRouter::NotePods(const Workload& before, const Workload& now, const RawEvent& event) {
  using PodsBegin = PairMemory::PodsBegin;
  using reloadpolicy::Phase;
  const bool is_same = !HasOtherTemplate(before, now) &&
                       (event.is_single_change || !MayHaveGoneThereAndBack(before, now));
  if (!Concerns(now, parts_.rules)) {
    return;
  }
  if (is_same && HasMoreReplicas(before, now)) {
    parts_.memory.NotePods(now.id, PodsBegin::kAdded);
    if (IsThrough(now.phase) || now.reloads_alone) {
      parts_.memory.NotePods(now.id, PodsBegin::kNo);  // a list tells of them when they are there
    }
    return;
  }
  const bool is_seen =
      is_same && before.phase == Phase::kUnseen && now.phase == Phase::kUnavailable;
  if (is_same && ((before.paused && now.paused) || (is_seen && now.replicas))) {
    return;  // the status does not tell whether the pods of a write to more replicas still begin
  }
  if (!BeginsPods(now)) {
    // Of kinds without replicas, it may be more pods that such a write leaves unavailable. Where
    // there are replicas, pods that are being added exist before they begin, and a pause does not
    // keep them.
    const bool may_be_adding =
        is_same && now.replicas && !IsThrough(now.phase) && !now.reloads_alone;
    parts_.memory.NotePods(now.id, is_seen && !now.paused ? PodsBegin::kYes
                                   : may_be_adding        ? PodsBegin::kOnlyAdded
                                                          : PodsBegin::kNo);
  } else if (is_same && before.paused) {
    parts_.memory.NotePods(now.id, PodsBegin::kOnResume);
  } else if (!is_same || now.phase != Phase::kUnseen) {
    parts_.memory.NotePods(now.id, PodsBegin::kYes);
  }  // else it may be a write to fewer replicas, or of something that begins no pods
}

void EventRouter::NoteTemplateOf(const WorkloadId& workload,
                                 const PairMemory::TemplateChange& change) {
  using News = PairMemory::TemplateNews;
  const News news = parts_.memory.TemplateChanged(workload, change);
  const bool is_undone = news == News::kUndone;
  if (news == News::kNone) {
    return;
  }
  if (!is_undone && parts_.set_backs != nullptr) {
    parts_.set_backs->SetBack(workload);
  }
  logging::Warning(is_undone
                       ? "Somebody undid a rollout before it had ended; its pods keep the earlier "
                         "data until a source changes or `kubectl rollout restart` is run"
                       : "A rollout of the operator was set back before it had ended, perhaps by a "
                         "GitOps tool; the operator makes it again",
                   {{"kind", KindName(workload.kind)},
                    {"namespace", workload.key.namespace_},
                    {"workload", workload.key.name}});
}

void EventRouter::NoteRecord(const Workload& before, const Workload& now, const RawEvent& event) {
  const std::uint64_t version = VersionNumber(event.resource_version());
  const bool looks_on =
      parts_.held_shards != nullptr && !parts_.held_shards->IsOpenFor(now.id.key.namespace_);
  if (HasRecorded(before, now)) {
    if (parts_.memory.IsNewRecord(
            now.id, PairMemory::SeenRecord::Of(*Find(now.annotations, kBaselineAnnotation), version,
                                               ChangedSince(event))) ||
        looks_on) {
      parts_.memory.RecordedByOthers(now.id);
      if (HasNewJob(before, now)) {
        parts_.memory.RunByOthers(now.id, event.is_single_change ? JobMadeSince(now) : 0, version);
      }
    }
  } else if (looks_on && HasOtherTemplate(before, now) && IsOwnRollout(before, now)) {
    parts_.memory.RolledByOthers(now.id, version);
  }
}

void EventRouter::NoteTemplateTime(const Workload& before, const Workload& now) {
  if (before.template_written == now.template_written ||
      parts_.ignored_namespaces.contains(now.id.key.namespace_)) {
    return;
  }
  // A process that starts later regards this as a release, and doubts the baseline once a source is
  // written: see IsReleased, which the plan reports.
  if (HasOwnRecord(now)) {
    parts_.note(now.id, Cause::kWorkloadEvent);
  }
  if (now.id.kind == WorkloadKind::kDeployment) {
    for (const WorkloadId& rollout : parts_.caches.RolloutsOf(now.id.key)) {
      parts_.note(rollout, Cause::kWorkloadEvent);
    }
  }
}

void EventRouter::ForgetVersions(const WorkloadId& workload) {
  parts_.memory.ForgetVersions(workload);
  if (workload.kind == WorkloadKind::kDeployment) {
    for (const WorkloadId& rollout : parts_.caches.RolloutsOf(workload.key)) {
      parts_.memory.ForgetVersions(rollout);
    }
  }
}

void EventRouter::OnWorkload(WorkloadKind kind, const RawEvent& event,
                             const std::stop_token& stop) {
  const WorkloadId id{kind, event.key()};
  if (event.type == RawEvent::Type::kDelete) {
    if (parts_.history != nullptr) {
      parts_.history->ends().Forget(id);
    }
    parts_.memory.Forget(id);
    parts_.told.Forget(id);
    parts_.note(id, Cause::kWorkloadEvent);  // other parts have to forget something, too
    return;
  }
  if (event.type == RawEvent::Type::kUpdate && GoesBack(event)) {
    ForgetVersions(id);
  }
  if (event.type == RawEvent::Type::kUpdate && event.object().bytes == event.old_object().bytes) {
    return;  // nothing changed that counts here: it was the status, the scale or an image
  }
  const auto workload = WorkloadFrom(kind, event.object());
  if (!workload) {
    logging::Error(
        "Cannot read the workload that an event tells of",
        {{"kind", KindName(kind)}, {"workload", id.key.ToString()}, {"error", workload.error()}});
    return;
  }
  const bool is_first = event.type == RawEvent::Type::kAdd && event.is_in_initial_list;
  bool is_new = event.type == RawEvent::Type::kAdd && !event.is_in_initial_list;
  bool was_looked_at = false;
  if (event.type == RawEvent::Type::kUpdate) {
    const auto old_workload = WorkloadFrom(kind, event.old_object());
    if (old_workload && parts_.history != nullptr) {
      parts_.history->ends().Observe(*old_workload, *workload,
                                     apimachinery::Time::From(parts_.clock.Wall()));
    }
    if (!old_workload || old_workload->uid != workload->uid) {
      parts_.memory.Forget(id);  // it was deleted and made anew without an event
      is_new = true;
    } else if (SameButForScale(*old_workload, *workload) &&
               (event.is_single_change || !MayHaveGoneThereAndBack(*old_workload, *workload))) {
      parts_.told.Told(id, workload->template_version);
      NoteTemplateTime(*old_workload, *workload);
      return;
    } else if (!parts_.ignored_namespaces.contains(id.key.namespace_)) {
      if (HasOwnRecord(*old_workload) && HasOtherTemplate(*old_workload, *workload)) {
        // A first plan would take the baseline for a later one than this event, and believe it.
        (void)parts_.memory.IsNewRecord(
            id, PairMemory::SeenRecord::Of(*Find(old_workload->annotations, kBaselineAnnotation),
                                           VersionNumber(event.old_resource_version())));
      }
      NoteTemplate(*old_workload, *workload, event);
      NotePods(*old_workload, *workload, event);
      NoteRecord(*old_workload, *workload, event);
    }
    was_looked_at = old_workload && !Concerns(*workload, parts_.rules) &&
                    IsToBeLookedAt(*old_workload, parts_.rules);
  }
  const std::uint64_t version =
      event.is_single_change ? VersionNumber(event.resource_version()) : 0;
  const std::uint64_t since =
      version != 0 || is_new ? version : VersionNumber(event.old_resource_version());
  if (kind == WorkloadKind::kDeployment && !parts_.ignored_namespaces.contains(id.key.namespace_)) {
    for (const WorkloadId& rollout : parts_.caches.RolloutsOf(id.key)) {
      if (const auto user = parts_.caches.GetWorkload(rollout)) {
        NoteWhatCameBefore(*user, since);
      }
      // The Deployment that it refers to has come or has changed.
      parts_.note(rollout, Cause::kWorkloadEvent);
    }
  }
  const bool is_ignored = parts_.ignored_namespaces.contains(id.key.namespace_);
  if (Concerns(*workload, parts_.rules) && !is_ignored) {
    const Workload user =
        IsOfDeployment(*workload) ? parts_.caches.GetWorkload(id).value_or(*workload) : *workload;
    const std::vector<SourceId> referenced = ReferencedSources(user);
    // A start plans workloads for the first time, but not those whose namespace is selected later.
    if (is_first && IsSelected(id.key.namespace_, stop)) {
      parts_.memory.MarkUnplanned(id);
      if (!AllPodsAreReplaced(*workload)) {
        parts_.memory.MarkUnfinished(id);
      }
    }
    if ((is_first || is_new) && BeginsPods(*workload)) {
      parts_.memory.NotePods(id, PairMemory::PodsBegin::kYes);
    }
    if (is_new) {
      if (version != 0) {
        parts_.memory.MarkAdded(id, version);
      }
      // A list brings the workload together with changes that it may not have seen. These must be
      // known before the workload is planned, because otherwise the present data would count as
      // those that it runs with. The same holds for a watch that begins long after its list.
      MatchBudget budget;
      for (const auto& [source, before] :
           parts_.on_demand.Covers(kind, id.key.namespace_)
               ? parts_.on_demand.Before(id.key.namespace_)
               : parts_.on_demand.BeforeSince(id.key.namespace_, version)) {
        if (MayUse(user, referenced, source, budget)) {
          parts_.memory.RecordChange(id, source, before);
        }
      }
    }
    if (!is_first) {
      NoteWhatCameBefore(user, since);
    }
    parts_.told.Told(id, workload->template_version);
    parts_.note(id, Cause::kWorkloadEvent);
  } else {
    parts_.told.Told(id, workload->template_version);
    // The plan rolls nothing. It reports what is bad, once, and forgets what is bad no more.
    if (!is_ignored && (was_looked_at || IsToBeLookedAt(*workload, parts_.rules))) {
      parts_.note(id, Cause::kWorkloadEvent);
    }
  }
}

}  // namespace kubexx::reloader
