#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// The element with the same key; null when there is none.
JsonTree* Counterpart(JsonTree& list, const JsonTree& element, std::string_view key) {
  const JsonTree* const wanted = element.Find(key);
  if (wanted == nullptr) {
    return nullptr;
  }
  for (JsonTree& one : list.elements()) {
    const JsonTree* const value = one.Find(key);
    if (value != nullptr && *value == *wanted) {
      return &one;
    }
  }
  return nullptr;
}

void EraseElement(JsonTree& list, const JsonTree* element) {
  std::vector<JsonTree> rest;
  for (JsonTree& one : list.elements()) {
    if (&one != element) {
      rest.push_back(std::move(one));
    }
  }
  list = JsonTree::Array(std::move(rest));
}

Result<JsonTree> MergeList(JsonTree list, const JsonTree& patch, std::string_view name,
                           std::string_view key) {
  if (!list.IsArray()) {
    list = JsonTree::Array();
  }
  for (const JsonTree& element : patch.elements()) {
    if (DirectiveOf(element) == "replace" && element.size() == 1) {
      list = JsonTree::Array();
      for (const JsonTree& one : patch.elements()) {
        if (DirectiveOf(one).empty()) {
          list.Append(one);
        }
      }
      return list;
    }
  }
  for (const JsonTree& element : patch.elements()) {
    JsonTree* const found = Counterpart(list, element, key);
    if (DirectiveOf(element) == "delete") {
      if (found != nullptr) {
        EraseElement(list, found);
      }
    } else if (found != nullptr) {
      KX_ASSIGN_OR_RETURN(*found, MergeObject(std::move(*found), element, name));
    } else {
      KX_ASSIGN_OR_RETURN(JsonTree added, MergeObject(JsonTree::Object(), element, name));
      list.Append(std::move(added));
    }
  }
  return list;
}

JsonTree MergeSet(JsonTree list, const JsonTree& patch) {
  if (!list.IsArray()) {
    list = JsonTree::Array();
  }
  for (const JsonTree& element : patch.elements()) {
    if (std::ranges::find(list.elements(), element) == list.elements().end()) {
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
  std::vector<JsonTree> rest;
  for (const JsonTree& element : list->elements()) {
    if (std::ranges::find(values.elements(), element) == values.elements().end()) {
      rest.push_back(element);
    }
  }
  *list = JsonTree::Array(std::move(rest));
}

/// Leaves only the members that "$retainKeys" names.
void Retain(JsonTree& object, const JsonTree& keys) {
  std::vector<JsonTree::Member> kept;
  for (JsonTree::Member& member : object.members()) {
    if (std::ranges::find(keys.elements(), JsonTree(member.key)) != keys.elements().end()) {
      kept.push_back(std::move(member));
    }
  }
  object = JsonTree::Object(std::move(kept));
}

/// Puts the elements that "$setElementOrder" names into its order, where they stand.
void Reorder(JsonTree& list, const JsonTree& order, std::string_view key) {
  const auto place = [&](const JsonTree& element) {
    const JsonTree* const own = key.empty() ? &element : element.Find(key);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const JsonTree& one = order.elements()[i];
      const JsonTree* const other = key.empty() ? &one : one.Find(key);
      if (own != nullptr && other != nullptr && *own == *other) {
        return i;
      }
    }
    return order.size();
  };
  std::vector<JsonTree> elements(list.elements().begin(), list.elements().end());
  std::ranges::stable_sort(elements, {}, place);
  list = JsonTree::Array(std::move(elements));
}

Result<void> MergeMember(JsonTree& object, const JsonTree::Member& member, std::string_view name) {
  const std::string_view key = member.key;
  if (key.starts_with(kDelete)) {
    DeleteFromList(object, key.substr(kDelete.size()), member.value);
    return {};
  }
  if (key == "$patch" || key == "$retainKeys" || key.starts_with(kOrder)) {
    return {};
  }
  if (member.value.IsNull()) {
    object.Erase(key);
    return {};
  }
  JsonTree& slot = object[key];
  if (member.value.IsObject()) {
    KX_ASSIGN_OR_RETURN(slot, MergeObject(std::move(slot), member.value, key));
  } else if (member.value.IsArray() && !KeyOfList(key, name).empty()) {
    KX_ASSIGN_OR_RETURN(slot, MergeList(std::move(slot), member.value, key, KeyOfList(key, name)));
  } else if (member.value.IsArray() && std::ranges::find(kSets, key) != std::end(kSets)) {
    slot = MergeSet(std::move(slot), member.value);
  } else {
    slot = member.value;
  }
  return {};
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
  for (const JsonTree::Member& member : patch.members()) {
    KX_RETURN_IF_ERROR(MergeMember(object, member, name));
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
