/// @file
/// Which objects a list or watch is about.
#ifndef KUBEXX_APISERVER_OBJECT_SELECTION_H_
#define KUBEXX_APISERVER_OBJECT_SELECTION_H_

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/labels.h"
#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// What selectors look at besides the key: labels, and those fields of the type that a field
/// selector may name.
struct Attributes {
  apimachinery::LabelMap labels{};
  std::map<std::string, std::string, std::less<>> fields{};
};

/// The attributes of an object.
Attributes AttributesOf(const ResourceType& type, const codec::JsonTree& object);

/// "metadata.name=a,status.phase!=Running".
class FieldSelector {
 public:
  FieldSelector() = default;
  /// kBadRequest for what is no selector or names a field that objects of `type` cannot be selected
  /// by.
  static apimachinery::Result<FieldSelector> Parse(std::string_view text, const ResourceType& type);

  /// The same of fields of any name.
  static apimachinery::Result<FieldSelector> ParseAny(std::string_view text);

  bool empty() const { return terms_.empty(); }
  std::size_t size() const { return terms_.size(); }
  bool Matches(const apimachinery::ObjectKey& key, const Attributes& attributes) const;
  /// The value that `field` must have; "" when it may have several.
  std::string Exactly(std::string_view field) const;

 private:
  struct Term {
    std::string field{};
    std::string value{};
    bool equal = true;
  };
  std::vector<Term> terms_;
};

/// A namespace (empty: all), and selectors. A value type.
struct Selection {
  std::string namespace_{};
  apimachinery::LabelSelector labels{};
  FieldSelector fields{};

  /// No object of the namespace is left out.
  bool all() const { return labels.empty() && fields.empty(); }
  bool Matches(const apimachinery::ObjectKey& key, const Attributes& attributes) const;

  /// Requirements of both selectors together: each object of a list is compared with all of them,
  /// and each change with those of all watches.
  static constexpr std::size_t kMaxRequirements = 256;
  /// Values in all sets ("in", "notin"): a watch keeps them as long as it lasts.
  static constexpr std::size_t kMaxValues = 4'096;
  /// kBadRequest when the selectors have more.
  apimachinery::Result<void> CheckSize() const;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_SELECTION_H_
