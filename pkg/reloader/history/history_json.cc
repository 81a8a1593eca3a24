// Converts a History to and from its JSON text.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/base/ascii.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/history/history.h"
#include "kubexx/reloadpolicy/key_list.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Result;
using apimachinery::Time;
using codec::JsonTree;

constexpr std::int64_t kHistoryFormat = 1;
/// No name of an object and no name of a manager that KeepTrace keeps is longer.
constexpr std::size_t kMaxNameBytes = 253;
constexpr std::size_t kMaxOwnerBytes = 600;
constexpr RolloutOutcome kRolloutOutcomes[] = {RolloutOutcome::kRolling, RolloutOutcome::kDone,
                                               RolloutOutcome::kFailed,
                                               RolloutOutcome::kSuperseded};
constexpr KeyChange::What kKeyChanges[] = {KeyChange::What::kAdded, KeyChange::What::kChanged,
                                           KeyChange::What::kRemoved};

// ---- Conversion to JSON.

JsonTree KeysTree(const KeyChanges& keys) {
  JsonTree list = JsonTree::Array();
  for (const auto& [key, change] : keys) {
    JsonTree tree = JsonTree::Object();
    tree["key"] = key;
    tree["is"] = ToString(change.what);
    if (!change.digest.empty()) {
      tree["digest"] = change.digest;
    }
    list.Append(std::move(tree));
  }
  return list;
}

JsonTree HistorySourceTree(const HistorySource& source) {
  JsonTree tree = JsonTree::Object();
  tree["source"] = std::string(NamesOf(source.type).lower) + "/" + source.name;
  if (!source.digest.empty()) {
    tree["digest"] = source.digest;
  }
  if (source.writer) {
    tree["by"] = source.writer->manager;
    tree["written"] = source.writer->time.ToString();
  }
  if (source.keys) {
    tree["keys"] = KeysTree(*source.keys);
  }
  if (source.more_keys > 0) {
    tree["moreKeys"] = source.more_keys;
  }
  return tree;
}

// ---- Conversion from JSON. Anybody who may write to the workload may have written any text.

apimachinery::Error WrongPart(const std::string& what) {
  return apimachinery::Fail(apimachinery::Malformed("history", what));
}

/// Whether the text is short enough and may be shown on a terminal.
bool IsShowable(std::string_view text, std::size_t max_bytes) {
  return text.size() <= max_bytes &&
         std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

bool IsHexText(std::string_view text, std::size_t max_digits) {
  return text.size() <= max_digits && std::ranges::all_of(text, [](char c) {
           return base::IsDigit(c) || (c >= 'a' && c <= 'f');
         });
}

/// Returns a count: 0 when there is none, and std::nullopt when it is something else.
std::optional<std::int64_t> CountIn(const JsonTree& tree, std::string_view key) {
  const JsonTree* value = tree.Find(key);
  const auto number = value == nullptr ? std::optional<std::int64_t>(0) : value->AsInt();
  return number && *number >= 0 ? number : std::nullopt;
}

template <class Enum, std::size_t kSize>
std::optional<Enum> ParseEnum(const Enum (&all)[kSize], std::string_view text) {
  const auto found = std::ranges::find_if(all, [&](Enum each) { return ToString(each) == text; });
  return found == std::end(all) ? std::nullopt : std::optional(*found);
}

Result<KeyChanges> KeysFrom(const JsonTree& list) {
  KeyChanges keys;
  if (!list.IsArray() || list.size() > History::kMaxKeys) {
    return WrongPart("has keys that are not a list, or too many");
  }
  for (const JsonTree& each : list.elements()) {
    const auto what = ParseEnum(kKeyChanges, each.IsObject() ? each.TextAt("is") : "");
    const std::string_view key = each.IsObject() ? each.TextAt("key") : "";
    if (!what || !reloadpolicy::IsDataKey(key) || !IsHexText(each.TextAt("digest"), 8)) {
      return WrongPart("has a key that cannot be read");
    }
    keys[std::string(key)] = {.what = *what, .digest = std::string(each.TextAt("digest"))};
  }
  return keys;
}

/// Reads a source but for its type, which is taken for a ConfigMap.
Result<HistorySource> UntypedSourceFrom(const JsonTree& tree) {
  const std::string_view id = tree.IsObject() ? tree.TextAt("source") : "";
  const std::size_t slash = std::min(id.find('/'), id.size());
  HistorySource source{.name = std::string(id.substr(std::min(slash + 1, id.size())))};
  const auto more = tree.IsObject() ? CountIn(tree, "moreKeys") : std::nullopt;
  if (source.name.empty() || !more || !IsShowable(source.name, kMaxNameBytes) ||
      !IsHexText(tree.TextAt("digest"), 12)) {
    return WrongPart("has a source that cannot be read");
  }
  source.digest = tree.TextAt("digest");
  source.more_keys = *more;
  if (tree.Find("by") != nullptr) {
    const auto written = Time::Parse(tree.TextAt("written"));
    if (!written || !IsShowable(tree.TextAt("by"), kMaxNameBytes)) {
      return WrongPart("has a writer that cannot be read");
    }
    source.writer = {.manager = std::string(tree.TextAt("by")), .time = *written};
  }
  if (const JsonTree* keys = tree.Find("keys")) {
    KX_ASSIGN_OR_RETURN(source.keys, KeysFrom(*keys));
  }
  return source;
}

/// Adds a source to the entry, or to its `unread` when others have described its kind.
Result<void> AddSourceFrom(const JsonTree& tree, HistoryEntry& entry) {
  KX_ASSIGN_OR_RETURN(HistorySource source, UntypedSourceFrom(tree));
  const std::string_view id = tree.TextAt("source");
  const std::string_view lower = id.substr(0, id.find('/'));
  if (const auto type = TypeCalled(&SourceTypeNames::lower, lower)) {
    source.type = *type;
    entry.sources.push_back(std::move(source));
    return {};
  }
  if (lower.empty() || !std::ranges::all_of(lower, base::IsLowerAlphanumeric)) {
    return WrongPart("has a source that cannot be read");
  }
  entry.unread.push_back(tree.ToJson());
  return {};
}

Result<HistoryEntry> HistoryEntryFrom(const JsonTree& tree) {
  const auto at = Time::Parse(tree.IsObject() ? tree.TextAt("at") : "");
  const auto outcome = ParseEnum(kRolloutOutcomes, tree.IsObject() ? tree.TextAt("outcome") : "");
  const auto more = at ? CountIn(tree, "moreSources") : std::nullopt;
  const auto seconds = at ? CountIn(tree, "seconds") : std::nullopt;
  if (!at || !outcome || !more || !seconds) {
    return WrongPart("has a rollout that cannot be read");
  }
  HistoryEntry entry{.at = *at, .outcome = *outcome, .more_sources = *more};
  if (tree.Find("seconds") != nullptr) {
    entry.seconds = *seconds;
  }
  if (!IsShowable(tree.TextAt("inPlace"), History::kMaxActionBytes)) {
    return WrongPart("has an action that cannot be read");
  }
  entry.in_place = tree.TextAt("inPlace");
  const JsonTree* sources = tree.Find("sources");
  if (sources == nullptr || !sources->IsArray() || sources->size() > History::kMaxSources) {
    return WrongPart("has a rollout with no list of sources, or with too many");
  }
  for (const JsonTree& each : sources->elements()) {
    KX_RETURN_IF_ERROR(AddSourceFrom(each, entry));
  }
  return entry;
}

}  // namespace

