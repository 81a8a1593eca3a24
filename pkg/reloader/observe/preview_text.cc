// Prints a Preview as text for people and as JSON for programs.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/time.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/observe/one_line.h"
#include "kubexx/reloader/observe/preview.h"

namespace kubexx::reloader {
namespace {

using codec::JsonTree;

std::string ShownName(const SourceId& id) {
  return std::string(NamesOf(id.type).kind) + " " + id.key.ToString();
}
std::string ShownName(const WorkloadId& id) {
  return std::string(KindName(id.kind)) + " " + id.key.ToString();
}

std::string TimeText(base::WallTime time) { return apimachinery::Time::From(time).ToString(); }

/// Adds "a, b changed", or nothing when there are no keys.
void AddKeys(const std::vector<std::string>& keys, const std::string& what, std::string& text) {
  if (keys.empty()) {
    return;
  }
  text += text.empty() ? "" : "; ";
  for (std::size_t i = 0; i < keys.size(); ++i) {
    text += (i == 0 ? "" : ", ") + ToOneLine(keys[i]);
  }
  text += " " + what;
}

std::string SourceLine(const PreviewedSource& source) {
  std::string keys;
  AddKeys(source.keys.changed, "changed", keys);
  AddKeys(source.keys.added, "added", keys);
  AddKeys(source.keys.removed, "removed", keys);
  return ShownName(source.id) + ": " +
         (!source.exists ? "would be created"
          : keys.empty() ? "no key changes"
                         : "keys " + keys) +
         (source.exists && source.is_immutable && !keys.empty()
              ? "; the API server refuses that, since it is immutable"
              : "") +
         "\n";
}

std::string WhenText(const Forecast& forecast) {
  const std::string why = forecast.hold ? ": " + std::string(ToString(forecast.hold->reason)) +
                                              ": " + ToOneLine(forecast.hold->message)
                                        : std::string();
  if (forecast.step == 0) {
    return "waits" + why;
  }
  std::string when;
  if (forecast.hold && IsForOthers(forecast.hold->reason)) {
    when = forecast.step == 1 ? "when the rollouts that are under way have ended"
                              : "after step " + std::to_string(forecast.step - 1);
  }
  if (forecast.not_before) {
    when += (when.empty() ? "" : ", ") + ("not before " + TimeText(*forecast.not_before));
  }
  return (when.empty() ? "at once" : when) + why;
}

std::string RolloutLines(const PreviewedRollout& rollout) {
  std::string text =
      "  " +
      (rollout.forecast.step == 0 ? std::string("-") : std::to_string(rollout.forecast.step)) +
      ". " + ShownName(rollout.forecast.workload) + ": " + WhenText(rollout.forecast) + "\n";
  if (rollout.was_due) {
    text += "       a rollout is due already, without the change\n";
  }
  if (!rollout.in_place.empty()) {
    text +=
        "       its pods stay, and are reloaded in place by " + ToOneLine(rollout.in_place) + "\n";
  }
  for (const auto& [what, why] : {std::pair("is refused", &rollout.refused),
                                  std::pair("will not be made", &rollout.left_alone),
                                  std::pair("is paused", &rollout.pause)}) {
    if (!why->empty()) {
      text += "       " + std::string(what) + ": " + ToOneLine(*why) + "\n";
    }
  }
  return text;
}

JsonTree TextsOf(const std::vector<std::string>& texts) {
  JsonTree list = JsonTree::Array();
  for (const std::string& text : texts) {
    list.Append(text);
  }
  return list;
}

JsonTree TreeOf(const SourceId& id) {
  JsonTree tree = JsonTree::Object();
  tree["kind"] = NamesOf(id.type).kind;
  tree["namespace"] = id.key.namespace_;
  tree["name"] = id.key.name;
  return tree;
}

JsonTree TreeOf(const WorkloadId& id) {
  JsonTree tree = JsonTree::Object();
  tree["kind"] = KindName(id.kind);
  tree["namespace"] = id.key.namespace_;
  tree["name"] = id.key.name;
  return tree;
}

JsonTree TreeOf(const PreviewedSource& source) {
  JsonTree tree = TreeOf(source.id);
  tree["exists"] = source.exists;
  tree["immutable"] = source.is_immutable;
  tree["changed"] = TextsOf(source.keys.changed);
  tree["added"] = TextsOf(source.keys.added);
  tree["removed"] = TextsOf(source.keys.removed);
  return tree;
}

JsonTree TreeOf(const PreviewedRollout& rollout) {
  const Forecast& forecast = rollout.forecast;
  JsonTree tree = TreeOf(forecast.workload);
  tree["step"] = forecast.step;
  tree["notBefore"] = forecast.not_before ? TimeText(*forecast.not_before) : std::string();
  if (forecast.hold) {
    tree["hold"]["reason"] = ToString(forecast.hold->reason);
    tree["hold"]["message"] = forecast.hold->message;
    if (forecast.hold->until) {
      tree["hold"]["until"] = TimeText(*forecast.hold->until);
    }
  }
  tree["causes"] = JsonTree::Array();
  for (const SourceId& cause : rollout.causes) {
    tree["causes"].Append(TreeOf(cause));
  }
  tree["wasDue"] = rollout.was_due;
  tree["refused"] = rollout.refused;
  tree["leftAlone"] = rollout.left_alone;
  tree["pause"] = rollout.pause;
  if (!rollout.in_place.empty()) {
    tree["inPlace"] = rollout.in_place;
  }
  return tree;
}

}  // namespace

std::string ToText(const Preview& preview) {
  std::string text;
  for (const PreviewedSource& source : preview.sources) {
    text += SourceLine(source);
  }
  for (const std::string& other : preview.ignored) {
    text += "Left out: " + ToOneLine(other) + " is neither a ConfigMap nor a Secret\n";
  }
  text += preview.rollouts.empty()
              ? "Rolls no workload.\n"
              : "Rolls " + std::to_string(preview.rollouts.size()) +
                    (preview.rollouts.size() == 1 ? " workload" : " workloads") + ", by steps:\n";
  for (const PreviewedRollout& rollout : preview.rollouts) {
    text += RolloutLines(rollout);
  }
  if (!preview.others.empty()) {
    text += "Does not roll:\n";
  }
  for (const PreviewedUser& user : preview.others) {
    text += "  " + ShownName(user.workload) + ": " + ShownName(user.source) + ": " +
            ToOneLine(user.why) + "\n";
  }
  for (const std::string& each : preview.not_watched) {
    text += "Nothing is rolled for " + each + "\n";
  }
  for (const std::string& each : preview.elsewhere) {
    text += "Workloads of other namespaces are not looked at, and may roll for " + ToOneLine(each) +
            "\n";
  }
  for (const std::string& type : preview.unread_policies) {
    text += type + " may not be read: what they say is not known.\n";
  }
  if (!preview.flags.empty()) {
    text += "By the flags " + preview.flags + ".\n";
  }
  return text;
}

std::string ToJson(const Preview& preview) {
  JsonTree tree = JsonTree::Object();
  for (const auto& [name, texts] : {std::pair("ignored", &preview.ignored),
                                    std::pair("unreadPolicies", &preview.unread_policies),
                                    std::pair("notWatched", &preview.not_watched),
                                    std::pair("elsewhere", &preview.elsewhere)}) {
    tree[name] = TextsOf(*texts);
  }
  tree["flags"] = preview.flags;
  tree["sources"] = JsonTree::Array();
  for (const PreviewedSource& source : preview.sources) {
    tree["sources"].Append(TreeOf(source));
  }
  tree["rollouts"] = JsonTree::Array();
  for (const PreviewedRollout& rollout : preview.rollouts) {
    tree["rollouts"].Append(TreeOf(rollout));
  }
  tree["others"] = JsonTree::Array();
  for (const PreviewedUser& user : preview.others) {
    JsonTree item = TreeOf(user.workload);
    item["source"] = TreeOf(user.source);
    item["why"] = user.why;
    tree["others"].Append(std::move(item));
  }
  return tree.ToJson() + "\n";
}

}  // namespace kubexx::reloader
