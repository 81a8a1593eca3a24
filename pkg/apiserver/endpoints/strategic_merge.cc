#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/merge_members.h"
#include "kubexx/apiserver/endpoints/patch.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

/// Lists that are merged element by element, and by what. The names of fields tell them apart,
/// with the field around them where that is needed.
struct MergeKey {
  std::string_view list;
  std::string_view parent;  // "" for any
  std::string_view key;
};
constexpr MergeKey kMergeKeys[] = {
    {"containers", "", "name"},
    {"initContainers", "", "name"},
    {"ephemeralContainers", "", "name"},
    {"volumes", "", "name"},
    {"env", "", "name"},
    {"volumeMounts", "", "mountPath"},
    {"volumeDevices", "", "devicePath"},
    {"imagePullSecrets", "", "name"},
    {"resourceClaims", "spec", "name"},
    {"hostAliases", "", "ip"},
    {"topologySpreadConstraints", "", "topologyKey"},
    {"conditions", "status", "type"},
    {"podIPs", "", "ip"},
    {"hostIPs", "", "ip"},
    {"ports", "containers", "containerPort"},
    {"ports", "initContainers", "containerPort"},
    {"ports", "spec", "port"},
    {"ownerReferences", "metadata", "uid"},
    {"secrets", "", "name"},
    {"addresses", "status", "type"},
    {"schedulingGates", "", "name"},
    {"webhooks", "", "name"},
};
/// Lists of strings that are sets.
constexpr std::string_view kSets[] = {"finalizers"};

constexpr std::string_view kDelete = "$deleteFromPrimitiveList/";
constexpr std::string_view kOrder = "$setElementOrder/";

std::string_view KeyOfList(std::string_view list, std::string_view parent) {
  const auto found = std::ranges::find_if(kMergeKeys, [&](const MergeKey& one) {
    return one.list == list && (one.parent.empty() || one.parent == parent);
  });
  return found == std::end(kMergeKeys) ? std::string_view() : found->key;
}

std::string DirectiveOf(const JsonTree& patch) { return StringAt(patch, {"$patch"}); }

Result<JsonTree> MergeObject(JsonTree object, const JsonTree& patch, std::string_view name);

/// A text that equal values of keys share.
std::string KeyText(const JsonTree& value) {
  if (const auto number = value.AsInt()) {
    return std::to_string(*number);
  }
  const auto number = value.AsDouble();
  return number ? JsonTree(*number).ToJson() : value.ToJson();
}

/// A list whose elements are found by a key, in a time that is not that of all pairs of elements.
class KeyedList {
 public:
  KeyedList(const JsonTree& list, std::string_view key) : key_(key) {
    for (const JsonTree& element : list.elements()) {
      Append(element);
    }
  }

  void Append(JsonTree element) {
    if (const JsonTree* const value = element.Find(key_)) {
      places_[KeyText(*value)].push_back(elements_.size());
    }
    elements_.emplace_back(std::move(element));
  }
  /// The first element with the key of another; null when there is none.
  JsonTree* Counterpart(const JsonTree& element) {
    const JsonTree* const value = element.Find(key_);
    const auto found = value == nullptr ? places_.end() : places_.find(KeyText(*value));
    return found == places_.end() ? nullptr : &*elements_[found->second.front()];
  }
  /// Takes all elements with that key out.
  void Erase(const JsonTree& element) {
    const JsonTree* const value = element.Find(key_);
    const auto found = value == nullptr ? places_.end() : places_.find(KeyText(*value));
    if (found != places_.end()) {
      for (const std::size_t place : found->second) {
        elements_[place].reset();
      }
      places_.erase(found);
    }
  }
  JsonTree Take() {
    std::vector<JsonTree> rest;
    for (std::optional<JsonTree>& element : elements_) {
      if (element) {
        rest.push_back(std::move(*element));
      }
    }
    return JsonTree::Array(std::move(rest));
  }

 private:
  const std::string_view key_;
  std::vector<std::optional<JsonTree>> elements_;
  std::unordered_map<std::string, std::vector<std::size_t>> places_;
};

Result<JsonTree> MergeList(const JsonTree& old, const JsonTree& patch, std::string_view name,
                           std::string_view key) {
  for (const JsonTree& element : patch.elements()) {
    if (DirectiveOf(element) == "replace" && element.size() == 1) {
      JsonTree list = JsonTree::Array();
      for (const JsonTree& one : patch.elements()) {
        if (DirectiveOf(one).empty()) {
          list.Append(one);
        }
      }
      return list;
    }
  }
  KeyedList list(old, key);
  for (const JsonTree& element : patch.elements()) {
    JsonTree* const found = list.Counterpart(element);
    if (DirectiveOf(element) == "delete") {
      list.Erase(element);
    } else if (found != nullptr) {
      KX_ASSIGN_OR_RETURN(*found, MergeObject(std::move(*found), element, name));
    } else {
      KX_ASSIGN_OR_RETURN(JsonTree added, MergeObject(JsonTree::Object(), element, name));
      list.Append(std::move(added));
    }
  }
  return list.Take();
}

/// The names of a list's elements.
std::unordered_set<std::string> KeyTexts(const JsonTree& list) {
  std::unordered_set<std::string> names;
  for (const JsonTree& element : list.elements()) {
    names.insert(KeyText(element));
  }
  return names;
}

