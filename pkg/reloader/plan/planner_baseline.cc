#include "kubexx/reloader/plan/planner_baseline.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/stamps.h"
#include "kubexx/reloader/plan/foreign_list.h"

namespace kubexx::reloader {
namespace {

/// Returns the version in the baseline's text. There is none without Baseline::template_written.
std::uint64_t VersionIn(const Baseline& baseline, const SourceId& source) {
  return baseline.template_written ? baseline.VersionOf(source) : 0;
}

/// Whether a process that starts later would doubt what the baseline says of a source; see
/// MakePlan.
bool IsToBeRenewed(const RecordedOn& on, const Plan& plan) {
  return plan.is_released && std::ranges::any_of(plan.baseline.versions, [&](const auto& entry) {
           return on.recorded->VersionOf(entry.first) < entry.second;
         });
}

/// Whether the operator itself made the rollout by which the present pods began. What its baseline
/// leaves in doubt is no question any more after a while: see MakePlan.
bool IsRolledSince(const Workload& workload) {
  return workload.own_written && workload.template_written &&
         *workload.own_written >= *workload.template_written;
}

/// Whether the baseline may leave in doubt, for as long as it stays, with which data the pods of
/// the workload's template began: each later write of a source, be it only a label, raises that
/// question for whoever begins then.
bool MayStayInDoubt(const RecordedOn& on, const Plan& plan) {
  // A CronJob starts nothing when its template changes.
  return plan.template_written && on.workload.id.kind != WorkloadKind::kCronJob &&
         !plan.baseline.versions.empty() && !IsRolledSince(on.workload) &&
         (on.recorded == nullptr || plan.is_released);
}

bool IsInRecord(const RecordedOn& on, const Plan& plan, const SourceId& id, const Digest& digest) {
  const auto found = on.recorded->digests.find(id);
  return found != on.recorded->digests.end() && found->second == digest &&
         on.recorded->KeysOf(id) == plan.baseline.KeysOf(id) &&
         on.recorded->HasOtherFields(id) == plan.baseline.HasOtherFields(id) &&
         on.recorded->IsDue(id) == plan.baseline.IsDue(id);
}

/// The bytes of a baseline that a text may still have.
class Room {
 public:
  explicit Room(const Baseline& without_entries) : size_(without_entries.ToString().size()) {}
  /// Takes the room for an entry, if there is enough.
  bool Take(const SourceId& id, const Baseline& in) {
    return Take(Baseline::SizeOf(id, in.KeysOf(id), in.VersionOf(id), in.IsDue(id)));
  }
  /// Takes so many bytes, if there are enough.
  bool Take(std::size_t takes) {
    const bool fits = size_ + takes <= Baseline::kMaxBytes;
    size_ += fits ? takes : 0;
    return fits;
  }

