#include "kubexx/kubernetes/managed_fields_upgrade.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>

#include "kubexx/codec/codec.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/codec/member_index.h"

namespace kubexx::kubernetes {
namespace {

using api::meta::v1::ManagedFieldsEntry;
using apimachinery::Fail;
using apimachinery::Malformed;
using apimachinery::Result;
using codec::JsonTree;
using codec::MemberIndex;

constexpr std::string_view kApplyOperation = "Apply";
constexpr std::string_view kUpdateOperation = "Update";
// In a set: the path that ends here, besides those that go on.
constexpr std::string_view kMember = ".";

Result<JsonTree> FieldsOf(const ManagedFieldsEntry& entry) {
  if (!entry.fields_v1 || entry.fields_v1->raw.empty()) {
    return JsonTree::Object();
  }
  auto fields = JsonTree::Parse(entry.fields_v1->raw);
  if (!fields || !fields->IsObject()) {
    return Fail(Malformed("metadata.managedFields", "the fields of manager \"" + entry.manager +
                                                        "\" are not a set of fields"));
  }
  return fields;
}

// Whether a set has the path that ends at this node.
bool HasItself(const JsonTree& node) { return node.size() == 0 || node.Find(kMember) != nullptr; }

// Adds the paths of `other` below the node. Both are as deep as JsonTree::Parse allows at most, and
// may be as wide as the largest object that the server stores.
void AddPaths(JsonTree& node, const JsonTree& other) {
  const MemberIndex steps(&other);
  for (JsonTree::Member& there : node.members()) {
    const JsonTree* const more = there.key == kMember ? nullptr : steps.Find(there.key);
    if (more == nullptr) {
      continue;
    }
    const bool itself = HasItself(there.value) || HasItself(*more);
    AddPaths(there.value, *more);
    if (itself && there.value.size() != 0 && there.value.Find(kMember) == nullptr) {
      there.value[kMember] = JsonTree::Object();
    }
  }
  std::vector<JsonTree::Member> added;
  const MemberIndex present(&node);
  for (const JsonTree::Member& step : other.members()) {
    if (step.key != kMember && present.Find(step.key) == nullptr) {
      added.push_back(step);
    }
  }
  if (added.empty()) {
    return;
  }
  const std::span<JsonTree::Member> own = node.members();
  added.insert(added.begin(), std::make_move_iterator(own.begin()),
               std::make_move_iterator(own.end()));
  node = JsonTree::Object(std::move(added));
}

bool Is(const ManagedFieldsEntry& entry, std::string_view manager, std::string_view operation,
        const ManagedFieldsUpgrade& upgrade) {
  return entry.manager == manager && entry.operation == operation &&
         entry.subresource == upgrade.subresource;
}

Result<void> UpgradeOne(std::vector<ManagedFieldsEntry>& entries, std::string_view manager,
                        const ManagedFieldsUpgrade& upgrade) {
  const auto is_update = [&](const ManagedFieldsEntry& entry) {
    return Is(entry, manager, kUpdateOperation, upgrade);
  };
  auto target = std::ranges::find_if(entries, [&](const ManagedFieldsEntry& entry) {
    return Is(entry, upgrade.apply_manager, kApplyOperation, upgrade);
  });
  if (target == entries.end()) {
    target = std::ranges::find_if(entries, is_update);
    if (target == entries.end()) {
      return {};
    }
    target->operation = kApplyOperation;
    target->manager = upgrade.apply_manager;
  }
  const auto source = std::ranges::find_if(entries, [&](const ManagedFieldsEntry& entry) {
    return is_update(entry) && entry.api_version == target->api_version;
  });
  if (source != entries.end()) {
    KX_ASSIGN_OR_RETURN(JsonTree fields, FieldsOf(*target));
    KX_ASSIGN_OR_RETURN(const JsonTree added, FieldsOf(*source));
    AddPaths(fields, added);
    target->fields_v1.emplace().raw = fields.ToJson();
  }
  std::erase_if(entries, is_update);
  return {};
}

}  // namespace

Result<void> UpgradeManagedFields(std::vector<ManagedFieldsEntry>& entries,
                                  const ManagedFieldsUpgrade& upgrade) {
  if (upgrade.apply_manager.empty()) {
    return Fail(
        apimachinery::Reason::kBadRequest,
        "an upgrade of managed fields needs the field manager of the server-side apply: set "
        "ManagedFieldsUpgrade::apply_manager");
  }
  std::vector<ManagedFieldsEntry> upgraded = entries;
  for (const std::string& manager : upgrade.update_managers) {
    KX_RETURN_IF_ERROR(UpgradeOne(upgraded, manager, upgrade));
  }
  entries = std::move(upgraded);
  return {};
}

Result<std::optional<std::string>> UpgradeManagedFieldsPatch(
    const api::meta::v1::ObjectMeta& metadata, const ManagedFieldsUpgrade& upgrade) {
  std::vector<ManagedFieldsEntry> upgraded = metadata.managed_fields;
  KX_RETURN_IF_ERROR(UpgradeManagedFields(upgraded, upgrade));
  if (upgraded == metadata.managed_fields) {
    return std::optional<std::string>();
  }
  JsonTree entries = JsonTree::Array();
  for (const ManagedFieldsEntry& entry : upgraded) {
    KX_ASSIGN_OR_RETURN(JsonTree tree, JsonTree::Parse(codec::EncodeJson(entry)));
    entries.Append(std::move(tree));
  }
  const auto replace = [](std::string_view path, JsonTree value) {
    return JsonTree::Object(
        {{"op", "replace"}, {"path", JsonTree(path)}, {"value", std::move(value)}});
  };
  JsonTree patch = JsonTree::Array();
  patch.Append(replace("/metadata/managedFields", std::move(entries)));
  // Not a "test": with another version the server then answers with a conflict, and not with an
  // invalid request.
  patch.Append(replace("/metadata/resourceVersion", metadata.resource_version));
  return std::optional(patch.ToJson());
}

}  // namespace kubexx::kubernetes
