#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/merge_members.h"
#include "kubexx/apiserver/endpoints/patch.h"
#include "kubexx/apiserver/endpoints/patch_budget.h"
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

// What things cost in the units of a PatchBudget: an element of a merged list or set is copied and
// found by its key, a member is found and moved.
constexpr std::size_t kWorkOfElement = 20;
constexpr std::size_t kWorkOfMember = 4;
constexpr std::size_t kKeyBytesOfWork = 8;

constexpr std::string_view kDelete = "$deleteFromPrimitiveList/";
constexpr std::string_view kOrder = "$setElementOrder/";

std::string_view KeyOfList(std::string_view list, std::string_view parent) {
  const auto found = std::ranges::find_if(kMergeKeys, [&](const MergeKey& one) {
    return one.list == list && (one.parent.empty() || one.parent == parent);
  });
  return found == std::end(kMergeKeys) ? std::string_view() : found->key;
}

std::string DirectiveOf(const JsonTree& patch) { return StringAt(patch, {"$patch"}); }

/// Keys and values come from clients: a hash table of them could be made slow by keys that collide.
using Texts = std::set<std::string, std::less<>>;

Result<JsonTree> MergeObject(JsonTree object, const JsonTree& patch, std::string_view name,
                             PatchBudget& budget);

Result<void> Spend(PatchBudget& budget, std::size_t work) {
  return budget.Take(work) ? Result<void>()
                           : Fail(Reason::kRequestEntityTooLarge,
                                  "the strategic merge patch names the same places too often", 413);
}

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
      std::string text = KeyText(*value);
      key_bytes_ += text.size();
      places_[std::move(text)].push_back(elements_.size());
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
  /// Of all elements that it has been given.
  std::size_t key_bytes() const { return key_bytes_; }
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
  std::size_t key_bytes_ = 0;
  std::vector<std::optional<JsonTree>> elements_;
  std::map<std::string, std::vector<std::size_t>> places_;
};

Result<JsonTree> MergeList(const JsonTree& old, const JsonTree& patch, std::string_view name,
                           std::string_view key, PatchBudget& budget) {
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
  KX_RETURN_IF_ERROR(Spend(
      budget, kWorkOfElement * (old.size() + patch.size()) + list.key_bytes() / kKeyBytesOfWork));
  for (const JsonTree& element : patch.elements()) {
    JsonTree* const found = list.Counterpart(element);
    if (DirectiveOf(element) == "delete") {
      list.Erase(element);
    } else if (found != nullptr) {
      KX_ASSIGN_OR_RETURN(*found, MergeObject(std::move(*found), element, name, budget));
    } else {
      KX_ASSIGN_OR_RETURN(JsonTree added, MergeObject(JsonTree::Object(), element, name, budget));
      list.Append(std::move(added));
    }
  }
  return list.Take();
}

/// The names of a list's elements.
Texts KeyTexts(const JsonTree& list) {
  Texts names;
  for (const JsonTree& element : list.elements()) {
    names.insert(KeyText(element));
  }
  return names;
}

JsonTree MergeSet(JsonTree list, const JsonTree& patch) {
  if (!list.IsArray()) {
    list = JsonTree::Array();
  }
  Texts names = KeyTexts(list);
  for (const JsonTree& element : patch.elements()) {
    if (names.insert(KeyText(element)).second) {
      list.Append(element);
    }
  }
  return list;
}

Result<void> DeleteFromList(JsonTree& object, std::string_view member, const JsonTree& values,
                            PatchBudget& budget) {
  KX_RETURN_IF_ERROR(Spend(budget, kWorkOfMember * object.size()));
  JsonTree* const list = object.Find(member);
  if (list == nullptr) {
    return {};
  }
  KX_RETURN_IF_ERROR(Spend(budget, kWorkOfElement * (list->size() + values.size())));
  const Texts names = KeyTexts(values);
  std::vector<JsonTree> rest;
  for (const JsonTree& element : list->elements()) {
    if (!names.contains(KeyText(element))) {
      rest.push_back(element);
    }
  }
  *list = JsonTree::Array(std::move(rest));
  return {};
}

/// Leaves only the members that "$retainKeys" names.
void Retain(JsonTree& object, const JsonTree& keys) {
  const Texts names = KeyTexts(keys);
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
  std::map<std::string, std::size_t> places;
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
                            std::string_view name, PatchBudget& budget) {
  if (change.IsObject()) {
    return MergeObject(std::move(old), change, key, budget);
  }
  if (change.IsArray() && !KeyOfList(key, name).empty()) {
    return MergeList(old, change, key, KeyOfList(key, name), budget);
  }
  KX_RETURN_IF_ERROR(Spend(budget, kWorkOfElement * (old.size() + change.size())));
  return change.IsArray() && std::ranges::find(kSets, key) != std::end(kSets)
             ? MergeSet(std::move(old), change)
             : change;
}

Result<JsonTree> MergeObject(JsonTree object, const JsonTree& patch, std::string_view name,
                             PatchBudget& budget) {
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
  KX_RETURN_IF_ERROR(Spend(budget, kWorkOfMember * (object.size() + patch.size())));
  KX_ASSIGN_OR_RETURN(
      object,
      MergeMembers(std::move(object), patch, IsDirective,
                   [name, &budget](std::string_view key, JsonTree old, const JsonTree& change) {
                     return MergeValue(key, std::move(old), change, name, budget);
                   }));
  for (const JsonTree::Member& member : patch.members()) {
    if (member.key.starts_with(kDelete)) {
      KX_RETURN_IF_ERROR(DeleteFromList(object, std::string_view(member.key).substr(kDelete.size()),
                                        member.value, budget));
    }
  }
  for (const JsonTree::Member& member : patch.members()) {
    if (member.key.starts_with(kOrder)) {
      const std::string_view list = std::string_view(member.key).substr(kOrder.size());
      KX_RETURN_IF_ERROR(Spend(budget, kWorkOfMember * object.size()));
      if (JsonTree* const found = object.Find(list)) {
        KX_RETURN_IF_ERROR(Spend(budget, kWorkOfElement * (found->size() + member.value.size())));
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

Result<JsonTree> ApplyStrategicMergePatch(JsonTree object, const JsonTree& patch,
                                          PatchBudget budget) {
  if (!patch.IsObject()) {
    return Fail(Reason::kBadRequest, "a strategic merge patch is an object");
  }
  return MergeObject(std::move(object), patch, "", budget);
}

}  // namespace kubexx::apiserver