JsonTree MergeSet(JsonTree list, const JsonTree& patch) {
  if (!list.IsArray()) {
    list = JsonTree::Array();
  }
  std::unordered_set<std::string> names = KeyTexts(list);
  for (const JsonTree& element : patch.elements()) {
    if (names.insert(KeyText(element)).second) {
      list.Append(element);
    }
  }
  return list;
}

void DeleteFromList(JsonTree& object, std::string_view member, const JsonTree& values) {
  JsonTree* const list = object.Find(member);
  if (list == nullptr) {
    return;
  }
  const std::unordered_set<std::string> names = KeyTexts(values);
  std::vector<JsonTree> rest;
  for (const JsonTree& element : list->elements()) {
    if (!names.contains(KeyText(element))) {
      rest.push_back(element);
    }
  }
  *list = JsonTree::Array(std::move(rest));
}

/// Leaves only the members that "$retainKeys" names.
void Retain(JsonTree& object, const JsonTree& keys) {
  const std::unordered_set<std::string> names = KeyTexts(keys);
  std::vector<JsonTree::Member> kept;
  for (JsonTree::Member& member : object.members()) {
    if (names.contains(KeyText(JsonTree(member.key)))) {
      kept.push_back(std::move(member));
    }
  }
  object = JsonTree::Object(std::move(kept));
}

/// Puts the elements that "$setElementOrder" names into its order, where they stand.
void Reorder(JsonTree& list, const JsonTree& order, std::string_view key) {
  const auto name_in = [key](const JsonTree& element) {
    const JsonTree* const own = key.empty() ? &element : element.Find(key);
    return own == nullptr ? std::string() : KeyText(*own);
  };
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (std::string name = name_in(order.elements()[i]); !name.empty()) {
      places.emplace(std::move(name), i);
    }
  }
  std::vector<std::pair<std::size_t, JsonTree>> elements;
  for (JsonTree& element : list.elements()) {
    const auto found = places.find(name_in(element));
    elements.emplace_back(found == places.end() ? order.size() : found->second, std::move(element));
  }
  std::ranges::stable_sort(elements, {}, &std::pair<std::size_t, JsonTree>::first);
  std::vector<JsonTree> sorted;
  for (auto& [place, element] : elements) {
    sorted.push_back(std::move(element));
  }
  list = JsonTree::Array(std::move(sorted));
}

bool IsDirective(std::string_view key) {
  return key == "$patch" || key == "$retainKeys" || key.starts_with(kOrder) ||
         key.starts_with(kDelete);
}

/// `name` is of the object around the member.
Result<JsonTree> MergeValue(std::string_view key, JsonTree old, const JsonTree& change,
                            std::string_view name) {
  if (change.IsObject()) {
    return MergeObject(std::move(old), change, key);
  }
  if (change.IsArray() && !KeyOfList(key, name).empty()) {
    return MergeList(old, change, key, KeyOfList(key, name));
  }
  return change.IsArray() && std::ranges::find(kSets, key) != std::end(kSets)
             ? MergeSet(std::move(old), change)
             : change;
}

Result<JsonTree> MergeObject(JsonTree object, const JsonTree& patch, std::string_view name) {
  const std::string directive = DirectiveOf(patch);
  if (directive == "delete") {
    return JsonTree::Object();
  }
  if (directive == "replace") {
    JsonTree whole = patch;
    whole.Erase("$patch");
    return whole;
  }
  if (!directive.empty() && directive != "merge") {
    return Fail(Reason::kBadRequest, "unknown $patch directive \"" + directive + "\"");
  }
  if (!object.IsObject()) {
    object = JsonTree::Object();
  }
  KX_ASSIGN_OR_RETURN(
      object, MergeMembers(std::move(object), patch, IsDirective,
                           [name](std::string_view key, JsonTree old, const JsonTree& change) {
                             return MergeValue(key, std::move(old), change, name);
                           }));
  for (const JsonTree::Member& member : patch.members()) {
    if (member.key.starts_with(kDelete)) {
      DeleteFromList(object, std::string_view(member.key).substr(kDelete.size()), member.value);
    }
  }
  for (const JsonTree::Member& member : patch.members()) {
    if (member.key.starts_with(kOrder)) {
      const std::string_view list = std::string_view(member.key).substr(kOrder.size());
      if (JsonTree* const found = object.Find(list)) {
        Reorder(*found, member.value, KeyOfList(list, name));
      }
    }
  }
  if (const JsonTree* const keys = patch.Find("$retainKeys")) {
    Retain(object, *keys);
  }
  return object;
}

}  // namespace

std::string_view MergeKeyOf(std::string_view type, std::string_view list) {
  std::string_view parent;
  if (type.ends_with(".Container") || type.ends_with(".EphemeralContainer")) {
    parent = "containers";
  } else if (type.ends_with("Status")) {
    parent = "status";
  } else if (type.ends_with("Spec")) {
    parent = "spec";
  } else if (type.ends_with("ObjectMeta")) {
    parent = "metadata";
  }
  return KeyOfList(list, parent);
}

Result<JsonTree> ApplyStrategicMergePatch(JsonTree object, const JsonTree& patch) {
  if (!patch.IsObject()) {
    return Fail(Reason::kBadRequest, "a strategic merge patch is an object");
  }
  return MergeObject(std::move(object), patch, "");
}

}  // namespace kubexx::apiserver
