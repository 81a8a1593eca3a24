/// @file
/// A place among the tokens of a header.
#ifndef KUBEXX_CRDGEN_HEADER_CURSOR_H_
#define KUBEXX_CRDGEN_HEADER_CURSOR_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/crdgen/header_comment.h"
#include "kubexx/crdgen/header_lexer.h"
#include "kubexx/crdgen/marker.h"

namespace kubexx::crdgen {

/// Walks over the tokens of a header, and collects the comments between them. Errors are kInvalid,
/// and begin with the path and the line. Not thread-safe.
class HeaderCursor {
 public:
  using Type = HeaderToken::Type;

  /// Stands before the first of `tokens`, of which the last is kEnd. Both arguments must outlive
  /// the cursor.
  HeaderCursor(std::span<const HeaderToken> tokens, std::string_view path)
      : tokens_(tokens), path_(path) {}

  std::string_view path() const { return path_; }
  /// The token that the cursor stands at.
  const HeaderToken& token() const { return token_; }
  std::size_t line() const { return token_.line; }

  bool IsAt(std::string_view text) const { return token_.Is(text); }
  bool IsAt(Type type) const { return token_.type == type; }
  /// The token after this one, without the comments between them.
  const HeaderToken& Following() const;
  /// The token, for errors.
  std::string Shown() const;
  /// An error in the line of the token.
  apimachinery::Error Error(std::string_view message) const;

  /// Goes to the next token. The comments before it are kept until they are taken or dropped.
  apimachinery::Result<void> Move();
  /// Goes over this symbol. kInvalid if there is another token.
  apimachinery::Result<void> Expect(std::string_view symbol, std::string_view after);
  /// Goes over a word, and returns it. kInvalid if there is another token.
  apimachinery::Result<std::string> ExpectWord(std::string_view what);
  /// Goes over all up to the ";" outside of all braces, and over it, and returns the tokens before
  /// it. With `is_member` a comma that begins another member is kInvalid.
  apimachinery::Result<std::vector<std::string>> SkipToSemicolon(bool is_member = false);

  /// Takes the comments that came before the declaration which begins here.
  apimachinery::Result<HeaderComment> TakeComments(MarkerPlaces place);
  /// kInvalid if one of the comments has a marker, which would have no effect.
  apimachinery::Result<void> DropComments();

 private:
  const std::span<const HeaderToken> tokens_;
  const std::string_view path_;
  std::size_t next_ = 0;
  HeaderToken token_;
  std::vector<HeaderToken> comments_;  ///< before token_
};

}  // namespace kubexx::crdgen

#endif  // KUBEXX_CRDGEN_HEADER_CURSOR_H_
