/// @file
/// OrEmpty: reads lists and maps that may be absent.
#ifndef KUBEXX_APIMACHINERY_OR_EMPTY_H_
#define KUBEXX_APIMACHINERY_OR_EMPTY_H_

#include <optional>

namespace kubexx::apimachinery {

/// The list or map in `container`, or an empty one when it is absent: `for (const auto& name :
/// OrEmpty(site.spec.names))`. For the fields of custom resources that are not required, where it
/// does not matter to the caller whether there is an empty list or none. The reference is valid as
/// long as what is in `container`. Thread-safe like every read.
template <class C>
const C& OrEmpty(const std::optional<C>& container) {
  static const C kEmpty;
  return container ? *container : kEmpty;
}
/// The same for a list or map that may be absent or null.
template <class C>
const C& OrEmpty(const std::optional<std::optional<C>>& container) {
  static const C kEmpty;
  return container && *container ? **container : kEmpty;
}
/// Deleted, because the reference to a temporary's content would dangle.
template <class C>
const C& OrEmpty(const std::optional<C>&& container) = delete;

}  // namespace kubexx::apimachinery

#endif  // KUBEXX_APIMACHINERY_OR_EMPTY_H_
