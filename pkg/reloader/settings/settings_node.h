/// @file
/// SettingsNode: reads settings that people write in YAML or JSON, with errors that say where.
#ifndef KUBEXX_RELOADER_SETTINGS_SETTINGS_NODE_H_
#define KUBEXX_RELOADER_SETTINGS_SETTINGS_NODE_H_

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::reloader {

/// Parses `yaml`, which may also be JSON, as one document. kInvalidConfig for several documents and
/// for a member that is there twice; else it fails as YamlToJson does.
apimachinery::Result<codec::JsonTree> ParseSettings(std::string_view yaml);

/// A value in such a document, and where it is. The tree must outlive the node. A value type.
class SettingsNode {
 public:
  /// The whole document.
  explicit SettingsNode(const codec::JsonTree& root) : tree_(&root) {}

  /// The error kInvalidConfig "PATH: WHAT", such as "receivers[0].name: must be a text".
  apimachinery::Error Wrong(const std::string& what) const;
  /// The member `key`, which need not exist.
  SettingsNode At(std::string_view key) const;
  /// The element at `index`, which must exist.
  SettingsNode At(std::size_t index) const;
  /// Whether the value is there; null counts as absent.
  bool exists() const { return tree_ != nullptr && !tree_->IsNull(); }
  /// The value, which must exist.
  const codec::JsonTree& tree() const { return *tree_; }

  /// Fails unless the value is an object with no other members than these.
  apimachinery::Result<void> CheckMembers(std::initializer_list<std::string_view> known) const;
  /// Fails unless the value is a list of `least` to `most` elements; `what` names them in the
  /// error.
  apimachinery::Result<void> CheckList(std::size_t least, std::size_t most,
                                       std::string_view what) const;
  /// The text; empty when the value does not exist. Fails when it is not a text.
  apimachinery::Result<std::string> Text() const;

 private:
  SettingsNode(const codec::JsonTree* tree, std::string path)
      : tree_(tree), path_(std::move(path)) {}

  const codec::JsonTree* tree_;
  std::string path_{};
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_SETTINGS_SETTINGS_NODE_H_
