#include "kubexx/apiserver/schema/shape.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "kubexx/codec/member_index.h"

namespace kubexx::apiserver::schema {
namespace {

using codec::JsonTree;

bool IsObjectField(std::string_view key) {
  return key == "apiVersion" || key == "kind" || key == "metadata";
}

/// Walks the value; the path is only kept for those that want it.
class Pruner {
 public:
  explicit Pruner(std::vector<std::string>* dropped) : dropped_(dropped) {}

  void Prune(const Schema& schema, JsonTree& value, const std::string& path, bool whole) {
    if (value.IsArray() && schema.items != nullptr) {
      std::size_t index = 0;
      for (JsonTree& element : value.elements()) {
        Prune(*schema.items, element, Below(path, "[" + std::to_string(index++) + "]"), false);
      }
    } else if (value.IsObject()) {
      PruneMembers(schema, value, path, whole || schema.embedded_resource);
    }
  }

 private:
  std::string Below(const std::string& path, std::string_view step) const {
    return dropped_ == nullptr ? "" : path + std::string(step);
  }

  void PruneMembers(const Schema& schema, JsonTree& value, const std::string& path, bool whole) {
    std::vector<std::string> unknown;
    for (JsonTree::Member& member : value.members()) {
      if (whole && IsObjectField(member.key)) {
        continue;
      }
      const Schema* const child = schema.Member(member.key);
      const std::string at = Below(path, (path.empty() ? "" : ".") + member.key);
      if (child != nullptr) {
        Prune(*child, member.value, at, false);
      } else if (!schema.additional_any && !schema.preserve_unknown) {
        unknown.push_back(member.key);
        if (dropped_ != nullptr) {
          dropped_->push_back(at);
        }
      }
    }
    if (unknown.size() > 8) {  // Erasing takes linear time.
      std::vector<JsonTree::Member> kept;
      std::size_t next = 0;
      for (JsonTree::Member& member : value.members()) {
        if (next < unknown.size() && unknown[next] == member.key) {
          ++next;
        } else {
          kept.push_back(std::move(member));
        }
      }
      value = JsonTree::Object(std::move(kept));
      return;
    }
    for (const std::string& key : unknown) {
      value.Erase(key);
    }
  }

  std::vector<std::string>* const dropped_;
};

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

/// The members that are missing, or null where that is no value, get their defaults.
void FillIn(const Schema& schema, JsonTree& value) {
  std::vector<JsonTree::Member> missing;
  const codec::MemberIndex given(&value);
  for (const auto& [key, property] : schema.properties) {
    if (property->default_value && given.Find(key) == nullptr) {
      missing.push_back({.key = key, .value = *property->default_value});
    }
  }
  if (missing.empty()) {
    return;
  }
  std::vector<JsonTree::Member> all;
  all.reserve(value.size() + missing.size());
  std::ranges::move(value.members(), std::back_inserter(all));
  std::ranges::move(missing, std::back_inserter(all));
  value = JsonTree::Object(std::move(all));
}

}  // namespace

void Prune(const Schema& schema, JsonTree& object, std::vector<std::string>* dropped) {
  Pruner(dropped).Prune(schema, object, "", true);
}

void PruneValue(const Schema& schema, JsonTree& value, std::vector<std::string>* dropped) {
  Pruner(dropped).Prune(schema, value, "", false);
}

void SetDefaults(const Schema& schema, JsonTree& value) {
  if (value.IsArray() && schema.items != nullptr) {
    for (JsonTree& element : value.elements()) {
      if (IsNoValue(*schema.items, element) && schema.items->default_value) {
        element = *schema.items->default_value;
      }
      SetDefaults(*schema.items, element);
    }
    return;
  }
  if (!value.IsObject()) {
    return;
  }
  EraseNulls(schema, value);
  FillIn(schema, value);
  for (JsonTree::Member& member : value.members()) {
    const Schema* const child = schema.Member(member.key);
    if (child == nullptr) {
      continue;
    }
    if (IsNoValue(*child, member.value) && child->default_value) {
      member.value = *child->default_value;
    }
    SetDefaults(*child, member.value);
  }
}

}  // namespace kubexx::apiserver::schema
