#include "kubexx/reloader/history/history_view.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "kubexx/cache/object.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/fields/field_projection.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/projection.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Result;
using codec::JsonTree;

std::string DurationText(std::int64_t seconds) {
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 60 * kMinute;
  const auto part = [](std::int64_t number, const char* unit) {
    return number == 0 ? std::string() : std::to_string(number) + unit;
  };
  return seconds == 0 ? "less than a second"
                      : part(seconds / kHour, "h") + part(seconds % kHour / kMinute, "m") +
                            part(seconds % kMinute, "s");
}

/// What the key stands for: of an object of a described kind it is a field, in the characters that
/// keys may have.
const std::string& ShownKey(SourceType type, const std::string& key) {
  if (const KnownSourceKind* const kind = DescribedBy(type)) {
    const auto& fields = kind->described.fields;
    const auto found = std::ranges::find(fields, key, FieldKey);
    return found == fields.end() ? key : found->text;
  }
  return key;
}

std::string KeyText(const std::string& key, const KeyChange& change) {
  return key + " " + std::string(ToString(change.what)) +
         (change.digest.empty()                      ? ""
          : change.what == KeyChange::What::kChanged ? " to " + change.digest
                                                     : " as " + change.digest);
}

std::string ShownKeys(const HistorySource& source) {
  const std::string word = IsDescribed(source.type) ? "field" : "key";
  if (!source.keys) {
    return "which " + word + "s have changed is not known";
  }
  std::string text;
  for (const auto& [key, change] : *source.keys) {
    text += (text.empty() ? "" : ", ") + KeyText(ShownKey(source.type, key), change);
  }
  if (source.more_keys > 0) {
    text += (text.empty() ? "" : ", and ") + std::to_string(source.more_keys) + " more";
  }
  return text.empty() ? "no " + word + " has changed since the rollout before" : text;
}

std::string HistorySourceLine(const HistorySource& source) {
  return "    " + std::string(NamesOf(source.type).kind) + " " + source.name + " (" +
         (source.digest.empty() ? "deleted" : "data " + source.digest) + "): " + ShownKeys(source) +
         (source.writer
              ? "; written by " + source.writer->manager + " at " + source.writer->time.ToString()
              : std::string()) +
         "\n";
}

std::string OutcomeText(const HistoryEntry& entry) {
  return std::string(ToString(entry.outcome)) +
         (entry.seconds ? (entry.outcome == RolloutOutcome::kFailed ? " after " : " in ") +
                              DurationText(*entry.seconds)
                        : std::string()) +
         (entry.in_place.empty() ? "" : ", in place by " + entry.in_place);
}

std::string SourceLines(const HistoryEntry& entry) {
  std::string text;
  for (const HistorySource& source : entry.sources) {
    text += HistorySourceLine(source);
  }
  if (entry.Unshown() > 0) {
    text += "    and " + std::to_string(entry.Unshown()) + " more sources\n";
  }
  return text;
}

std::string RolloutCount(std::size_t number) {
  return std::to_string(number) + (number == 1 ? " rollout" : " rollouts, the newest first");
}

std::string WholeName(const WorkloadId& id) {
  return std::string(KindName(id.kind)) + " " + id.key.ToString();
}

JsonTree NamedTree(std::string_view kind, const apimachinery::ObjectKey& key) {
  JsonTree tree = JsonTree::Object();
  tree["kind"] = kind;
  tree["namespace"] = key.namespace_;
  tree["name"] = key.name;
  return tree;
}

JsonTree EntryTree(const HistoryEntry& entry) {
  JsonTree tree = JsonTree::Object();
  tree["at"] = entry.at.ToString();
  tree["outcome"] = ToString(entry.outcome);
  if (entry.seconds) {
    tree["seconds"] = *entry.seconds;
  }
  if (!entry.in_place.empty()) {
    tree["inPlace"] = entry.in_place;
  }
  tree["sources"] = JsonTree::Array();
  for (const HistorySource& source : entry.sources) {
    JsonTree each = JsonTree::Object();
    each["kind"] = NamesOf(source.type).kind;
    each["name"] = source.name;
    each["digest"] = source.digest;
    each["keysAreKnown"] = source.keys.has_value();
    each["keys"] = JsonTree::Array();
    for (const auto& [name, change] : source.keys.value_or(KeyChanges())) {
      JsonTree key = JsonTree::Object();
      key["key"] = ShownKey(source.type, name);
      key["is"] = ToString(change.what);
      key["digest"] = change.digest;
      each["keys"].Append(std::move(key));
    }
    each["moreKeys"] = source.more_keys;
    each["by"] = source.writer ? source.writer->manager : std::string();
    each["written"] = source.writer ? source.writer->time.ToString() : std::string();
    tree["sources"].Append(std::move(each));
  }
  tree["moreSources"] = entry.Unshown();
  return tree;
}

}  // namespace

