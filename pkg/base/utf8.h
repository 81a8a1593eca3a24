/// @file
/// Reads UTF-8 that may be invalid, and cuts it.
#ifndef KUBEXX_BASE_UTF8_H_
#define KUBEXX_BASE_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kubexx::base {

/// A code point and its number of bytes. `valid` is false for a byte that starts no well-formed
/// sequence; then `size` is 1 and `code` is that byte.
struct CodePoint {
  std::uint32_t code = 0;
  std::size_t size = 1;
  bool valid = true;
};

/// Decodes the first code point of `text`, which must not be empty. Overlong forms, surrogates and
/// values above U+10FFFF are not valid.
CodePoint DecodeFirst(std::string_view text);

/// Whether the code point should not be shown on a line as it is: a control, format or
/// line-separating character, which may change how a terminal shows the rest of the line, or cannot
/// be seen.
bool NeedsEscape(std::uint32_t code);

/// Returns `text` with U+FFFD in place of each byte that is not part of a well-formed sequence.
std::string ToValidUtf8(std::string_view text);

/// Returns `text` as valid UTF-8 of at most `max_bytes`, cut between characters. Invalid bytes
/// become U+FFFD.
std::string CutUtf8(std::string_view text, std::size_t max_bytes);

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_UTF8_H_
