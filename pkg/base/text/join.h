/// @file
/// Join: one text of several.
#ifndef KUBEXX_BASE_TEXT_JOIN_H_
#define KUBEXX_BASE_TEXT_JOIN_H_

#include <string>
#include <string_view>

namespace kubexx::base {

/// Returns the texts of the range `parts`, in its order, with `separator` between each two of them,
/// as Go's strings.Join. An empty text counts like any other. Thread-safe.
template <class Parts>
std::string Join(const Parts& parts, std::string_view separator) {
  std::string text;
  bool is_first = true;
  for (const auto& part : parts) {
    if (!is_first) {
      text.append(separator);
    }
    is_first = false;
    text.append(part);
  }
  return text;
}

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_TEXT_JOIN_H_
