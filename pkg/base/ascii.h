/// @file
/// Letters and digits of ASCII, whatever the locale.
#ifndef KUBEXX_BASE_ASCII_H_
#define KUBEXX_BASE_ASCII_H_

#include <algorithm>
#include <string>
#include <string_view>

namespace kubexx::base {

/// '0' to '9'.
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
/// A digit, or a letter from 'a' to 'f' or 'A' to 'F'.
constexpr bool IsHexDigit(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
/// 'a' to 'z'.
constexpr bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
/// 'A' to 'Z'.
constexpr bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
/// One of the 52 letters.
constexpr bool IsLetter(char c) { return IsLower(c) || IsUpper(c); }
/// A small letter or a digit.
constexpr bool IsLowerAlphanumeric(char c) { return IsLower(c) || IsDigit(c); }
/// A letter or a digit.
constexpr bool IsAlphanumeric(char c) { return IsLetter(c) || IsDigit(c); }

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