 private:
  std::size_t size_;
};

/// Whether the workload names objects of described kinds, be it of some that this process does not
/// know.
bool NamesDescribed(const Workload& workload) {
  return Find(workload.annotations, kReloadOn) != nullptr ||
         Find(workload.template_annotations, kReloadOn) != nullptr;
}

/// Whether the workload names sources of other namespaces, and this process does not look at them
/// while others may.
bool IsForeignOfOthers(const RecordedOn& on, const SourceId& id) {
  return IsForeign(id) && !on.rules.keys.other_namespaces && NamesForeign(on.workload);
}

/// Adds what others have recorded, as far as there is room.
void KeepOfOthers(const RecordedOn& on, Room& room, Baseline& baseline) {
  const bool names_described = NamesDescribed(on.workload);
  for (const auto& [id, digest] : on.recorded->digests) {
    const bool is_of_others =
        (names_described && IsDescribed(id.type) && on.rules.Ignores(id.type)) ||
        IsForeignOfOthers(on, id);
    if (!baseline.digests.contains(id) && (on.referenced.contains(id) || is_of_others) &&
        room.Take(id, *on.recorded)) {
      baseline.SetAs(*on.recorded, id);
    }
  }
  for (const std::string& entry : on.recorded->unread) {
    if (names_described && room.Take(1 + entry.size())) {
      baseline.unread.insert(entry);
    }
  }
}

/// Removes what has no room from the plan's baseline.
void CutToSize(Room& room, Plan& plan) {
  auto& digests = plan.baseline.digests;
  std::erase_if(digests, [&](const auto& entry) {
    const bool is_cut = !room.Take(entry.first, plan.baseline);
    if (is_cut) {
      plan.left_out.push_back(entry.first);
    }
    return is_cut;
  });
  const auto is_left_out = [&](const auto& entry) { return !digests.contains(entry.first); };
  std::erase_if(plan.baseline.keys, is_left_out);
  std::erase_if(plan.baseline.versions, is_left_out);
  std::erase_if(plan.baseline.other_fields, is_left_out);
  std::erase_if(plan.baseline.due,
                [&](const SourceId& source) { return !digests.contains(source); });
}

}  // namespace

bool IsRecordOlderThanPods(const Workload& workload, const Baseline& recorded) {
  // A CronJob starts nothing when its template changes.
  const bool is_older = workload.id.kind == WorkloadKind::kCronJob
                            ? recorded.template_written == Baseline::kNoTemplate
                            : recorded.IsOlderThanTemplate(workload.template_written);
  return is_older && HasOwnRecord(workload);
}

void FinishBaseline(const RecordedOn& on, Plan& plan) {
  auto& digests = plan.baseline.digests;
  const Baseline* recorded = on.recorded;
  Room room({.uid = on.workload.uid,
             .is_of_next = on.workload.id.kind == WorkloadKind::kJob,  // with its next rollout
             .edition = plan.baseline.edition,
             .template_written = on.workload.template_written ? on.workload.template_written
                                                              : plan.baseline.template_written});
  CutToSize(room, plan);
  plan.is_released = recorded != nullptr && IsRecordOlderThanPods(on.workload, *recorded);
  const bool is_to_be_renewed = IsToBeRenewed(on, plan);
  const bool is_known = plan.has_seen_template && !plan.is_partly_unknown && !plan.incomplete;
  const bool may_stay = MayStayInDoubt(on, plan) && !plan.has_uncertain_changes;
  plan.is_to_be_dated = recorded != nullptr && may_stay && is_known;
  plan.record = !on.workload.uid.empty() && std::ranges::any_of(digests, [&](const auto& entry) {
    return recorded == nullptr || recorded->uid != on.workload.uid ||
           on.workload.baseline_restored || is_to_be_renewed || plan.is_to_be_dated ||
           !IsInRecord(on, plan, entry.first, entry.second);
  });
  plan.awaits_watches = !on.workload.uid.empty() && may_stay && !plan.has_seen_template;
  if (recorded == nullptr) {
    return;
  }
  // Or each write of the source would be one of the baseline, as long as a watch is behind, or
  // a rollout waits, or another operator looks after a part of the baseline: see BaselineAfter.
  const bool ends_doubts =
      (is_to_be_renewed && is_known && plan.changes.empty()) ||
      (plan.is_to_be_dated && recorded->template_written == Baseline::kNoTemplate);
  plan.is_news =
      ends_doubts || std::ranges::any_of(digests, [&](const auto& entry) {
        const auto found = recorded->digests.find(entry.first);
        // Patterns may match sources that come and go all the time.
        return found == recorded->digests.end()
                   ? on.named.contains(entry.first)
                   : found->second != entry.second ||
                         recorded->IsDue(entry.first) != plan.baseline.IsDue(entry.first);
      });
  KeepOfOthers(on, room, plan.baseline);
}

std::string BaselineAfter(const Plan& plan, const std::vector<Change>& written, PodsAre pods) {
  if (plan.baseline.uid.empty()) {
    return {};
  }
  Baseline baseline = plan.baseline;
  baseline.is_of_next = !written.empty() && pods == PodsAre::kOfNextJob;
  const bool is_reload = !written.empty() && pods == PodsAre::kKept;
  const bool is_all =
      !is_reload && written.size() == plan.changes.size() && !plan.is_partly_unknown;
  // A first baseline describes the present pods whatever waits, because for a rollout that waits it
  // has the data from before.
  const bool is_first = !baseline.template_written;
  const bool is_certain = is_all || (plan.is_to_be_dated && written.empty());
  if (plan.template_written && (is_first || (is_certain && !plan.incomplete))) {
    if (plan.has_seen_template) {
      baseline.template_written = plan.template_written;
    } else if (is_first) {
      baseline.template_written = Baseline::kNoTemplate;
    }
  }
  if (plan.is_run_by_jobs && is_all && written.empty() && plan.has_seen_template &&
      !plan.incomplete) {
    baseline.template_written.reset();  // there is no doubt any more, until the next Job
  }
  if ((baseline.template_written || plan.is_run_by_jobs) && !written.empty() && !is_reload) {
    // A watch may be behind this rollout, too, and its pods begin with what no event has told of.
    baseline.template_written = Baseline::kNoTemplate;
  }
  std::size_t size = baseline.ToString().size();
  for (const Change& change : written) {
    for (const auto& [source, digest] : change.sources) {
      const auto listed = change.keys.find(source);
      const std::string keys = listed == change.keys.end() ? std::string() : listed->second;
      const auto seen = plan.versions.find(source);
      const std::uint64_t version = seen == plan.versions.end() ? 0 : seen->second;
      const std::size_t had =
          baseline.digests.contains(source)
              ? Baseline::SizeOf(source, baseline.KeysOf(source), VersionIn(baseline, source),
                                 baseline.IsDue(source))
              : 0;
      baseline.Set(source, digest, keys, version);
      const std::size_t takes = Baseline::SizeOf(source, keys, VersionIn(baseline, source));
      if (size + takes <= Baseline::kMaxBytes + had) {
        size = size + takes - had;
      } else {
        size -= had;
        baseline.Erase(source);
      }
    }
  }
  return baseline.ToString();
}

}  // namespace kubexx::reloader
