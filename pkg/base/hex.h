/// @file
/// Writes and reads hexadecimal digits.
#ifndef KUBEXX_BASE_HEX_H_
#define KUBEXX_BASE_HEX_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kubexx/base/ascii.h"

namespace kubexx::base {

/// Returns 0 to 15 for a hexadecimal digit, also for 'A' to 'F', and -1 for any other character.
constexpr int HexValue(char c) {
  if (IsDigit(c)) {
    return c - '0';
  }
  return IsHexDigit(c) ? ToLower(c) - 'a' + 10 : -1;
}

/// Appends the two hexadecimal digits of `byte`, with 'a' to 'f'.
inline void AppendHex(std::uint8_t byte, std::string& out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += kDigits[byte >> 4U];
  out += kDigits[byte & 15U];
}

/// Returns what AppendHex appends for each of the bytes.
inline std::string ToHex(std::span<const std::uint8_t> bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    AppendHex(byte, text);
  }
  return text;
}

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_HEX_H_
