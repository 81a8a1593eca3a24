/// @file
/// Unstructured: an API object of any type.
#ifndef KUBEXX_DYNAMIC_UNSTRUCTURED_H_
#define KUBEXX_DYNAMIC_UNSTRUCTURED_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apimachinery/group_version.h"
#include "kubexx/apimachinery/labels.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::dynamic {

/// An object as its JSON, in the order in which it came, with accessors for what all objects have.
/// As apimachinery's unstructured.Unstructured. A getter gives an empty value where there is none
/// of that type; a setter makes the objects on its way. A path is the keys of nested objects; for
/// an array the index in decimal: `pod.GetString({"spec", "containers", "0", "image"})`. A value
/// type.
class Unstructured {
 public:
  using Path = std::initializer_list<std::string_view>;

  /// {}.
  Unstructured() : tree_(codec::JsonTree::Object()) {}
  /// {"apiVersion": ..., "kind": ..., "metadata": {"name": ...}}.
  Unstructured(const apimachinery::GroupVersionKind& kind, std::string_view name,
               std::string_view namespace_ = {});
  /// kMalformed unless `json` is one JSON object.
  static apimachinery::Result<Unstructured> Parse(std::string_view json);
  /// kMalformed unless `tree` is an object.
  static apimachinery::Result<Unstructured> FromTree(codec::JsonTree tree);
  /// From an object of a type with a schema table.
  template <class T>
  static apimachinery::Result<Unstructured> From(const T& object) {
    return Parse(codec::EncodeJson(object));
  }

  /// As a T, which must be of the same kind; what T has no fields for is lost.
  template <class T>
  apimachinery::Result<T> To() const {
    return codec::DecodeJson<T>(tree_.ToJson());
  }
  std::string ToJson() const { return tree_.ToJson(); }
  const codec::JsonTree& tree() const { return tree_; }

  std::string ApiVersion() const { return GetString({"apiVersion"}); }
  std::string Kind() const { return GetString({"kind"}); }
  apimachinery::GroupVersionKind GetKind() const;
  std::string Name() const { return GetString({"metadata", "name"}); }
  std::string Namespace() const { return GetString({"metadata", "namespace"}); }
  std::string Uid() const { return GetString({"metadata", "uid"}); }
  std::string ResourceVersion() const { return GetString({"metadata", "resourceVersion"}); }
  std::int64_t Generation() const { return GetInt({"metadata", "generation"}).value_or(0); }
  apimachinery::LabelMap Labels() const { return GetStringMap({"metadata", "labels"}); }
  std::map<std::string, std::string> Annotations() const {
    return GetStringMap({"metadata", "annotations"});
  }
  std::vector<std::string> Finalizers() const { return GetStringList({"metadata", "finalizers"}); }
  /// All metadata, typed. kMalformed when it does not fit the type.
  apimachinery::Result<api::meta::v1::ObjectMeta> Metadata() const;
  void SetMetadata(const api::meta::v1::ObjectMeta& metadata);
  void SetName(std::string_view name);
  void SetNamespace(std::string_view namespace_);
  /// An empty version is removed, which makes an update unconditional.
  void SetResourceVersion(std::string_view version);
  void SetLabels(const apimachinery::LabelMap& labels);
  void SetAnnotations(const std::map<std::string, std::string>& annotations);

  /// Null when the path leads nowhere; valid until the object changes.
  const codec::JsonTree* Get(Path path) const { return tree_.At(path); }
  std::string GetString(Path path) const;
  std::optional<bool> GetBool(Path path) const;
  std::optional<std::int64_t> GetInt(Path path) const;
  std::optional<double> GetDouble(Path path) const;
  /// Entries that are no strings are left out.
  std::map<std::string, std::string> GetStringMap(Path path) const;
  std::vector<std::string> GetStringList(Path path) const;
  /// kBadRequest when something on the way is neither an object nor an element that an array has.
  apimachinery::Result<void> Set(Path path, codec::JsonTree value);
  /// Whether there was something.
  bool Remove(Path path);

  friend bool operator==(const Unstructured& a, const Unstructured& b) {
    return a.tree_ == b.tree_;
  }

 private:
  explicit Unstructured(codec::JsonTree tree) : tree_(std::move(tree)) {}

  codec::JsonTree tree_;
};

}  // namespace kubexx::dynamic

namespace kubexx::codec {

/// Reads JSON; kUnsupportedMediaType for protobuf, which cannot be read without a type.
template <>
apimachinery::Result<dynamic::Unstructured> Decode<dynamic::Unstructured>(Encoding encoding,
                                                                          std::string_view bytes);

}  // namespace kubexx::codec

#endif  // KUBEXX_DYNAMIC_UNSTRUCTURED_H_
