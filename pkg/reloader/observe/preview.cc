#include "kubexx/reloader/observe/preview.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "kubexx/reloader/in_place/in_place_verdict.h"
#include "kubexx/reloader/in_place/reload_action.h"
#include "kubexx/reloader/model/object_refs.h"
#include "kubexx/reloader/observe/explain.h"
#include "kubexx/reloader/plan/pair_memory.h"

namespace kubexx::reloader {
namespace {

using reloadpolicy::Hold;
using reloadpolicy::HoldReason;
using reloadpolicy::ObjectRef;

/// A version that is later than everything in the store.
constexpr std::uint64_t kNextVersion = std::numeric_limits<std::uint64_t>::max();

/// Returns why the policies hold back a source of the change.
std::optional<Hold> HoldOf(const ChangedSource& changed, const reloadpolicy::PolicySet& policies) {
  const ObjectRef ref = RefOf(changed.source.id);
  if (changed.source.paused) {
    return Hold{
        .reason = HoldReason::kSourcePaused,
        .message = ref.ToString() + " is paused (annotation " + std::string(kSourcePaused) + ")"};
  }
  if (const auto pause = policies.SourcePause(ref)) {
    return Hold{.reason = HoldReason::kSourcePaused,
                .message = ref.ToString() + " is paused (" + pause->origin + ")",
                .policy = pause->policy};
  }
  return std::nullopt;
}

/// Finds out what would happen to the workloads of one namespace.
class Previewer {
 public:
  Previewer(const PreviewInput& input, Preview& preview) : input_(input), preview_(preview) {}

  apimachinery::Result<void> Run() {
    for (std::size_t i = 0; i < input_.users.size(); ++i) {
      if (i > 0 && input_.is_over && input_.is_over()) {
        preview_.not_looked_at += input_.users.size() - i;
        preview_.looked_at = i;
        break;
      }
      KX_RETURN_IF_ERROR(Look(input_.users[i]));
    }
    for (const Forecast& forecast :
         ForecastRollouts(input_.arbiter, std::move(due_), input_.users, input_.now)) {
      PreviewedRollout& rollout = rollouts_.at(forecast.workload);
      rollout.forecast = forecast;
      preview_.rollouts.push_back(std::move(rollout));
    }
    return {};
  }

 private:
  apimachinery::Result<void> Look(const Workload& workload) {
    PairMemory memory;
    std::set<SourceId> due_before;
    KX_RETURN_IF_ERROR(input_.with_sources(workload, false, [&](const SourceLookup& sources) {
      const Plan plan = MakePlan(workload, sources, Knowledge{}, input_.rules, patterns_);
      for (const Change& change : plan.changes) {
        due_before.insert(change.causes.begin(), change.causes.end());
      }
      memory.Apply(workload.id, plan);
    }));
    // Builds the same change that the event of a watch would tell of.
    for (const auto& [id, changed] : input_.changed) {
      const Digest before = input_.before(id);
      const Move move{changed.source.digest, kNextVersion};
      if (before == kNoSource) {
        memory.RecordCreation(workload.id, id, move);
      } else if (before != changed.source.digest) {
        memory.RecordChange(workload.id, id, before, move);
      }
    }
    return input_.with_sources(workload, true, [&](const SourceLookup& sources) {
      Take({.workload = workload,
            .sources = sources,
            .rules = input_.rules,
            .arbiter = input_.arbiter,
            .now = input_.now,
            .known = memory.Get(workload.id)},
           due_before);
    });
  }

  void Take(const ExplainInput& after, const std::set<SourceId>& due_before) {
    const Workload& workload = after.workload;
    const Plan plan = MakePlan(workload, after.sources, after.known, input_.rules, patterns_);
    DueWorkload due;
    bool has_others = false;
    for (const auto& [id, changed] : input_.changed) {
      if (!IsDue(plan, id)) {
        has_others = true;
        continue;
      }
      due.causes.insert(id);
      if (auto hold = HoldOf(changed, input_.arbiter.policies())) {
        due.held = std::move(hold);
      }
    }
    if (has_others && input_.with_others) {
      TakeOthers(after, due_before);
    }
    if (due.causes.empty()) {
      return;
    }
    RolloutObstacles obstacles = ObstaclesTo(after);
    PreviewedRollout rollout{.causes = {due.causes.begin(), due.causes.end()},
                             .was_due = !due_before.empty(),
                             .refused = std::move(obstacles.refused),
                             .left_alone = std::move(obstacles.left_alone),
                             .pause = std::move(obstacles.pause)};
    if (input_.rules.reload_in_place) {
      const InPlaceVerdict verdict = JudgeInPlace(workload, rollout.causes, true);
      rollout.in_place = verdict.action ? ShownAction(*verdict.action) : std::string();
    }
    due.workload = &workload;
    rollouts_[workload.id] = std::move(rollout);
    due_.push_back(std::move(due));
  }

  /// Tells why sources of the change do not roll the workload.
  void TakeOthers(const ExplainInput& after, const std::set<SourceId>& due_before) {
    for (SourceExplanation& source : Explain(after).sources) {
      if (source.due || !input_.changed.contains(source.id)) {
        continue;
      }
      if (source.verdict == Verdict::kNoRule && source.container.empty()) {
        continue;  // the name is a pattern that might have matched
      }
      preview_.others.push_back({after.workload.id, source.id,
                                 Reloads(source.verdict) && due_before.contains(source.id)
                                     ? "a rollout for it is due at present, and the change calls "
                                       "it off: it brings back the data that the workload runs "
                                       "with"
                                     : std::move(source.summary)});
    }
  }

  const PreviewInput& input_;
  Preview& preview_;
  PatternCache patterns_;
  std::map<WorkloadId, PreviewedRollout> rollouts_;
  std::vector<DueWorkload> due_;
};

}  // namespace

apimachinery::Result<void> AddPreview(const PreviewInput& input, Preview& preview) {
  return Previewer(input, preview).Run();
}

}  // namespace kubexx::reloader
