#include "kubexx/reloader/observe/explain.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "kubexx/apimachinery/time.h"
#include "kubexx/reloader/in_place/in_place_verdict.h"
#include "kubexx/reloader/in_place/mount_check.h"
#include "kubexx/reloader/in_place/reload_action.h"
#include "kubexx/reloader/in_place/reloaded_changes.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/object_refs.h"
#include "kubexx/reloader/model/used_keys.h"
#include "kubexx/reloader/observe/explain_turn.h"
#include "kubexx/reloader/plan/baseline.h"
#include "kubexx/reloader/plan/foreign_list.h"
#include "kubexx/reloader/write/pause.h"

namespace kubexx::reloader {
namespace {

using reloadpolicy::Effective;
using reloadpolicy::ObjectRef;
using reloadpolicy::Setting;

std::string Shown(bool value) { return value ? "true" : "false"; }
std::string Shown(int value) { return std::to_string(value); }
std::string Shown(reloadpolicy::KeyScope value) { return std::string(ToString(value)); }
std::string Shown(const reloadpolicy::Waves& value) { return value.ToString(); }
std::string Shown(base::Duration value) { return apimachinery::Duration{value.count()}.ToString(); }
std::string Shown(const std::vector<reloadpolicy::MaintenanceWindow>& windows) {
  return std::to_string(windows.size()) + (windows.size() == 1 ? " window" : " windows");
}

template <class T>
void Add(const char* name, const std::optional<Setting<T>>& setting,
         std::vector<SettingExplanation>& to) {
  if (setting) {
    to.push_back({name, Shown(setting->value), setting->origin});
  }
}

template <class T>
void Add(const char* name, const std::vector<Setting<T>>& all,
         std::vector<SettingExplanation>& to) {
  for (const Setting<T>& setting : all) {
    to.push_back({name, Shown(setting.value), setting.origin});
  }
}

std::vector<SettingExplanation> SettingsOf(const Effective& effective) {
  std::vector<SettingExplanation> settings;
  Add("paused", effective.paused, settings);
  Add("settleWindow", effective.settle_window, settings);
  Add("minInterval", effective.min_interval, settings);
  Add("maxConcurrentRolloutsPerNamespace", effective.max_in_namespace, settings);
  Add("maxConcurrentRollouts", effective.max_in_cluster, settings);
  Add("healthGate", effective.health_gate, settings);
  Add("healthTimeout", effective.health_timeout, settings);
  Add("soakTime", effective.soak_time, settings);
  Add("stopAfterFailures", effective.stop_after_failures, settings);
  Add("maintenanceWindows", effective.windows, settings);
  Add("order", effective.order, settings);
  Add("keys", effective.keys, settings);
  Add("waves", effective.waves, settings);
  return settings;
}

/// Returns the sources that the workload mentions and those that its lists may name.
std::set<SourceId> Candidates(const ExplainInput& input) {
  std::set<SourceId> ids;
  for (SourceId& id : ReferencedSources(input.workload)) {
    ids.insert(std::move(id));
  }
  // Users without the CSI driver are not told of its types, nor of kinds that others describe.
  // Other types are named as left out.
  const auto is_unused = [&](SourceType type) {
    return (type == SourceType::kSecretProviderClass || IsDescribed(type)) &&
           input.rules.Ignores(type);
  };
  std::erase_if(ids, [&](const SourceId& id) { return is_unused(id.type); });
  ids.merge(ForeignSourcesOf(input.workload, input.rules.keys));
  for (const SourceType type : AllSourceTypes()) {
    if (is_unused(type)) {
      continue;
    }
    const ReloadList list = ReloadListOf(input.workload, type, input.rules.keys);
    for (const std::string& name : list.names) {
      ids.insert({type, {input.workload.id.key.namespace_, name}});
    }
    if (list.has_patterns) {
      for (std::string& name : input.sources.names(type)) {
        ids.insert({type, {input.workload.id.key.namespace_, std::move(name)}});
      }
    }
  }
  return ids;
}

std::string RuleText(const SourceExplanation& source) {
  switch (source.verdict) {
    case Verdict::kIgnored:
      return "its ignore annotation says that it never rolls anything";
    case Verdict::kExcluded:
      return "the workload's exclude list names it";
    case Verdict::kExplicit:
      return "the workload's reload list names it";
    case Verdict::kSearch:
      return "search finds it";
    case Verdict::kAuto:
      return "auto is on";
    case Verdict::kAutoAll:
      return "--auto-reload-all is on";
    case Verdict::kNoRule:
      break;
  }
  return "no annotation asks for it";
}

/// Returns the annotation that the source lacks, when search would find the source with it.
std::string MissingMatch(const ExplainInput& input, const SourceExplanation& source) {
  const AnnotationKeys& keys = input.rules.keys;
  const std::string* search =
      Find(EffectiveAnnotations(input.workload, source.id.type, keys), keys.search);
  return source.verdict == Verdict::kNoRule && search != nullptr && *search == "true"
             ? "search is on, but the source lacks the annotation " + keys.match + ": \"true\""
             : "";
}

std::string PauseText(const ExplainInput& input) {
  const Workload& workload = input.workload;
  if (!workload.paused) {
    return "";
  }
  const auto end = PauseEndOf(workload.annotations, input.rules.keys, input.now);
  if (workload.id.kind != WorkloadKind::kDeployment || !end || input.paused_by_others) {
    return "by somebody else; a rollout changes the pod template, and pods follow when it is "
           "resumed";
  }
  return "by the operator, since " + *Find(workload.annotations, input.rules.keys.paused_at) +
         (*end <= input.now ? ", and about to be resumed"
                            : ", until " + apimachinery::Time::From(*end).ToString()) +
         "; all changes until then become one rollout";
}

/// Returns the value that Pauses::AddTo refuses.
std::string RefusalIn(const ExplainInput& input) {
  if (input.workload.id.kind != WorkloadKind::kDeployment) {
    return "";
  }
  const auto period = PausePeriodOf(input.workload.annotations, input.rules.keys);
  return period ? "" : period.error().message;
}

std::string LeftAloneText() {
  return std::string(kSuspendedText) + " (annotation " + kRunSuspended +
         ": \"true\" lets a change start a Job nevertheless)";
}

/// Returns the keys that count when those are specified that the workload uses. It is empty when
/// the pod template uses all keys, and when a list alone says which keys count.
std::string UsedKeysText(const SourceExplanation& source, const Workload& workload) {
  const std::string why = " (keys: Referenced, " + source.by_use + ")";
  const auto used = workload.used_keys.find({source.id.type, source.id.key.name});
  if (used == workload.used_keys.end()) {
    return source.keys.empty()
               ? "; all of its keys count, since the pod template singles none of them out" + why
               : "";
  }
  if (source.keys == kNoKeys) {
    return "; none of its keys count: the pod template uses only " + used->second + why +
           ", and a list names others";
  }
  return "; of its keys only " + source.keys + " count, which the pod template uses" +
         (used->second == source.keys ? "" : " and a list names") + why;
}

/// Returns which settings decide which keys count, and whose list is ignored because of them.
std::string KeysText(const SourceExplanation& source, const ExplainInput& input) {
  if (!source.by_use.empty()) {
    if (std::string text = UsedKeysText(source, input.workload); !text.empty()) {
      return text;
    }
  }
  if (source.keys.empty()) {
    return "";
  }
  const std::string text = "; of its keys only " + source.keys + " count (";
  const std::string annotation = "annotation " + std::string(kSourceKeys);
  const auto set = input.arbiter.policies().SourceKeys(ObjectRefOf(source.id));
  if (!set) {
    return text + annotation + ")";
  }
  return set->enforced ? text + set->origin + ", whatever its annotation says)"
         : set->value == source.keys
             ? text + set->origin + ")"
             : text + annotation + ", and not " + set->value + " of " + set->origin + ")";
}

/// What a source of a described kind may lack; empty for other types.
std::string MissingFieldText(SourceType type) {
  const KnownSourceKind* kind = DescribedBy(type);
  std::string text;
  for (const ObjectField& field :
       kind == nullptr ? std::vector<ObjectField>() : kind->described.fields) {
    text.append(text.empty() ? ", or has no " : " or ").append(field.text);
  }
  return text.empty() ? text : text + " yet";
}

std::string SummaryOf(const SourceExplanation& source, const ExplainInput& input) {
  if (input.rules.Ignores(source.id.type)) {
    return "is not watched, because of --resources-to-ignore";
  }
  if (source.unknown) {
    if (IsForeign(source.id)) {
      return "does not roll the workload: " + NotAvailable(source.id).error;
    }
    if (IsDescribed(source.id.type)) {
      return "is unknown: it may not be read, the API server does not have its kind, or it lacks a "
             "label that --resource-label-selector requires";
    }
    return "is unknown: it may not be read, or it exists and is not watched (because it lacks a "
           "label that --resource-label-selector requires, or belongs to Helm)";
  }
  if (!source.exists) {
    if (source.id.type == SourceType::kSecretProviderClass) {
      return "no pod reports it";
    }
    return "does not exist" + MissingFieldText(source.id.type) +
           (input.source_selector.empty() ? std::string()
                                          : ", or --resource-label-selector leaves it out") +
           std::string(source.due ? "; its deletion rolls the workload" : "");
  }
  const std::string missing = MissingMatch(input, source);
  const std::string rule = missing.empty() ? RuleText(source) : missing;
  if (!Reloads(source.verdict)) {
    return "never rolls the workload: " + rule;
  }
  if (source.container.empty()) {
    return "never rolls the workload: " + rule + ", but no volume or variable mentions it";
  }
  if (source.in_doubt) {
    return "has the data that are recorded, but was written since then, and pods that began in "
           "between may have others: an operator that begins now rolls the workload, one that ran "
           "meanwhile knows better (" +
           rule + ")" + KeysText(source, input);
  }
  if (source.due) {
    return "has changed: a rollout is due (" + rule + ")" + KeysText(source, input);
  }
  return "rolls the workload when it changes (" + rule + "); " +
         (source.left_out ? "there is no room to record it on the workload: a change made while no "
                            "operator runs may be missed, and whether there was one is not known"
          : source.recorded.empty() ? "nothing is recorded of it on the workload yet: only the "
                                      "running operator knows whether it has changed"
                                    : "has not changed") +
         KeysText(source, input);
}

/// Why a change of the source is a rollout although the workload can be reloaded in place.
std::string NotInPlaceText(const SourceExplanation& source, const ExplainInput& input) {
  if (!input.rules.reload_in_place || source.container.empty() || !Reloads(source.verdict) ||
      !JudgeInPlace(input.workload, std::vector<SourceId>{}, true).action) {
    return "";
  }
  const std::string why = JudgeInPlace(input.workload, std::vector{source.id}, true).why_not;
  return why.empty() ? "" : "; not in place: " + why;
}

SourceExplanation ExplainSource(const ExplainInput& input, const SourceId& id, const Plan& plan,
                                const std::optional<Baseline>& baseline, PatternCache& patterns) {
  SourceExplanation result{.id = id};
  const auto source = input.sources.get(id);
  result.unknown = source && source->unknown;
  if (source && !source->unknown) {
    result.exists = true;
    result.digest = source->digest.ToString();
    result.keys = source->keys;
    if (source->by_use) {
      const auto scope = input.arbiter.policies()
                             .Resolve(RefOf(input.workload.id), input.workload.annotations)
                             .keys;
      result.by_use = scope ? scope->origin : std::string("by default");
    }
    result.verdict = Decide(*source, input.workload, input.rules, patterns);
    const auto container =
        ChooseContainer(input.workload, id.type, id.key.name, result.verdict == Verdict::kExplicit);
    if (container && *container < input.workload.containers.size()) {
      result.container = input.workload.containers[*container].name;
    }
  }
  if (baseline) {
    if (const auto found = baseline->digests.find(id);
        found != baseline->digests.end() && found->second != kNoSource) {
      result.recorded = found->second.ToString();
    }
  }
  result.due = IsDue(plan, id);
  result.in_doubt = result.due && result.exists && result.recorded == result.digest;
  result.left_out = std::ranges::find(plan.left_out, id) != plan.left_out.end();
  result.summary = SummaryOf(result, input) + NotInPlaceText(result, input);
  if (source && source->restored) {
    result.summary += "; the operator has put these data back, the last good ones";
  }
  return result;
}

/// Returns why a change of the source is held back.
std::optional<reloadpolicy::Hold> SourceHold(const ExplainInput& input, const SourceId& id) {
  const ObjectRef source = ObjectRefOf(id);
  const auto present = input.sources.get(id);
  std::string who;
  if (present && present->paused) {
    who = "annotation " + std::string(kSourcePaused);
  } else if (const auto pause = input.arbiter.policies().SourcePause(source)) {
    who = pause->origin;
  } else {
    return std::nullopt;
  }
  return reloadpolicy::Hold{.reason = reloadpolicy::HoldReason::kSourcePaused,
                            .message = source.ToString() + " is paused (" + who + ")"};
}

void ExplainInPlace(const ExplainInput& input, Explanation& result) {
  if (Find(input.workload.annotations, kReloadInPlace) == nullptr) {
    return;
  }
  const InPlaceVerdict verdict = JudgeInPlace(input.workload, std::vector<SourceId>{}, true);
  if (!input.rules.reload_in_place) {
    result.problems.push_back(std::string(kReloadInPlace) +
                              ": the operator runs without --reload-in-place");
  } else if (verdict.action) {
    result.in_place = ShownAction(*verdict.action);
  } else {
    result.problems.push_back(std::string(kReloadInPlace) + ": " + verdict.why_not);
  }
}

/// See Explanation::awaits_reload. By the workload's mark, and so without what only the operator
/// that runs remembers.
std::string AwaitsReload(const ExplainInput& input, const Plan& plan) {
  const Workload& workload = input.workload;
  if (!input.rules.reload_in_place || !IsReloadingInPlace(workload.annotations, workload.uid)) {
    return {};
  }
  bool is_asked = false;
  std::string waiting;
  for (const Change& change : plan.changes) {
    const auto action = JudgeInPlace(workload, std::vector{change}, true).action;
    if (!action) {
      for (const auto& [source, digest] : DataOf({change})) {
        waiting += (waiting.empty() ? "" : " and ") + ShownSource(source);
      }
    } else if (action->keeps_refused && IsBegun(plan, change)) {
      is_asked = true;
    }
  }
  return !is_asked || waiting.empty()
             ? std::string()
             : "new data of " + waiting +
                   ", which only new pods get, wait until the program has taken those that its "
                   "pods are reloaded for in place, or, if it refuses them, until these change";
}

}  // namespace

RolloutObstacles ObstaclesTo(const ExplainInput& input) {
  return {.pause = PauseText(input),
          .refused = RefusalIn(input),
          .left_alone = input.workload.suspended ? LeftAloneText() : std::string()};
}

Explanation Explain(const ExplainInput& input) {
  const Workload& workload = input.workload;
  PatternCache patterns;
  const Plan plan = MakePlan(workload, input.sources, input.known, input.rules, patterns);
  const ObjectRef ref = RefOf(workload.id);
  const Effective effective = input.arbiter.policies().Resolve(ref, workload.annotations);
  RolloutObstacles obstacles = ObstaclesTo(input);
  Explanation result{.workload = workload.id,
                     .phase = std::string(ToString(workload.phase)),
                     .pause = std::move(obstacles.pause),
                     .refused = std::move(obstacles.refused),
                     .left_alone = std::move(obstacles.left_alone),
                     .settings = SettingsOf(effective),
                     .problems = effective.problems,
                     .due = !plan.changes.empty()};
  std::ranges::copy(effective.refused, std::back_inserter(result.problems));
  for (const BadItem& bad : plan.bad_items) {
    result.problems.push_back(bad.item + ": " + bad.error);
  }
  for (const BadItem& bad : BadValues(workload, input.rules)) {
    result.problems.push_back(bad.item + ": " + bad.error);
  }
  ExplainInPlace(input, result);
  if (NamesForeign(workload) && !input.rules.keys.other_namespaces) {
    result.problems.push_back(std::string(kReloadOnOtherNamespaces) +
                              ": the operator runs without --sources-in-other-namespaces");
  }
  result.failure = input.arbiter.FailureOf(ref, input.now).value_or("");
  if (IsThrough(workload.phase)) {
    result.phase = ToString(reloadpolicy::Phase::kComplete);
  } else if (workload.phase == reloadpolicy::Phase::kUnseen) {
    result.phase = ToString(reloadpolicy::Phase::kUpdating);
  }
  // Unless a policy asks for it, rollouts are not recorded, and then a record on the workload is an
  // old one.
  if (const auto last = reloadpolicy::LastRolloutOf(workload.annotations);
      last && effective.NeedsTracking()) {
    result.last_rollout = apimachinery::Time::From(*last).ToString();
  }
  const auto baseline = OwnBaselineOf(workload);
  std::vector<reloadpolicy::Hold> holds;
  for (const SourceId& id : Candidates(input)) {
    result.sources.push_back(ExplainSource(input, id, plan, baseline, patterns));
    if (auto hold = result.sources.back().due ? SourceHold(input, id) : std::nullopt) {
      holds.push_back(*std::move(hold));
    }
  }
  reloadpolicy::Request request{.workload = ref,
                                .annotations = workload.annotations,
                                .before = WorkloadsBefore(input, plan, effective.Order(), patterns),
                                .uid = workload.uid,
                                .phase = workload.phase};
  AskForWaves(input, plan, effective, patterns, request);
  if (auto decision = input.arbiter.Ask(request, input.now); decision.hold) {
    holds.insert(holds.begin(), *std::move(decision.hold));
  }
  result.awaits_reload = AwaitsReload(input, plan);
  if (!holds.empty()) {
    result.hold = holds.front();
    result.further_holds.assign(holds.begin() + 1, holds.end());
  }
  return result;
}

}  // namespace kubexx::reloader
