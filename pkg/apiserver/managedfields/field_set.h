/// @file
/// A set of fields of an object.
#ifndef KUBEXX_APISERVER_MANAGEDFIELDS_FIELD_SET_H_
#define KUBEXX_APISERVER_MANAGEDFIELDS_FIELD_SET_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/managedfields/path_element.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::managedfields {

/// A set of paths to fields, stored as a tree. A path can be in the set without the paths below it,
/// and the other way round. The empty path (the object itself) is in no set. A value type; not
/// thread-safe while it changes. Semantics: structured-merge-diff's fieldpath.Set.
class FieldSet {
 public:
  /// The first step of some paths of the set. It is a member itself, or has paths `below`, or both.
  struct Node;

  FieldSet();
  FieldSet(const FieldSet& other);
  FieldSet(FieldSet&& other) noexcept;
  FieldSet& operator=(const FieldSet& other);
  FieldSet& operator=(FieldSet&& other) noexcept;
  ~FieldSet();

  /// Reads a FieldsV1. Ignores path elements of an unknown kind. Returns kMalformed for a value
  /// that is not a FieldsV1 and for invalid path elements.
  static apimachinery::Result<FieldSet> FromJson(const codec::JsonTree& fields);
  /// Makes a set from nodes in any order. Merges nodes with equal path elements.
  static FieldSet FromNodes(std::vector<Node> nodes);
  /// Writes a FieldsV1 in the canonical order.
  codec::JsonTree ToJson() const;

  bool empty() const { return nodes_.empty(); }
  /// The number of paths.
  std::size_t size() const;
  bool Has(const Path& path) const;
  void Insert(const Path& path);
  /// The paths below `element`; an empty set when there are none. Valid until the set changes.
  const FieldSet& Below(const PathElement& element) const;
  /// Whether the path that consists of `element` alone is in the set.
  bool HasMember(const PathElement& element) const;

  FieldSet Union(const FieldSet& other) const;
  /// The union of all sets, in time O(n log n) for their total size n.
  static FieldSet UnionOf(std::vector<FieldSet> sets);
  FieldSet Intersection(const FieldSet& other) const;
  /// This set without the paths of `other`.
  FieldSet Difference(const FieldSet& other) const;
  /// This set without the paths of `other` and all paths below them.
  FieldSet RecursiveDifference(const FieldSet& other) const;

  /// Difference in place. Cheap when `other` is small, as is SubtractRecursively, which is
  /// RecursiveDifference in place.
  void Subtract(const FieldSet& other);
  void SubtractRecursively(const FieldSet& other);

  /// Calls `each` for every path; on each level first for the paths that end there.
  void ForEach(base::FunctionRef<void(const Path&)> each) const;

  /// The first steps of all paths in ascending order.
  const std::vector<Node>& nodes() const { return nodes_; }
  /// For changing `Node::below` and `Node::member`. The elements must not be changed.
  std::vector<Node>& nodes() { return nodes_; }
  /// Appends a node, which must be greater than all others.
  void Append(Node node);

  bool operator==(const FieldSet& other) const;

 private:
  Node& NodeAt(const PathElement& element);
  const Node* Find(const PathElement& element) const;
  Node* Find(const PathElement& element);
  void EraseEmpty();
  void ForEachBelow(Path& path, base::FunctionRef<void(const Path&)> each) const;

  std::vector<Node> nodes_;
};

/// The part of a set that begins with one path element.
struct FieldSet::Node {
  PathElement element;
  bool member = false;  ///< the path that ends here is in the set
  FieldSet below{};

  bool operator==(const Node&) const = default;
};

}  // namespace kubexx::apiserver::managedfields

#endif  // KUBEXX_APISERVER_MANAGEDFIELDS_FIELD_SET_H_
