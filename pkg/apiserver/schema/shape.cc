#include "kubexx/apiserver/schema/shape.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/codec/member_index.h"

namespace kubexx::apiserver::schema {
namespace {

using codec::JsonTree;

bool IsObjectField(std::string_view key) {
  return key == "apiVersion" || key == "kind" || key == "metadata";
}

bool IsKnown(const Schema& schema, std::string_view key) {
  return schema.additional_any || schema.preserve_unknown || schema.Member(key) != nullptr;
}

/// `whole` tells that the value is an object with apiVersion, kind and metadata.
bool PruneAt(const Schema& schema, JsonTree& value, bool whole) {
  bool pruned = false;
  if (value.IsArray() && schema.items != nullptr) {
    for (JsonTree& element : value.elements()) {
      pruned |= PruneAt(*schema.items, element, false);
    }
    return pruned;
  }
  whole = whole || schema.embedded_resource;
  const auto stays = [&](const JsonTree::Member& member) {
    return (whole && IsObjectField(member.key)) || IsKnown(schema, member.key);
  };
  if (!std::ranges::all_of(value.members(), stays)) {
    std::vector<JsonTree::Member> kept;
    for (JsonTree::Member& member : value.members()) {
      if (stays(member)) {
        kept.push_back(std::move(member));
      }
    }
    value = JsonTree::Object(std::move(kept));
    pruned = true;
  }
  for (JsonTree::Member& member : value.members()) {
    const Schema* const child = schema.Member(member.key);
    if (child != nullptr && !(whole && IsObjectField(member.key))) {
      pruned |= PruneAt(*child, member.value, false);
    }
  }
  return pruned;
}

/// Whether a null does not count as a value.
bool IsNoValue(const Schema& schema, const JsonTree& value) {
  return value.IsNull() && !schema.nullable;
}

void EraseNulls(const Schema& schema, JsonTree& value) {
  const auto counts = [&schema](const JsonTree::Member& member) {
    const auto found = schema.properties.find(member.key);
    return found == schema.properties.end() || !IsNoValue(*found->second, member.value) ||
           found->second->default_value.has_value();
  };
  if (std::ranges::all_of(value.members(), counts)) {
    return;
  }
  std::vector<JsonTree::Member> kept;
  for (JsonTree::Member& member : value.members()) {
    if (counts(member)) {
      kept.push_back(std::move(member));
    }
  }
  value = JsonTree::Object(std::move(kept));
}

/// Subtracts the bytes of the defaults from the limit for them.
class Filler {
 public:
  explicit Filler(std::size_t& room) : room_(room) {}

  bool Fill(const Schema& schema, JsonTree& value) {
    if (value.IsArray() && schema.items != nullptr) {
      return std::ranges::all_of(value.elements(), [&](JsonTree& element) {
        return FillInstead(*schema.items, element) && Fill(*schema.items, element);
      });
    }
    if (!value.IsObject()) {
      return true;
    }
    EraseNulls(schema, value);
    if (!FillIn(schema, value)) {
      return false;
    }
    return std::ranges::all_of(value.members(), [&](JsonTree::Member& member) {
      const Schema* const child = schema.Member(member.key);
      return child == nullptr || (FillInstead(*child, member.value) && Fill(*child, member.value));
    });
  }

 private:
  bool Take(std::size_t bytes) {
    if (bytes > room_) {
      return false;
    }
    room_ -= bytes;
    return true;
  }

  /// Replaces a null that does not count as a value by the default.
  bool FillInstead(const Schema& schema, JsonTree& value) {
    if (!IsNoValue(schema, value) || !schema.default_value) {
      return true;
    }
    if (!Take(schema.default_bytes)) {
      return false;
    }
    value = *schema.default_value;
    return true;
  }

  /// Gives the missing members their defaults.
  bool FillIn(const Schema& schema, JsonTree& value) {
    if (schema.defaulted.empty()) {
      return true;
    }
    std::vector<JsonTree::Member> missing;
    const codec::MemberIndex given(&value);
    for (const std::string& key : schema.defaulted) {
      if (given.Find(key) != nullptr) {
        continue;
      }
      const Schema& property = *schema.properties.find(key)->second;
      if (!Take(key.size() + kAroundMember + property.default_bytes)) {
        return false;
      }
      missing.push_back({.key = key, .value = *property.default_value});
    }
    if (missing.empty()) {
      return true;
    }
    std::vector<JsonTree::Member> all;
    all.reserve(value.size() + missing.size());
    std::ranges::move(value.members(), std::back_inserter(all));
    std::ranges::move(missing, std::back_inserter(all));
    value = JsonTree::Object(std::move(all));
    return true;
  }

  static constexpr std::size_t kAroundMember = 4;  // the quotes, the colon and the comma
  std::size_t& room_;
};

}  // namespace

bool Prune(const Schema& schema, JsonTree& object) { return PruneAt(schema, object, true); }

bool PruneValue(const Schema& schema, JsonTree& value) { return PruneAt(schema, value, false); }

bool SetDefaults(const Schema& schema, JsonTree& value, std::size_t& room) {
  return Filler(room).Fill(schema, value);
}

}  // namespace kubexx::apiserver::schema
