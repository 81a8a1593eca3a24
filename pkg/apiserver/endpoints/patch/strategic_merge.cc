#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/patch/merge_members.h"
#include "kubexx/apiserver/endpoints/patch/patch.h"
#include "kubexx/apiserver/endpoints/patch/patch_budget.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;
using managedfields::PatchRule;
using managedfields::Type;

// The costs of operations in the units of a PatchBudget: an element of a merged list or set is
// copied and found by its key, and a member is found and moved.
constexpr std::size_t kWorkOfElement = 20;
constexpr std::size_t kWorkOfMember = 4;

constexpr std::string_view kDelete = "$deleteFromPrimitiveList/";
constexpr std::string_view kOrder = "$setElementOrder/";

/// Returns the member by which the elements of the list are told apart, or "" when there is none.
std::string_view KeyOf(const PatchRule* rule) {
  return rule == nullptr ? std::string_view() : rule->key;
}

std::string DirectiveOf(const JsonTree& patch) { return StringAt(patch, {"$patch"}); }

/// Keys and values come from clients, who could make a hash table slow with keys that collide.
using Texts = std::set<std::string, std::less<>>;

Result<JsonTree> MergeObject(JsonTree object, const JsonTree& patch, const Type& type,
                             PatchBudget& budget);

/// Returns a text that equal values of keys have in common. It may be as long as the object, so
/// each call spends from the budget, and fails when nothing is left.
std::string KeyText(const JsonTree& value, PatchBudget& budget) {
  std::string text;
  if (const auto number = value.AsInt()) {
    text = std::to_string(*number);
  } else if (const auto other = value.AsDouble()) {
    text = JsonTree(*other).ToJson();
  } else {
    text = value.ToJson();
  }
  budget.TakeBytes(text.size());
  return text;
}

/// A list whose elements are found by a key, without comparing all pairs of elements.
class KeyedList {
 public:
  KeyedList(std::string_view key, PatchBudget& budget) : key_(key), budget_(budget) {}

