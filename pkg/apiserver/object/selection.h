/// @file
/// Which objects a list or watch selects.
#ifndef KUBEXX_APISERVER_OBJECT_SELECTION_H_
#define KUBEXX_APISERVER_OBJECT_SELECTION_H_

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/fields.h"
#include "kubexx/apimachinery/labels.h"
#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The properties of an object that selectors compare, besides its key: its labels, and the fields
/// that a field selector may name.
struct Attributes {
  apimachinery::LabelMap labels{};
  std::map<std::string, std::string, std::less<>> fields{};
};

/// The attributes of an object.
Attributes AttributesOf(const ResourceType& type, const codec::JsonTree& object);

/// A field selector such as "metadata.name=a,status.phase!=Running".
class FieldSelector {
 public:
  FieldSelector() = default;
  /// Returns kBadRequest for a text that is not a selector, or that names a field by which objects
  /// of `type` cannot be selected.
  static apimachinery::Result<FieldSelector> Parse(std::string_view text, const ResourceType& type);

  /// The same, but accepts any field name.
  static apimachinery::Result<FieldSelector> ParseAny(std::string_view text);

  bool empty() const { return terms_.empty(); }
  std::size_t size() const { return terms_.size(); }
  bool Matches(const apimachinery::ObjectKey& key, const Attributes& attributes) const;
  /// The value that the selector requires `field` to have; "" when it does not require one value.
  std::string Exactly(std::string_view field) const;

 private:
  std::vector<apimachinery::FieldRequirement> terms_;
};

/// A namespace (empty: all namespaces) with selectors. A value type.
struct Selection {
  std::string namespace_{};
  apimachinery::LabelSelector labels{};
  FieldSelector fields{};

  /// Whether it selects all objects of the namespace.
  bool all() const { return labels.empty() && fields.empty(); }
  bool Matches(const apimachinery::ObjectKey& key, const Attributes& attributes) const;

  /// The maximum number of requirements of both selectors together. There is a limit because each
  /// object of a list is compared with all of them, and each change with those of all watches.
  static constexpr std::size_t kMaxRequirements = 256;
  /// The maximum number of values in all sets ("in", "notin"). There is a limit because a watch
  /// holds them as long as it lasts.
  static constexpr std::size_t kMaxValues = 4'096;
  /// Returns kBadRequest when the selectors exceed these limits.
  apimachinery::Result<void> CheckSize() const;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_SELECTION_H_