Result<WorkloadHistory> WorkloadHistoryOf(WorkloadKind kind, const dynamic::Unstructured& object) {
  const WorkloadId id{kind, {object.Namespace(), object.Name()}};
  const auto annotations = object.Annotations();
  const std::string* text = Find(annotations, kHistoryAnnotation);
  if (text == nullptr) {
    return WorkloadHistory{.workload = id};
  }
  cache::Object projected{
      .encoding = codec::Encoding::kJson, .bytes = object.ToJson(), .key = id.key};
  KX_RETURN_IF_ERROR(ProjectWorkload(kind, {}, projected));
  KX_ASSIGN_OR_RETURN(Workload workload, WorkloadFrom(kind, projected));
  workload.annotations[std::string(kHistoryAnnotation)] = *text;  // also on a Job that is over
  return WorkloadHistoryOf(workload);
}

WorkloadHistory WorkloadHistoryOf(const Workload& workload) {
  WorkloadHistory seen{.workload = workload.id};
  const std::string* text = Find(workload.annotations, kHistoryAnnotation);
  if (text == nullptr) {
    return seen;
  }
  auto history = HistoryOf(workload);
  if (!history) {
    seen.problem = "the annotation " + std::string(kHistoryAnnotation) +
                   " cannot be read: " + history.error().message;
    return seen;
  }
  const auto written = History::Parse(*text);
  if (written && written->owner != history->owner) {
    seen.problem = "the annotation " + std::string(kHistoryAnnotation) +
                   " belongs to another object, from which it was copied";
  }
  if (!history->rollouts.empty()) {
    CompleteFrom(workload, std::nullopt, history->rollouts.front());
  }
  seen.rollouts = std::move(history->rollouts);
  return seen;
}

SourceHistory SourceHistoryOf(const SourceId& source, const std::vector<WorkloadHistory>& all) {
  SourceHistory history{.source = source};
  for (const WorkloadHistory& each : all) {
    if (!each.problem.empty()) {
      history.problems.push_back(WholeName(each.workload) + ": " + each.problem);
    }
    for (HistoryEntry entry : each.rollouts) {
      std::erase_if(entry.sources, [&](const HistorySource& one) {
        return one.type != source.type || one.name != source.key.name;
      });
      if (!entry.sources.empty()) {
        entry.more_sources = 0;
        entry.unread.clear();
        history.rollouts.push_back({.workload = each.workload, .rollouts = {std::move(entry)}});
      }
    }
  }
  std::ranges::stable_sort(history.rollouts, [](const auto& a, const auto& b) {
    return a.rollouts.front().at > b.rollouts.front().at;
  });
  return history;
}

std::string ToText(const WorkloadHistory& history) {
  std::string text = WholeName(history.workload) + ": ";
  if (history.rollouts.empty()) {
    return text +
           (history.problem.empty()
                ? "no rollout is recorded; an operator records them with --history"
                : history.problem) +
           "\n";
  }
  text += RolloutCount(history.rollouts.size()) + "\n";
  for (const HistoryEntry& entry : history.rollouts) {
    text += "  " + entry.at.ToString() + "  " + OutcomeText(entry) + "\n" + SourceLines(entry);
  }
  return text;
}

std::string ToText(const SourceHistory& history) {
  std::string text =
      std::string(NamesOf(history.source.type).kind) + " " + history.source.key.ToString() + ": ";
  text += history.rollouts.empty()
              ? "no rollout is recorded for it; an operator records them with --history\n"
              : RolloutCount(history.rollouts.size()) + "\n";
  for (const WorkloadHistory& each : history.rollouts) {
    const HistoryEntry& entry = each.rollouts.front();
    text += "  " + entry.at.ToString() + "  " + WholeName(each.workload) + ": " +
            OutcomeText(entry) + "\n" + SourceLines(entry);
  }
  for (const std::string& problem : history.problems) {
    text += "Not counted: " + problem + "\n";
  }
  return text;
}

std::string ToJson(const WorkloadHistory& history) {
  JsonTree tree = JsonTree::Object();
  tree["workload"] = NamedTree(KindName(history.workload.kind), history.workload.key);
  tree["problem"] = history.problem;
  tree["rollouts"] = JsonTree::Array();
  for (const HistoryEntry& entry : history.rollouts) {
    tree["rollouts"].Append(EntryTree(entry));
  }
  return tree.ToJson() + "\n";
}

std::string ToJson(const SourceHistory& history) {
  JsonTree tree = JsonTree::Object();
  tree["source"] = NamedTree(NamesOf(history.source.type).kind, history.source.key);
  tree["rollouts"] = JsonTree::Array();
  for (const WorkloadHistory& each : history.rollouts) {
    JsonTree rollout = EntryTree(each.rollouts.front());
    rollout["workload"] = NamedTree(KindName(each.workload.kind), each.workload.key);
    tree["rollouts"].Append(std::move(rollout));
  }
  tree["problems"] = JsonTree::Array();
  for (const std::string& problem : history.problems) {
    tree["problems"].Append(problem);
  }
  return tree.ToJson() + "\n";
}

}  // namespace kubexx::reloader
