/// @file
/// Cuts the text of a C++ header into tokens.
#ifndef KUBEXX_CRDGEN_HEADER_LEXER_H_
#define KUBEXX_CRDGEN_HEADER_LEXER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::crdgen {

/// A token, or a comment.
struct HeaderToken {
  enum class Type : std::uint8_t {
    kWord,       ///< a name or a keyword
    kNumber,     ///< a number
    kLiteral,    ///< a string or a character, with its quotation marks
    kSymbol,     ///< "::" or one character
    kDirective,  ///< a line that begins with "#"
    kComment,    ///< a comment, with its slashes
    kEnd,        ///< the end of the text
  };

  Type type = Type::kEnd;
  std::string_view text{};
  std::size_t line = 0;      ///< of its first character; the first line is 1
  std::size_t end_line = 0;  ///< of its last character

  bool Is(std::string_view wanted) const { return text == wanted && type != Type::kLiteral; }
};

/// Makes an error with the place in front: "website.h:12: ...".
apimachinery::Error HeaderError(std::string_view path, std::size_t line, std::string_view message);

/// Returns the tokens of `text`, of which the last is kEnd; they refer to `text`. kInvalid for what
/// is no token of C++, and for what a header of types does not need: raw strings, backslashes at
/// the end of a line, and a text of more than a mebibyte or with bytes that are not UTF-8. A byte
/// order mark at the beginning is skipped. `path` is for errors only.
apimachinery::Result<std::vector<HeaderToken>> ReadTokens(std::string_view text,
                                                          std::string_view path);

}  // namespace kubexx::crdgen

#endif  // KUBEXX_CRDGEN_HEADER_LEXER_H_
