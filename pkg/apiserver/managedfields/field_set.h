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

/// Paths to fields, as a tree. A path and those below it are in the set independently of each
/// other; the object itself is in none. A value type, not thread-safe while it changes. As
/// structured-merge-diff's fieldpath.Set.
class FieldSet {
 public:
  /// A step that begins some paths of the set; `member` or with `below`, never neither.
  struct Node;

  FieldSet();
  FieldSet(const FieldSet& other);
  FieldSet(FieldSet&& other) noexcept;
  FieldSet& operator=(const FieldSet& other);
  FieldSet& operator=(FieldSet&& other) noexcept;
  ~FieldSet();

  /// From FieldsV1. Steps of a kind that is not known are left out. kMalformed for bad JSON and bad
  /// steps.
  static apimachinery::Result<FieldSet> FromJson(const codec::JsonTree& fields);
  /// Of steps in any order; those that are equal become one.
  static FieldSet FromNodes(std::vector<Node> nodes);
  /// FieldsV1 in the canonical order.
  codec::JsonTree ToJson() const;

  bool empty() const { return nodes_.empty(); }
  /// The number of paths.
  std::size_t size() const;
  bool Has(const Path& path) const;
  void Insert(const Path& path);
  /// What is below `element`; an empty set when nothing is. Valid until the set changes.
  const FieldSet& Below(const PathElement& element) const;
  /// Whether `element` alone is a path of the set.
  bool HasMember(const PathElement& element) const;

  FieldSet Union(const FieldSet& other) const;
  /// Of all of them, in time that is linear in the sizes together but for a logarithm.
  static FieldSet UnionOf(std::vector<FieldSet> sets);
  FieldSet Intersection(const FieldSet& other) const;
  /// Without the paths that `other` has.
  FieldSet Difference(const FieldSet& other) const;
  /// Without the paths that `other` has and those below them.
  FieldSet RecursiveDifference(const FieldSet& other) const;

  /// Difference and RecursiveDifference in place: cheap when `other` is small.
  void Subtract(const FieldSet& other);
  void SubtractRecursively(const FieldSet& other);

  /// Each path, at each level those that end there first.
  void ForEach(base::FunctionRef<void(const Path&)> each) const;

  /// Ascending.
  const std::vector<Node>& nodes() const { return nodes_; }
  /// To change what is below the steps, or whether they are members; not the steps.
  std::vector<Node>& nodes() { return nodes_; }
  /// Adds a step at the end; `node` is greater than all others.
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

/// What is in the set at one path element and below it.
struct FieldSet::Node {
  PathElement element;
  bool member = false;  ///< the path that ends here is in the set
  FieldSet below{};

  bool operator==(const Node&) const = default;
};

}  // namespace kubexx::apiserver::managedfields

#endif  // KUBEXX_APISERVER_MANAGEDFIELDS_FIELD_SET_H_
