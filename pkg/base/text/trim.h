/// @file
/// Trim: a text without what surrounds it.
#ifndef KUBEXX_BASE_TEXT_TRIM_H_
#define KUBEXX_BASE_TEXT_TRIM_H_

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace kubexx::base {

/// What HTTP calls optional white space.
inline constexpr std::string_view kBlanks = " \t";

/// Returns `text` without the characters of `space` at its begin and at its end, as Go's
/// strings.Trim for single bytes. The result is a part of `text`. Thread-safe.
constexpr std::string_view Trim(std::string_view text, std::string_view space = kBlanks) {
  const std::size_t begin = std::min(text.find_first_not_of(space), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(space) + 1);
}

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_TEXT_TRIM_H_
