/// @file
/// Classifies and converts ASCII characters, independently of the locale.
#ifndef KUBEXX_BASE_ASCII_H_
#define KUBEXX_BASE_ASCII_H_

#include <algorithm>
#include <string>
#include <string_view>

namespace kubexx::base {

/// Returns whether `c` is one of '0' to '9'.
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
/// Returns whether `c` is a digit, or a letter from 'a' to 'f' or 'A' to 'F'.
constexpr bool IsHexDigit(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
/// Returns whether `c` is one of 'a' to 'z'.
constexpr bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
/// Returns whether `c` is one of 'A' to 'Z'.
constexpr bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
/// Returns whether `c` is one of the 52 letters.
constexpr bool IsLetter(char c) { return IsLower(c) || IsUpper(c); }
/// Returns whether `c` is a small letter or a digit.
constexpr bool IsLowerAlphanumeric(char c) { return IsLower(c) || IsDigit(c); }
/// Returns whether `c` is a letter or a digit.
constexpr bool IsAlphanumeric(char c) { return IsLetter(c) || IsDigit(c); }

/// Returns 'a' for 'A', and so on. Returns `c` itself unless it is one of the 26 capital letters.
constexpr char ToLower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Returns `text` with ToLower applied to each byte.
inline std::string ToLower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) { return ToLower(c); });
  return lower;
}

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_ASCII_H_
