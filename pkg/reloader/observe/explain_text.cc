// Prints an Explanation as text for people and as JSON for programs.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/time.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/model/used_keys.h"
#include "kubexx/reloader/observe/explain.h"
#include "kubexx/reloader/observe/one_line.h"

namespace kubexx::reloader {
namespace {

/// Annotations' values are parts of many lines, and may contain anything.
void Line(std::string& out, const std::string& text) { out += ToOneLine(text) + "\n"; }

/// Whether nothing on the workload shows whether this source, which rolls it, has changed.
bool IsUnrecorded(const SourceExplanation& source) {
  return source.exists && !source.due && !source.left_out && Reloads(source.verdict) &&
         !source.container.empty() && source.recorded.empty();
}

/// Whether a rollout is due only to an operator that does not know what happened before it began.
bool IsInDoubt(const Explanation& explanation) {
  const auto& sources = explanation.sources;
  return std::ranges::any_of(sources, &SourceExplanation::in_doubt) &&
         std::ranges::all_of(sources, [](const SourceExplanation& source) {
           return !source.due || source.in_doubt;
         });
}

void AddFlags(const Explanation& explanation, std::string& out) {
  if (!explanation.flags.empty()) {
    Line(out, "By the flags " + explanation.flags + ".");
  }
}

codec::JsonTree SourceTree(const SourceExplanation& source) {
  codec::JsonTree tree = codec::JsonTree::Object();
  tree["kind"] = NamesOf(source.id.type).kind;
  tree["name"] = source.id.key.name;
  tree["exists"] = source.exists;
  tree["rule"] = ToString(source.verdict);
  tree["container"] = source.container;
  tree["keys"] = source.keys == kNoKeys ? std::string() : source.keys;
  tree["keyScope"] = source.keys == kNoKeys   ? "None"
                     : !source.by_use.empty() ? "Referenced"
                                              : "All";
  tree["recorded"] = source.recorded;
  tree["digest"] = source.digest;
  tree["due"] = source.due;
  tree["inDoubt"] = source.in_doubt;
  tree["leftOut"] = source.left_out;
  tree["summary"] = source.summary;
  return tree;
}

}  // namespace

std::string ToText(const Explanation& explanation) {
  std::string out;
  const std::string name =
      std::string(KindName(explanation.workload.kind)) + " " + explanation.workload.key.ToString();
  if (!explanation.not_watched.empty()) {
    Line(out, name + ": nothing rolls it: " + explanation.not_watched);
    AddFlags(explanation, out);
    return out;
  }
  Line(out, name + ": rollout " + explanation.phase +
                (explanation.last_rollout.empty()
                     ? std::string()
                     : ", last rolled under a policy at " + explanation.last_rollout));
  if (!explanation.pause.empty()) {
    Line(out, "Paused " + explanation.pause + ".");
  }
  if (!explanation.refused.empty()) {
    Line(out, (explanation.due ? "A rollout is due and is refused: "
                               : "No rollout is due, and one would be refused: ") +
                  explanation.refused);
  } else if (!explanation.left_alone.empty()) {
    Line(out, (explanation.due ? "A rollout is due and will not be made: "
                               : "No rollout is due, and none would be made: ") +
                  explanation.left_alone + ".");
  } else {
    const bool all_recorded = std::ranges::none_of(explanation.sources, IsUnrecorded);
    Line(out, !explanation.due && !all_recorded ? "No rollout is due by what is recorded."
              : !explanation.due                ? "No rollout is due."
              : IsInDoubt(explanation)          ? "A rollout may be due: see the sources."
              : explanation.hold || !explanation.awaits_reload.empty()
                  ? "A rollout is due and waits."
              : !explanation.unread_policies.empty() ? "A rollout is due; whether it may begin is "
                                                       "not known."
                                                     : "A rollout is due and may begin.");
  }
  if (!explanation.in_place.empty()) {
    Line(out,
         "Instead of a rollout its pods are reloaded in place by " + explanation.in_place + ".");
  }
  for (const std::string& type : explanation.unread_policies) {
    Line(out, type + " may not be read: what they say is not known.");
  }
  if (!explanation.failure.empty()) {
    Line(out, "Its rollout has failed and is not mended: " + explanation.failure + ".");
  }
  if (explanation.hold) {
    Line(out, std::string(IsInDoubt(explanation) ? "  it would wait: "
                          : explanation.due      ? "  waits: "
                                                 : "  one that became due would wait: ") +
                  std::string(ToString(explanation.hold->reason)) + ": " +
                  explanation.hold->message);
  }
  if (!explanation.awaits_reload.empty()) {
    Line(out, "  waits: " + explanation.awaits_reload + ".");
  }
  for (const reloadpolicy::Hold& hold : explanation.further_holds) {
    Line(out, "  and waits: " + std::string(ToString(hold.reason)) + ": " + hold.message);
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
  AddFlags(explanation, out);
  return out;
}

std::string ToJson(const Explanation& explanation) {
  using codec::JsonTree;
  JsonTree tree = JsonTree::Object();
  tree["kind"] = KindName(explanation.workload.kind);
  tree["namespace"] = explanation.workload.key.namespace_;
  tree["name"] = explanation.workload.key.name;
  tree["flags"] = explanation.flags;
  tree["notWatched"] = explanation.not_watched;
  tree["phase"] = explanation.phase;
  tree["failure"] = explanation.failure;
  tree["lastRollout"] = explanation.last_rollout;
  tree["due"] = explanation.due;
  tree["mayBegin"] = explanation.not_watched.empty() && explanation.refused.empty() &&
                     explanation.left_alone.empty() && !explanation.hold.has_value() &&
                     explanation.awaits_reload.empty() && explanation.unread_policies.empty();
  tree["pause"] = explanation.pause;
  tree["refused"] = explanation.refused;
  tree["leftAlone"] = explanation.left_alone;
  if (!explanation.in_place.empty()) {
    tree["inPlace"] = explanation.in_place;
  }
  if (!explanation.awaits_reload.empty()) {
    tree["awaitsReload"] = explanation.awaits_reload;
  }
  if (explanation.hold) {
    tree["hold"]["reason"] = ToString(explanation.hold->reason);
    tree["hold"]["message"] = explanation.hold->message;
    if (explanation.hold->until) {
      tree["hold"]["until"] = apimachinery::Time::From(*explanation.hold->until).ToString();
    }
  }
  tree["furtherHolds"] = JsonTree::Array();
  for (const reloadpolicy::Hold& hold : explanation.further_holds) {
    JsonTree item = JsonTree::Object();
    item["reason"] = ToString(hold.reason);
    item["message"] = hold.message;
    tree["furtherHolds"].Append(std::move(item));
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
  for (const auto& [name, texts] :
       {std::pair("problems", &explanation.problems), std::pair("reported", &explanation.reported),
        std::pair("unreadPolicies", &explanation.unread_policies)}) {
    tree[name] = JsonTree::Array();
    for (const std::string& text : *texts) {
      tree[name].Append(text);
    }
  }
  return tree.ToJson() + "\n";
}

}  // namespace kubexx::reloader
