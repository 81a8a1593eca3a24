#include "kubexx/reloader/settings/settings_node.h"

#include <algorithm>
#include <vector>

#include "kubexx/base/text/join.h"
#include "kubexx/codec/yaml.h"

namespace kubexx::reloader {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

Result<JsonTree> ParseSettings(std::string_view yaml) {
  std::vector<std::string> duplicates;
  KX_ASSIGN_OR_RETURN(const std::vector<std::string> documents,
                      codec::YamlToJson(yaml, &duplicates));
  if (!duplicates.empty()) {
    return Fail(Reason::kInvalidConfig, duplicates.front());
  }
  if (documents.size() != 1) {
    return Fail(Reason::kInvalidConfig, "must be one YAML document");
  }
  return JsonTree::Parse(documents.front());
}

apimachinery::Error SettingsNode::Wrong(const std::string& what) const {
  return Fail(Reason::kInvalidConfig, path_.empty() ? what : path_ + ": " + what);
}

SettingsNode SettingsNode::At(std::string_view key) const {
  return {tree_->Find(key), path_ + (path_.empty() ? "" : ".") + std::string(key)};
}

SettingsNode SettingsNode::At(std::size_t index) const {
  return {&tree_->elements()[index], path_ + "[" + std::to_string(index) + "]"};
}

Result<void> SettingsNode::CheckMembers(std::initializer_list<std::string_view> known) const {
  if (!exists() || !tree_->IsObject()) {
    return Wrong("must be an object");
  }
  for (const JsonTree::Member& member : tree_->members()) {
    if (std::ranges::find(known, member.key) == known.end()) {
      return Wrong("there is no member \"" + member.key + "\"; the members are " +
                   base::Join(known, ", "));
    }
  }
  return {};
}

Result<void> SettingsNode::CheckList(std::size_t least, std::size_t most,
                                     std::string_view what) const {
  if (!exists() || !tree_->IsArray() || tree_->size() < least || tree_->size() > most) {
    return Wrong("must be a list of " + std::to_string(least) + " to " + std::to_string(most) +
                 " " + std::string(what));
  }
  return {};
}

Result<std::string> SettingsNode::Text() const {
  if (!exists()) {
    return std::string();
  }
  const std::string* text = tree_->AsString();
  if (text == nullptr) {
    return Wrong("must be a text");
  }
  return *text;
}

}  // namespace kubexx::reloader