  void Append(JsonTree element) {
    if (const JsonTree* const value = element.Find(key_)) {
      places_[KeyText(*value, budget_)].push_back(elements_.size());
    }
    elements_.emplace_back(std::move(element));
  }
  /// Returns the first element with the same key as `element`, or null when there is none.
  JsonTree* Counterpart(const JsonTree& element) {
    const auto found = PlacesOf(element);
    return found == places_.end() ? nullptr : &*elements_[found->second.front()];
  }
  /// Removes all elements with that key.
  void Erase(const JsonTree& element) {
    const auto found = PlacesOf(element);
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
  using Places = std::map<std::string, std::vector<std::size_t>>;

  Places::iterator PlacesOf(const JsonTree& element) {
    const JsonTree* const value = element.Find(key_);
    return value == nullptr ? places_.end() : places_.find(KeyText(*value, budget_));
  }

  const std::string_view key_;
  PatchBudget& budget_;
  std::vector<std::optional<JsonTree>> elements_{};
  Places places_{};
};

/// `type` is the type of the elements. The content of `old` is moved, not copied, because the patch
/// may name the same large element many times.
Result<JsonTree> MergeList(JsonTree old, const JsonTree& patch, std::string_view key,
                           const Type& type, PatchBudget& budget) {
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
  KX_RETURN_IF_ERROR(budget.Spend(kWorkOfElement * (old.size() + patch.size())));
  KeyedList list(key, budget);
  if (old.IsArray()) {
    for (JsonTree& element : old.elements()) {
      list.Append(std::move(element));
      KX_RETURN_IF_ERROR(budget.Spend(0));
    }
  }
  for (const JsonTree& element : patch.elements()) {
    KX_RETURN_IF_ERROR(budget.Spend(0));
    JsonTree* const found = list.Counterpart(element);
    if (DirectiveOf(element) == "delete") {
      list.Erase(element);
    } else if (found != nullptr) {
      KX_ASSIGN_OR_RETURN(*found, MergeObject(std::move(*found), element, type, budget));
    } else {
      KX_ASSIGN_OR_RETURN(JsonTree added, MergeObject(JsonTree::Object(), element, type, budget));
      list.Append(std::move(added));
    }
  }
  return list.Take();
}

/// Returns the names of a list's elements.
Result<Texts> KeyTexts(const JsonTree& list, PatchBudget& budget) {
  Texts names;
  for (const JsonTree& element : list.elements()) {
    names.insert(KeyText(element, budget));
    KX_RETURN_IF_ERROR(budget.Spend(0));
  }
  return names;
}

Result<JsonTree> MergeSet(JsonTree list, const JsonTree& patch, PatchBudget& budget) {
  if (!list.IsArray()) {
    list = JsonTree::Array();
  }
  KX_ASSIGN_OR_RETURN(Texts names, KeyTexts(list, budget));
  for (const JsonTree& element : patch.elements()) {
    if (names.insert(KeyText(element, budget)).second) {
      list.Append(element);
    }
    KX_RETURN_IF_ERROR(budget.Spend(0));
  }
  return list;
}

Result<void> DeleteFromList(JsonTree& object, std::string_view member, const JsonTree& values,
                            PatchBudget& budget) {
  KX_RETURN_IF_ERROR(budget.Spend(kWorkOfMember * object.size()));
  JsonTree* const list = object.Find(member);
  if (list == nullptr || !list->IsArray()) {
    return {};
  }
  KX_RETURN_IF_ERROR(budget.Spend(kWorkOfElement * (list->size() + values.size())));
  KX_ASSIGN_OR_RETURN(const Texts names, KeyTexts(values, budget));
  std::vector<JsonTree> rest;
  for (JsonTree& element : list->elements()) {
    if (!names.contains(KeyText(element, budget))) {
      rest.push_back(std::move(element));
    }
    KX_RETURN_IF_ERROR(budget.Spend(0));
  }
  *list = JsonTree::Array(std::move(rest));
  return {};
}

/// Keeps only the members that "$retainKeys" names.
Result<void> Retain(JsonTree& object, const JsonTree& keys, PatchBudget& budget) {
  KX_ASSIGN_OR_RETURN(const Texts names, KeyTexts(keys, budget));
  std::vector<JsonTree::Member> kept;
  for (JsonTree::Member& member : object.members()) {
    if (names.contains(KeyText(JsonTree(member.key), budget))) {
      kept.push_back(std::move(member));
    }
    KX_RETURN_IF_ERROR(budget.Spend(0));
  }
  object = JsonTree::Object(std::move(kept));
  return {};
}

/// Puts the elements that "$setElementOrder" names into its order, within the places that they
/// have.
Result<void> Reorder(JsonTree& list, const JsonTree& order, std::string_view key,
                     PatchBudget& budget) {
  const auto name_in = [key, &budget](const JsonTree& element) {
    const JsonTree* const own = key.empty() ? &element : element.Find(key);
    return own == nullptr ? std::string() : KeyText(*own, budget);
  };
  std::map<std::string, std::size_t> places;
  for (const JsonTree& element : order.elements()) {
    if (std::string name = name_in(element); !name.empty()) {
      places.emplace(std::move(name), places.size());
    }
    KX_RETURN_IF_ERROR(budget.Spend(0));
  }
  std::vector<std::pair<std::size_t, JsonTree>> elements;
  for (JsonTree& element : list.elements()) {
    const auto found = places.find(name_in(element));
    elements.emplace_back(found == places.end() ? places.size() : found->second,
                          std::move(element));
    KX_RETURN_IF_ERROR(budget.Spend(0));
  }
  std::ranges::stable_sort(elements, {}, &std::pair<std::size_t, JsonTree>::first);
  std::vector<JsonTree> sorted;
  for (auto& [place, element] : elements) {
    sorted.push_back(std::move(element));
  }
  list = JsonTree::Array(std::move(sorted));
  return {};
}

bool IsDirective(std::string_view key) {
  return key == "$patch" || key == "$retainKeys" || key.starts_with(kOrder) ||
         key.starts_with(kDelete);
}

/// Refuses "$retainKeys" and "$setElementOrder" that are not lists, or that belong to something
/// that is not a list, and refuses changes of members that "$retainKeys" does not name.
Result<void> CheckDirectives(const JsonTree& object, const JsonTree& patch, PatchBudget& budget) {
  const JsonTree* const keys = patch.Find("$retainKeys");
  if (keys != nullptr && !keys->IsArray()) {
    return Fail(Reason::kBadRequest, "$retainKeys is a list of names");
  }
  Texts names;
  if (keys != nullptr) {
    KX_RETURN_IF_ERROR(budget.Spend(kWorkOfElement * keys->size()));
    KX_ASSIGN_OR_RETURN(names, KeyTexts(*keys, budget));
  }
  for (const auto& [key, value] : patch.members()) {
    if (key.starts_with(kOrder)) {
      const std::string_view list = std::string_view(key).substr(kOrder.size());
      const JsonTree* const old = object.Find(list);
      const JsonTree* const change = patch.Find(list);
      if (!value.IsArray() || (old != nullptr && !old->IsArray()) ||
          (change != nullptr && !change->IsArray())) {
        return Fail(Reason::kBadRequest,
                    key + " is a list, and puts the elements of another in order");
      }
      KX_RETURN_IF_ERROR(budget.Spend(kWorkOfMember * (object.size() + patch.size())));
    } else if (keys != nullptr && !IsDirective(key) && !value.IsNull() &&
               !names.contains(KeyText(JsonTree(key), budget))) {
      return Fail(Reason::kBadRequest,
                  "the patch changes " + key + ", which its $retainKeys does not name");
    }
  }
  return {};
}

/// `type` is the type of the object around the member.
Result<JsonTree> MergeValue(std::string_view key, JsonTree old, const JsonTree& change,
                            const Type& type, PatchBudget& budget) {
  const PatchRule* const rule = type.PatchRuleOf(key);
  // When there is no old value, the change is merged in any case, which removes its directives.
  const bool replaces = rule != nullptr && rule->Replaces() && old.IsObject();
  if (change.IsObject() && !replaces) {
    return MergeObject(std::move(old), change, type.Member(key), budget);
  }
  if (change.IsArray() && rule != nullptr && rule->Merges() && !rule->key.empty()) {
    return MergeList(std::move(old), change, rule->key, type.Member(key).Element(), budget);
  }
  KX_RETURN_IF_ERROR(budget.Spend(kWorkOfElement * (old.size() + change.size())));
  return change.IsArray() && rule != nullptr && rule->Merges()
             ? MergeSet(std::move(old), change, budget)
             : Result<JsonTree>(change);
}

Result<JsonTree> MergeObject(JsonTree object, const JsonTree& patch, const Type& type,
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
  KX_RETURN_IF_ERROR(budget.Spend(kWorkOfMember * (object.size() + patch.size())));
  KX_RETURN_IF_ERROR(CheckDirectives(object, patch, budget));
  KX_ASSIGN_OR_RETURN(
      object,
      MergeMembers(std::move(object), patch, IsDirective,
                   [&type, &budget](std::string_view key, JsonTree old, const JsonTree& change) {
                     return MergeValue(key, std::move(old), change, type, budget);
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
      KX_RETURN_IF_ERROR(budget.Spend(kWorkOfMember * object.size()));
      if (JsonTree* const found = object.Find(list)) {
        KX_RETURN_IF_ERROR(budget.Spend(kWorkOfElement * (found->size() + member.value.size())));
        KX_RETURN_IF_ERROR(Reorder(*found, member.value, KeyOf(type.PatchRuleOf(list)), budget));
      }
    }
  }
  if (const JsonTree* const keys = patch.Find("$retainKeys")) {
    KX_RETURN_IF_ERROR(Retain(object, *keys, budget));
  }
  return object;
}

}  // namespace

Result<JsonTree> ApplyStrategicMergePatch(JsonTree object, const JsonTree& patch, const Type& type,
                                          PatchBudget budget) {
  if (patch.IsNull()) {  // Go reads null as no members.
    return object;
  }
  if (!patch.IsObject()) {
    return Fail(Reason::kBadRequest, "a strategic merge patch is an object");
  }
  return MergeObject(std::move(object), patch, type, budget);
}

}  // namespace kubexx::apiserver
