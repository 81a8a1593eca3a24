/// @file
/// Letters of ASCII, whatever the locale.
#ifndef KUBEXX_BASE_ASCII_H_
#define KUBEXX_BASE_ASCII_H_

#include <algorithm>
#include <string>
#include <string_view>

namespace kubexx::base {

/// 'a' for 'A'; anything but the 26 capital letters stays.
constexpr char ToLower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// The same of each byte.
inline std::string ToLower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) { return ToLower(c); });
  return lower;
}

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_ASCII_H_
