#include "kubexx/reloader/restore/appliers.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/codec/base64.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/restored_mark.h"

namespace kubexx::reloader {
namespace {

using api::meta::v1::ManagedFieldsEntry;
using codec::JsonTree;

constexpr std::string_view kOwnedParts[] = {"f:data", "f:binaryData"};
constexpr std::string_view kAppliedParts[] = {"data", "binaryData", "stringData"};
constexpr std::string_view kOwnedField = "f:";

/// What all annotations of an object together may have, with some room for the marks of the
/// operator.
constexpr std::size_t kMaxAnnotationBytes = std::size_t{255} * 1024;
constexpr std::size_t kMaxAppliersBytes = std::size_t{32} * 1024;

bool IsApply(const ManagedFieldsEntry& entry) {
  return entry.operation == "Apply" && entry.subresource.empty();
}

bool IsOfRestore(const ManagedFieldsEntry& entry) {
  return entry.operation == "Update" && entry.subresource.empty() &&
         entry.manager == kRestoreFieldManager;
}

JsonTree FieldsOf(const ManagedFieldsEntry& entry) {
  auto fields = entry.fields_v1 ? JsonTree::Parse(entry.fields_v1->raw) : JsonTree::Object();
  return fields ? *std::move(fields) : JsonTree::Object();
}

/// The keys of the data in `part` of an entry's fields.
std::vector<std::string> KeysIn(const JsonTree& fields, std::string_view part) {
  std::vector<std::string> keys;
  const JsonTree* const owned = fields.Find(part);
  for (const JsonTree::Member& member :
       owned == nullptr ? std::span<const JsonTree::Member>() : owned->members()) {
    if (member.key.starts_with(kOwnedField)) {
      keys.push_back(member.key.substr(kOwnedField.size()));
    }
  }
  return keys;
}

/// Adds the key to what the manager applies.
void GiveTo(const std::string& manager, std::string_view part, const std::string& key,
            const std::optional<apimachinery::Time>& time, api::meta::v1::ObjectMeta& metadata) {
  auto& entries = metadata.managed_fields;
  auto entry = std::ranges::find_if(entries, [&](const ManagedFieldsEntry& each) {
    return IsApply(each) && each.manager == manager;
  });
  if (entry == entries.end()) {
    // The write of the data has taken away all that it had.
    entries.push_back(
        {.manager = manager, .operation = "Apply", .api_version = "v1", .fields_type = "FieldsV1"});
    entry = std::prev(entries.end());
  }
  JsonTree fields = FieldsOf(*entry);
  fields[part][std::string(kOwnedField) + key] = JsonTree::Object();
  entry->fields_v1 = apimachinery::FieldsV1{.raw = fields.ToJson()};
  // The data were written now, which their owners' times tell.
  entry->time = std::max(entry->time, time);
}

}  // namespace

Appliers AppliersOf(const SourceObject& object) {
  Appliers appliers;
  for (const ManagedFieldsEntry& entry : object.metadata().managed_fields) {
    if (!IsApply(entry)) {
      continue;
    }
    const JsonTree fields = FieldsOf(entry);
    for (const std::string_view part : kOwnedParts) {
      for (std::string& key : KeysIn(fields, part)) {
        appliers[entry.manager].insert(std::move(key));
      }
    }
  }
  const std::string* text = Find(object.metadata().annotations, kLastApplied);
  const auto applied = text == nullptr ? JsonTree() : JsonTree::Parse(*text);
  for (const std::string_view part : kAppliedParts) {
    const JsonTree* const data = applied ? applied->Find(part) : nullptr;
    for (const JsonTree::Member& member :
         data == nullptr ? std::span<const JsonTree::Member>() : data->members()) {
      appliers[kLastApplied].insert(member.key);
    }
  }
  return appliers;
}

Appliers AppliersIn(const SourceObject& snapshot) {
  Appliers appliers;
  const std::string* text = Find(snapshot.metadata().annotations, kSnapshotAppliers);
  const auto tree = text == nullptr ? JsonTree() : JsonTree::Parse(*text);
  if (tree) {
    for (const JsonTree::Member& member : tree->members()) {
      for (const JsonTree& key : member.value.elements()) {
        if (const std::string* name = key.AsString()) {
          appliers[member.key].insert(*name);
        }
      }
    }
  }
  return appliers;
}

void SetAppliers(SourceObject& snapshot, const Appliers& appliers) {
  JsonTree tree = JsonTree::Object();
  for (const auto& [manager, keys] : appliers) {
    JsonTree& list = tree[manager] = JsonTree::Array();
    for (const std::string& key : keys) {
      list.Append(key);
    }
  }
  std::string text = tree.ToJson();
  if (appliers.empty() || text.size() > kMaxAppliersBytes) {
    snapshot.metadata().annotations.erase(kSnapshotAppliers);
  } else {
    snapshot.metadata().annotations[kSnapshotAppliers] = std::move(text);
  }
}

Appliers AppliersAfter(const Appliers& recorded, const Appliers& present) {
  Appliers after = present;
  std::set<std::string> kept;
  for (const auto& [manager, keys] : present) {
    if (manager != kLastApplied) {
      kept.insert(keys.begin(), keys.end());
    }
  }
  for (const auto& [manager, keys] : recorded) {
    for (const std::string& key : keys) {
      if (manager == kLastApplied || !kept.contains(key)) {
        after[manager].insert(key);
      }
    }
  }
  return after;
}

bool OwnsKeys(const SourceObject& object) {
  return std::ranges::any_of(object.metadata().managed_fields, [](const ManagedFieldsEntry& entry) {
    return IsOfRestore(entry) && std::ranges::any_of(kOwnedParts, [&](std::string_view part) {
             return !KeysIn(FieldsOf(entry), part).empty();
           });
  });
}

bool HandBack(SourceObject& object, const Appliers& appliers) {
  api::meta::v1::ObjectMeta& metadata = object.metadata();
  const auto own = std::ranges::find_if(metadata.managed_fields, IsOfRestore);
  if (own == metadata.managed_fields.end()) {
    return false;
  }
  const auto at = own - metadata.managed_fields.begin();
  const auto time = own->time;
  JsonTree fields = FieldsOf(*own);
  bool is_changed = false;
  for (const std::string_view part : kOwnedParts) {
    const std::vector<std::string> keys = KeysIn(fields, part);
    std::size_t given = 0;
    for (const std::string& key : keys) {
      bool is_given = false;
      for (const auto& [manager, kept] : appliers) {
        if (manager != kLastApplied && kept.contains(key)) {
          GiveTo(manager, part, key, time, metadata);
          is_given = true;
        }
      }
      if (is_given) {
        fields.Find(part)->Erase(std::string(kOwnedField) + key);
        ++given;
      }
    }
    is_changed = is_changed || given > 0;
    if (given > 0 && given == keys.size()) {
      fields.Erase(part);
    }
  }
  if (is_changed) {
    metadata.managed_fields[static_cast<std::size_t>(at)].fields_v1 =
        apimachinery::FieldsV1{.raw = fields.ToJson()};
  }
  return is_changed;
}

void AddToLastApplied(SourceObject& object, const Appliers& appliers) {
  const auto keys = appliers.find(kLastApplied);
  const auto text = object.metadata().annotations.find(kLastApplied);
  if (keys == appliers.end() || text == object.metadata().annotations.end()) {
    return;
  }
  auto applied = JsonTree::Parse(text->second);
  if (!applied || !applied->IsObject()) {
    return;
  }
  const auto has = [&](const std::string& key) {
    return std::ranges::any_of(
        kAppliedParts, [&](std::string_view part) { return applied->At({part, key}) != nullptr; });
  };
  bool is_changed = false;
  const auto add = [&](std::string_view part, const std::string& key, std::string_view value) {
    if (keys->second.contains(key) && !has(key)) {
      (*applied)[part][key] = value;
      is_changed = true;
    }
  };
  const auto add_bytes = [&](std::string_view part, const auto& values) {
    for (const auto& [key, value] : values) {
      std::string encoded;
      codec::AppendBase64(value.view(), encoded);
      add(part, key, encoded);
      apimachinery::Wipe(encoded);
    }
  };
  if (const auto* secret = std::get_if<api::core::v1::Secret>(&object.object())) {
    add_bytes("data", secret->data);
  } else {
    const auto& config_map = std::get<api::core::v1::ConfigMap>(object.object());
    for (const auto& [key, value] : config_map.data) {
      add("data", key, value);
    }
    add_bytes("binaryData", config_map.binary_data);
  }
  std::string json = applied->ToJson();
  std::size_t others = 0;
  for (const auto& [key, value] : object.metadata().annotations) {
    others += key.size() + (key == kLastApplied ? 0 : value.size());
  }
  if (is_changed && others + json.size() <= kMaxAnnotationBytes) {
    apimachinery::Wipe(text->second);
    text->second = json + "\n";  // as kubectl writes it
  }
  apimachinery::Wipe(json);
}

}  // namespace kubexx::reloader
