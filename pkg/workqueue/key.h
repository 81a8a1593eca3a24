/// @file
/// Key: an element of a queue.
#ifndef KUBEXX_WORKQUEUE_KEY_H_
#define KUBEXX_WORKQUEUE_KEY_H_

#include <compare>
#include <cstddef>
#include <functional>
#include <string>

#include "kubexx/apimachinery/object_key.h"

namespace kubexx::workqueue {

/// A kind tag chosen by the user (may be empty) and an object key.
struct Key {
  std::string kind{};
  apimachinery::ObjectKey object{};
  auto operator<=>(const Key&) const = default;
};

}  // namespace kubexx::workqueue

template <>
struct std::hash<kubexx::workqueue::Key> {
  std::size_t operator()(const kubexx::workqueue::Key& key) const noexcept {
    const std::size_t kind = key.kind.empty() ? 0 : std::hash<std::string>()(key.kind);
    return kind * 31 + std::hash<kubexx::apimachinery::ObjectKey>()(key.object);
  }
};

#endif  // KUBEXX_WORKQUEUE_KEY_H_