std::string History::ToString() const {
  JsonTree tree = JsonTree::Object();
  tree["v"] = kHistoryFormat;
  tree["of"] = owner;
  tree["rollouts"] = JsonTree::Array();
  for (const HistoryEntry& entry : rollouts) {
    JsonTree rollout = JsonTree::Object();
    rollout["at"] = entry.at.ToString();
    rollout["outcome"] = reloader::ToString(entry.outcome);
    if (entry.seconds) {
      rollout["seconds"] = *entry.seconds;
    }
    rollout["sources"] = JsonTree::Array();
    for (const HistorySource& source : entry.sources) {
      rollout["sources"].Append(HistorySourceTree(source));
    }
    for (const std::string& source : entry.unread) {
      if (auto read = JsonTree::Parse(source)) {
        rollout["sources"].Append(*std::move(read));
      }
    }
    if (entry.more_sources > 0) {
      rollout["moreSources"] = entry.more_sources;
    }
    if (!entry.in_place.empty()) {
      rollout["inPlace"] = entry.in_place;
    }
    tree["rollouts"].Append(std::move(rollout));
  }
  return tree.ToJson();
}

Result<History> History::Parse(std::string_view text) {
  if (text.size() > kMaxBytes) {
    return WrongPart("is longer than " + std::to_string(kMaxBytes) + " bytes");
  }
  const auto tree = JsonTree::Parse(text);
  if (!tree || !tree->IsObject()) {
    return WrongPart("is not a JSON object");
  }
  const JsonTree* format = tree->Find("v");
  const JsonTree* rollouts = tree->Find("rollouts");
  if (format == nullptr || format->AsInt() != kHistoryFormat) {
    return WrongPart("is of no format that this version knows");
  }
  if (rollouts == nullptr || !rollouts->IsArray() || rollouts->size() > kMaxRollouts ||
      tree->TextAt("of").empty() || !IsShowable(tree->TextAt("of"), kMaxOwnerBytes)) {
    return WrongPart("has no owner, no list of rollouts, or too many of them");
  }
  History history{.owner = std::string(tree->TextAt("of"))};
  for (const JsonTree& each : rollouts->elements()) {
    KX_ASSIGN_OR_RETURN(HistoryEntry entry, HistoryEntryFrom(each));
    history.rollouts.push_back(std::move(entry));
  }
  return history;
}

}  // namespace kubexx::reloader
