#include "kubexx/reloader/explain.h"

#include <algorithm>
#include <set>
#include <utility>

#include "kubexx/apimachinery/time.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/baseline.h"

namespace kubexx::reloader {
namespace {

using reloadpolicy::Effective;
using reloadpolicy::ObjectRef;
using reloadpolicy::Setting;

std::string Shown(bool value) { return value ? "true" : "false"; }
std::string Shown(int value) { return std::to_string(value); }
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

std::vector<SettingExplanation> SettingsOf(const Effective& effective) {
  std::vector<SettingExplanation> settings;
  Add("paused", effective.paused, settings);
  Add("settleWindow", effective.settle_window, settings);
  Add("minInterval", effective.min_interval, settings);
  Add("maxConcurrentRolloutsPerNamespace", effective.max_in_namespace, settings);
  Add("maxConcurrentRollouts", effective.max_in_cluster, settings);
  Add("healthGate", effective.health_gate, settings);
  Add("healthTimeout", effective.health_timeout, settings);
  Add("stopAfterFailures", effective.stop_after_failures, settings);
  Add("maintenanceWindows", effective.windows, settings);
  Add("order", effective.order, settings);
  return settings;
}

/// What the workload mentions, and what its lists may name.
std::set<SourceId> Candidates(const ExplainInput& input) {
  std::set<SourceId> ids;
  for (SourceId& id : ReferencedSources(input.workload)) {
    ids.insert(std::move(id));
  }
  // Whoever does not use the CSI driver is not told of it; other types are said to be left out.
  const auto is_unused = [&](SourceType type) {
    return type == SourceType::kSecretProviderClass && input.rules.ignored_types.contains(type);
  };
  std::erase_if(ids, [&](const SourceId& id) { return is_unused(id.type); });
  for (const SourceType type : kSourceTypes) {
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

std::string KeysText(const SourceExplanation& source) {
  return source.keys.empty() ? std::string() : "; of its keys only " + source.keys + " count";
}

std::string SummaryOf(const SourceExplanation& source, const ExplainInput& input) {
  if (input.rules.ignored_types.contains(source.id.type)) {
    return "is not watched, because of --resources-to-ignore";
  }
  if (!source.exists) {
    if (source.id.type == SourceType::kSecretProviderClass) {
      return "no pod reports it";
    }
    return "does not exist" +
           (input.source_selector.empty() ? std::string()
                                          : ", or --resource-label-selector leaves it out") +
           std::string(source.due ? "; its deletion rolls the workload" : "");
  }
  const std::string rule = RuleText(source);
  if (!Reloads(source.verdict)) {
    return "never rolls the workload: " + rule;
  }
  if (source.container.empty()) {
    return "never rolls the workload: " + rule + ", but no volume or variable mentions it";
  }
  if (source.due) {
    return "has changed: a rollout is due (" + rule + ")" + KeysText(source);
  }
  return "rolls the workload when it changes (" + rule + "); " +
         (source.recorded.empty() ? "nothing is recorded of it yet" : "has not changed") +
         KeysText(source);
}

SourceExplanation ExplainSource(const ExplainInput& input, const SourceId& id, const Plan& plan,
                                const std::optional<Baseline>& baseline, PatternCache& patterns) {
  SourceExplanation result{.id = id};
  if (const auto source = input.sources.get(id)) {
    std::vector<BadItem> bad_items;
    result.exists = true;
    result.digest = source->digest.ToString();
    result.keys = source->keys;
    result.verdict = Decide(*source, input.workload, input.rules, patterns, bad_items);
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
  result.due = std::ranges::any_of(plan.changes, [&](const Change& change) {
    return std::ranges::find(change.causes, id) != change.causes.end();
  });
  result.summary = SummaryOf(result, input);
  return result;
}

void Line(std::string& out, const std::string& text) { out += text + "\n"; }

codec::JsonTree SourceTree(const SourceExplanation& source) {
  codec::JsonTree tree = codec::JsonTree::Object();
  tree["kind"] = NamesOf(source.id.type).kind;
  tree["name"] = source.id.key.name;
  tree["exists"] = source.exists;
  tree["rule"] = ToString(source.verdict);
  tree["container"] = source.container;
  tree["keys"] = source.keys;
  tree["recorded"] = source.recorded;
  tree["digest"] = source.digest;
  tree["due"] = source.due;
  tree["summary"] = source.summary;
  return tree;
}

}  // namespace

Explanation Explain(const ExplainInput& input) {
  const Workload& workload = input.workload;
  PatternCache patterns;
  const Plan plan = MakePlan(workload, input.sources, Knowledge{}, input.rules, patterns);
  const ObjectRef ref{std::string(KindName(workload.id.kind)), workload.id.key};
  const Effective effective = input.gate.policies().Resolve(ref, workload.annotations);
  Explanation result{.workload = workload.id,
                     .phase = std::string(ToString(workload.phase)),
                     .settings = SettingsOf(effective),
                     .problems = effective.problems,
                     .due = !plan.changes.empty()};
  for (const BadItem& bad : plan.bad_items) {
    result.problems.push_back("reload list: \"" + bad.item + "\": " + bad.error);
  }
  if (const auto last = reloadpolicy::LastRolloutOf(workload.annotations)) {
    result.last_rollout = apimachinery::Time::From(*last).ToString();
  }
  const std::string* text = Find(workload.annotations, kBaselineAnnotation);
  auto baseline =
      text == nullptr ? std::nullopt : Baseline::Parse(*text, workload.id.key.namespace_);
  if (baseline && baseline->uid != workload.uid) {
    baseline.reset();  // of another object
  }
  for (const SourceId& id : Candidates(input)) {
    result.sources.push_back(ExplainSource(input, id, plan, baseline, patterns));
    if (result.sources.back().due) {
      const ObjectRef source{std::string(NamesOf(id.type).kind), id.key};
      const auto present = input.sources.get(id);
      if (present && present->paused) {
        result.hold = {.reason = reloadpolicy::HoldReason::kSourcePaused,
                       .message = source.ToString() + " is paused (annotation " +
                                  std::string(kSourcePaused) + ")"};
      } else if (const auto pause = input.gate.policies().SourcePause(source)) {
        result.hold = {.reason = reloadpolicy::HoldReason::kSourcePaused,
                       .message = source.ToString() + " is paused (" + pause->origin + ")"};
      }
    }
  }
  if (auto decision = input.gate.Ask({ref, workload.annotations}, input.now); decision.hold) {
    result.hold = std::move(decision.hold);
  }
  return result;
}

std::string ToText(const Explanation& explanation) {
  std::string out;
  const std::string name =
      std::string(KindName(explanation.workload.kind)) + " " + explanation.workload.key.ToString();
  if (!explanation.not_watched.empty()) {
    return name + ": nothing rolls it: " + explanation.not_watched + "\n";
  }
  Line(out,
       name + ": rollout " + explanation.phase +
           (explanation.last_rollout.empty() ? std::string()
                                             : ", last rolled at " + explanation.last_rollout));
  Line(out, explanation.due ? explanation.hold ? "A rollout is due and waits."
                                               : "A rollout is due and may begin."
                            : "No rollout is due.");
  if (explanation.hold) {
    Line(out, std::string(explanation.due ? "  waits: " : "  one that became due would wait: ") +
                  std::string(ToString(explanation.hold->reason)) + ": " +
                  explanation.hold->message);
  }
  Line(out, explanation.sources.empty() ? "Sources: none; nothing rolls it." : "Sources:");
  for (const SourceExplanation& source : explanation.sources) {
    Line(out, "  " + std::string(NamesOf(source.id.type).kind) + " " + source.id.key.name + ": " +
                  source.summary);
  }
  if (!explanation.settings.empty()) {
    Line(out, "Settings:");
  }
  for (const SettingExplanation& setting : explanation.settings) {
    Line(out, "  " + setting.name + ": " + setting.value + " (" + setting.origin + ")");
  }
  for (const std::string& problem : explanation.problems) {
    Line(out, "Has no effect: " + problem);
  }
  for (const std::string& reported : explanation.reported) {
    Line(out, "The operator says: " + reported);
  }
  return out;
}

std::string ToJson(const Explanation& explanation) {
  using codec::JsonTree;
  JsonTree tree = JsonTree::Object();
  tree["kind"] = KindName(explanation.workload.kind);
  tree["namespace"] = explanation.workload.key.namespace_;
  tree["name"] = explanation.workload.key.name;
  tree["notWatched"] = explanation.not_watched;
  tree["phase"] = explanation.phase;
  tree["lastRollout"] = explanation.last_rollout;
  tree["due"] = explanation.due;
  tree["mayBegin"] = explanation.not_watched.empty() && !explanation.hold.has_value();
  if (explanation.hold) {
    tree["hold"]["reason"] = ToString(explanation.hold->reason);
    tree["hold"]["message"] = explanation.hold->message;
    if (explanation.hold->until) {
      tree["hold"]["until"] = apimachinery::Time::From(*explanation.hold->until).ToString();
    }
  }
  tree["sources"] = JsonTree::Array();
  for (const SourceExplanation& source : explanation.sources) {
    tree["sources"].Append(SourceTree(source));
  }
  tree["settings"] = JsonTree::Array();
  for (const SettingExplanation& setting : explanation.settings) {
    JsonTree item = JsonTree::Object();
    item["name"] = setting.name;
    item["value"] = setting.value;
    item["origin"] = setting.origin;
    tree["settings"].Append(std::move(item));
  }
  for (const auto& [name, texts] : {std::pair("problems", &explanation.problems),
                                    std::pair("reported", &explanation.reported)}) {
    tree[name] = JsonTree::Array();
    for (const std::string& text : *texts) {
      tree[name].Append(text);
    }
  }
  return tree.ToJson() + "\n";
}

}  // namespace kubexx::reloader
