/// @file
/// Unstructured: an API object of a type that is not known when the program is compiled.
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

/// An object as JSON that keeps the order of its members, with accessors for the members that all
/// objects have. Semantics: apimachinery's unstructured.Unstructured. A getter returns an empty
/// value if there is no value of its type; a setter creates the missing objects of its path. A path
/// consists of the keys of nested objects and, for arrays, of indexes in decimal:
/// `pod.GetString({"spec", "containers", "0", "image"})`. A value type.
class Unstructured {
 public:
  using Path = std::initializer_list<std::string_view>;

  /// Makes the object {}.
  Unstructured() : tree_(codec::JsonTree::Object()) {}
  /// Makes the object {"apiVersion": ..., "kind": ..., "metadata": {"name": ...}}, with a namespace
  /// unless `namespace_` is empty.
  Unstructured(const apimachinery::GroupVersionKind& kind, std::string_view name,
               std::string_view namespace_ = {});
  /// Parses `json`. Returns kMalformed unless it is one JSON object.
  static apimachinery::Result<Unstructured> Parse(std::string_view json);
  /// Wraps `tree`. Returns kMalformed unless it is an object.
  static apimachinery::Result<Unstructured> FromTree(codec::JsonTree tree);
  /// Converts an object of a type with a schema table.
  template <class T>
  static apimachinery::Result<Unstructured> From(const T& object) {
    return Parse(codec::EncodeJson(object));
  }

  /// Converts to a T, which must be of the same kind. Members for which T has no fields are lost.
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
  /// Returns all metadata as ObjectMeta, or kMalformed if it does not fit that type.
  apimachinery::Result<api::meta::v1::ObjectMeta> Metadata() const;
  void SetMetadata(const api::meta::v1::ObjectMeta& metadata);
  void SetName(std::string_view name);
  void SetNamespace(std::string_view namespace_);
  /// Sets the version; an empty one is removed, which makes an update unconditional.
  void SetResourceVersion(std::string_view version);
  void SetLabels(const apimachinery::LabelMap& labels);
  void SetAnnotations(const std::map<std::string, std::string>& annotations);

  /// Returns the value at `path`, or null if there is none. Valid until the object changes.
  const codec::JsonTree* Get(Path path) const { return tree_.At(path); }
  std::string GetString(Path path) const;
  std::optional<bool> GetBool(Path path) const;
  std::optional<std::int64_t> GetInt(Path path) const;
  std::optional<double> GetDouble(Path path) const;
  /// Returns the entries at `path` that are strings.
  std::map<std::string, std::string> GetStringMap(Path path) const;
  std::vector<std::string> GetStringList(Path path) const;
  /// Sets the value at `path`. Returns kBadRequest if a value on the path is neither an object nor
  /// an array with an element of that index.
  apimachinery::Result<void> Set(Path path, codec::JsonTree value);
  /// Removes the value at `path`. Returns whether there was one.
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

/// Decodes JSON. Returns kUnsupportedMediaType for protobuf, which cannot be decoded without a
/// schema table.
template <>
apimachinery::Result<dynamic::Unstructured> Decode<dynamic::Unstructured>(Encoding encoding,
                                                                          std::string_view bytes);

}  // namespace kubexx::codec

#endif  // KUBEXX_DYNAMIC_UNSTRUCTURED_H_
