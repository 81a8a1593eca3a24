/// @file
/// Sparse<T>: a part of a T's fields, of which each was set explicitly.
#ifndef KUBEXX_KUBERNETES_SPARSE_H_
#define KUBEXX_KUBERNETES_SPARSE_H_

#include <concepts>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "kubexx/apimachinery/box.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/codec/object_fields.h"
#include "kubexx/codec/schema.h"

namespace kubexx::kubernetes {

template <class T>
class Sparse;
template <class T>
class SparseFields;

namespace internal {

/// The type of value for a member of type M: for an optional member the type inside it, whether or
/// not it may be null, too; otherwise M.
template <class M>
struct Held {
  using Type = M;
};
template <class E>
struct Held<std::optional<E>> : Held<E> {};
template <class E>
struct Held<apimachinery::Box<E>> : Held<E> {};
template <class M>
using HeldType = typename Held<M>::Type;

template <class E>
struct ElementOf;
template <class E>
struct ElementOf<std::vector<E>> {
  using Type = E;
};
template <class E>
struct ElementOf<std::map<std::string, E>> {
  using Type = E;
};
template <class C>
struct ElementOf<std::optional<C>> : ElementOf<C> {};
template <class M>
using ElementType = typename ElementOf<M>::Type;

/// A path from the root of a tree to one of its values: names with static storage, and indices.
using SparsePath = std::vector<std::variant<std::string_view, std::size_t>>;

/// Returns the value at `path`, and creates missing objects on the way.
codec::JsonTree& Resolve(codec::JsonTree& root, const SparsePath& path);

/// Sets the field of `object` to `value`, which has the field's held type.
void SetField(codec::JsonTree& object, const codec::FieldSchema& field, const void* value);
/// Add an element to the list `field`, or the entry `key` to the map `field`; `element` has the
/// element's type.
void AppendElement(codec::JsonTree& object, const codec::FieldSchema& field, const void* element);
void PutEntry(codec::JsonTree& object, const codec::FieldSchema& field, std::string_view key,
              const void* element);

using codec::FieldOf;

/// The setters of Sparse and SparseFields. `Self` returns its object from Node() and its place from
/// Place().
template <class Self, class T>
class SparseSetters {
  template <class V>
  using Exactly = std::type_identity_t<V>;

 public:
  /// Sets a field to `value`, which may be the type's zero value:
  /// `fields.Set(&DeploymentSpec::replicas, 0)`. Of structs in `value`, the fields that are not
  /// zero are set; use In or a Sparse to choose the fields. A second call replaces the value of the
  /// first one.
  template <class M>
  Self& Set(M T::* member, const Exactly<HeldType<M>>& value) {
    SetField(self().Node(), FieldOf(member), &value);
    return self();
  }
  template <class M>
    requires std::is_class_v<HeldType<M>>
  Self& Set(M T::* member, const Sparse<HeldType<M>>& value) {
    self().In(member).Node() = value.tree();
    return self();
  }
  /// Sets a field of a struct inside this one: `Set(&Deployment::spec, &DeploymentSpec::replicas,
  /// 3)`.
  template <class M, class S, class N>
    requires std::same_as<S, HeldType<M>>
  Self& Set(M T::* member, N S::* inner, const Exactly<HeldType<N>>& value) {
    self().In(member).Set(inner, value);
    return self();
  }
  template <class M, class S, class N, class R, class O>
    requires std::same_as<S, HeldType<M>> && std::same_as<R, HeldType<N>>
  Self& Set(M T::* member, N S::* inner, O R::* innermost, const Exactly<HeldType<O>>& value) {
    self().In(member, inner).Set(innermost, value);
    return self();
  }

  /// Returns the fields of a struct inside this one: `In(&Deployment::spec,
  /// &DeploymentSpec::template_)`. The struct is sent as {} when none of its fields is set. The
  /// result refers to the Sparse that it comes from, which must not be moved or destroyed
  /// meanwhile.
  template <class M>
  SparseFields<HeldType<M>> In(M T::* member) {
    const codec::FieldSchema& field = FieldOf(member);
    auto place = self().Place();
    if ((field.flags & codec::kInline) == 0) {
      place.second.emplace_back(field.name);
    }
    return {*place.first, std::move(place.second)};
  }
  template <class M, class S, class N, class... More>
    requires std::same_as<S, HeldType<M>>
  auto In(M T::* member, N S::* inner, More... more) {
    return In(member).In(inner, more...);
  }

  /// Adds an element to a list and returns its fields: `Append(&PodSpec::containers)`.
  template <class M>
  SparseFields<ElementType<M>> Append(M T::* member) {
    const codec::FieldSchema& field = FieldOf(member);
    auto place = self().Place();
    codec::JsonTree& list = self().Node()[field.name];
    list.Append(codec::JsonTree::Object());
    place.second.emplace_back(field.name);
    place.second.emplace_back(list.size() - 1);
    return {*place.first, std::move(place.second)};
  }
  template <class M>
  Self& Append(M T::* member, const Exactly<ElementType<M>>& element) {
    AppendElement(self().Node(), FieldOf(member), &element);
    return self();
  }
  template <class M>
    requires std::is_class_v<ElementType<M>>
  Self& Append(M T::* member, const Sparse<ElementType<M>>& element) {
    self().Append(member).Node() = element.tree();
    return self();
  }

  /// Adds an entry to a map: `Put(&ObjectMeta::labels, "app", "web")`.
  template <class M>
  Self& Put(M T::* member, std::string_view key, const Exactly<ElementType<M>>& element) {
    PutEntry(self().Node(), FieldOf(member), key, &element);
    return self();
  }

 private:
  Self& self() { return static_cast<Self&>(*this); }
};

}  // namespace internal

/// The fields of a T inside a Sparse. Refers to that Sparse. Not thread-safe.
template <class T>
class SparseFields : public internal::SparseSetters<SparseFields<T>, T> {
 public:
  SparseFields(codec::JsonTree& root, internal::SparsePath path)
      : root_(&root), path_(std::move(path)) {
    (void)Node();
  }

 private:
  template <class Self, class U>
  friend class internal::SparseSetters;

  codec::JsonTree& Node() {
    codec::JsonTree& node = internal::Resolve(*root_, path_);
    if (!node.IsObject()) {
      node = codec::JsonTree::Object();
    }
    return node;
  }
  std::pair<codec::JsonTree*, internal::SparsePath> Place() { return {root_, path_}; }

  codec::JsonTree* root_;
  internal::SparsePath path_;
};

/// A part of a T's fields, for server-side apply: only fields that were set are sent, and they may
/// have zero values. T is any generated struct or one with a table of its own; the compiler checks
/// that members and values match. A value type; not thread-safe.
template <class T>
class Sparse : public internal::SparseSetters<Sparse<T>, T> {
 public:
  Sparse() : tree_(codec::JsonTree::Object()) {}
  /// Takes the fields as JSON, whose names are not checked.
  explicit Sparse(codec::JsonTree tree) : tree_(std::move(tree)) {}

  const codec::JsonTree& tree() const { return tree_; }
  std::string ToJson() const { return tree_.ToJson(); }
  friend bool operator==(const Sparse& a, const Sparse& b) { return a.tree_ == b.tree_; }

 protected:
  codec::JsonTree& Node() { return tree_; }

 private:
  template <class Self, class U>
  friend class internal::SparseSetters;

  std::pair<codec::JsonTree*, internal::SparsePath> Place() { return {&tree_, {}}; }

  codec::JsonTree tree_;
};

}  // namespace kubexx::kubernetes

#endif  // KUBEXX_KUBERNETES_SPARSE_H_
