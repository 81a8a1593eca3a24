/// @file
/// ObjectKey: identifies an object among those of its type.
#ifndef KUBEXX_APIMACHINERY_OBJECT_KEY_H_
#define KUBEXX_APIMACHINERY_OBJECT_KEY_H_

#include <compare>
#include <functional>
#include <string>

namespace kubexx::apimachinery {

/// Namespace and name; the namespace is empty for cluster-scoped types. As types.NamespacedName.
struct ObjectKey {
  std::string namespace_{};
  std::string name{};
  /// "namespace/name", or "name" when cluster-scoped, as client-go's MetaNamespaceKeyFunc.
  std::string ToString() const { return namespace_.empty() ? name : namespace_ + "/" + name; }
  auto operator<=>(const ObjectKey&) const = default;
};

}  // namespace kubexx::apimachinery

/// The hash for unordered containers. Each process has another hash function, as with
/// base::KeyedHash, because users choose the names of the objects that they create, and must not be
/// able to choose names that collide.
template <>
struct std::hash<kubexx::apimachinery::ObjectKey> {
  std::size_t operator()(const kubexx::apimachinery::ObjectKey& key) const noexcept;
};

#endif  // KUBEXX_APIMACHINERY_OBJECT_KEY_H_
