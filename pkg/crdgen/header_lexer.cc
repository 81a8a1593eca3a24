#include "kubexx/crdgen/header_lexer.h"

#include <algorithm>
#include <string>

#include "kubexx/base/ascii.h"
#include "kubexx/base/utf8.h"

namespace kubexx::crdgen {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

/// No header that a person writes is as large, and no definition that comes of one fits into etcd.
constexpr std::size_t kMaxHeaderBytes = std::size_t{1} << 20;

/// Names of the API are shorter.
constexpr std::size_t kMaxWordBytes = 200;

/// U+FEFF, which some editors write in front of a text.
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

class HeaderLexer {
 public:
  HeaderLexer(std::string_view text, std::string_view path)
      : text_(text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text),
        path_(path) {}

  Result<std::vector<HeaderToken>> Run() {
    if (text_.size() > kMaxHeaderBytes) {
      return HeaderError(path_, 1, "the header has more than a mebibyte");
    }
    KX_RETURN_IF_ERROR(CheckBytes());
    while (SkipSpace()) {
      const std::size_t line = line_;
      KX_ASSIGN_OR_RETURN(HeaderToken token, Next());
      token.line = line;
      token.end_line = line_;
      tokens_.push_back(token);
    }
    tokens_.push_back(
        {.type = HeaderToken::Type::kEnd, .text = {}, .line = line_, .end_line = line_});
    return std::move(tokens_);
  }

 private:
  using Type = HeaderToken::Type;

  apimachinery::Error Error(std::string_view message) const {
    return HeaderError(path_, line_, message);
  }
  Result<void> CheckBytes() const {
    const std::string valid = base::ToValidUtf8(text_);
    const auto wrong = std::min<std::size_t>(
        static_cast<std::size_t>(std::ranges::mismatch(text_, valid).in1 - text_.begin()),
        text_.find('\0'));
    if (wrong >= text_.size()) {
      return {};
    }
    const auto ends = std::ranges::count(text_.substr(0, wrong), '\n');
    return HeaderError(path_, static_cast<std::size_t>(ends) + 1, "the line is not text in UTF-8");
  }
  char At(std::size_t offset) const {
    return at_ + offset < text_.size() ? text_[at_ + offset] : '\0';
  }

  /// Whether there is more.
  bool SkipSpace() {
    for (; at_ < text_.size() && std::string_view(" \t\r\n\v\f").contains(text_[at_]); ++at_) {
      if (text_[at_] == '\n') {
        ++line_;
        is_first_of_line_ = true;
      }
    }
    return at_ < text_.size();
  }

  /// The next `size` bytes, which may contain ends of lines.
  HeaderToken Take(Type type, std::size_t size) {
    const std::string_view text = text_.substr(at_, size);
    at_ += text.size();
    line_ += static_cast<std::size_t>(std::ranges::count(text, '\n'));
    is_first_of_line_ = false;
    return {.type = type, .text = text};
  }

  Result<HeaderToken> Next() {
    const char c = At(0);
    if (c == '/' && At(1) == '/') {
      return Line(Type::kComment);
    }
    if (c == '/' && At(1) == '*') {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) {
        return Error("the comment does not end");
      }
      return Take(Type::kComment, end + 2 - at_);
    }
    if (c == '#' && is_first_of_line_) {
      return Line(Type::kDirective);
    }
    if (c == '"' || c == '\'') {
      return Literal(c);
    }
    if (base::IsLetter(c) || c == '_') {
      return Word();
    }
    if (base::IsDigit(c) || (c == '.' && base::IsDigit(At(1)))) {
      return Number();
    }
    if (c == ':' && At(1) == ':') {
      return Take(Type::kSymbol, 2);
    }
    if (std::string_view("{}()[]<>;:,.=*&+-!~|^%/?#").contains(c)) {
      return Take(Type::kSymbol, 1);
    }
    return Error("there is a character that C++ does not have here");
  }

  /// Up to the end of the line.
  Result<HeaderToken> Line(Type type) {
    std::string_view line = text_.substr(at_, text_.find('\n', at_) - at_);
    while (line.ends_with('\r') || line.ends_with(' ') || line.ends_with('\t')) {
      line.remove_suffix(1);
    }
    if (line.ends_with('\\')) {
      return Error("a line that ends with a backslash is not supported");
    }
    return Take(type, line.size());
  }

  Result<HeaderToken> Word() {
    std::size_t size = 1;
    while (base::IsAlphanumeric(At(size)) || At(size) == '_') {
      ++size;
    }
    if (At(size) == '"') {
      return Error("a string literal with a prefix is not supported");
    }
    if (size > kMaxWordBytes) {
      return Error("the name is too long");
    }
    return Take(Type::kWord, size);
  }

  Result<HeaderToken> Number() {
    std::size_t size = 1;
    const auto goes_on = [&] {
      const char c = At(size);
      const char before = At(size - 1);
      return base::IsAlphanumeric(c) || c == '.' || c == '_' || c == '\'' ||
             ((c == '+' || c == '-') && (before == 'e' || before == 'E'));
    };
    while (goes_on()) {
      ++size;
    }
    return Take(Type::kNumber, size);
  }

  Result<HeaderToken> Literal(char quote) {
    for (std::size_t size = 1; at_ + size < text_.size() && At(size) != '\n'; ++size) {
      if (At(size) == quote) {
        return Take(Type::kLiteral, size + 1);
      }
      if (At(size) == '\\' && At(size + 1) != '\n') {
        ++size;
      }
    }
    return Error("the literal does not end in its line");
  }

  const std::string_view text_;
  const std::string_view path_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  bool is_first_of_line_ = true;
  std::vector<HeaderToken> tokens_;
};

}  // namespace

apimachinery::Error HeaderError(std::string_view path, std::size_t line, std::string_view message) {
  return Fail(Reason::kInvalid,
              std::string(path) + ":" + std::to_string(line) + ": " + std::string(message));
}

Result<std::vector<HeaderToken>> ReadTokens(std::string_view text, std::string_view path) {
  return HeaderLexer(text, path).Run();
}

}  // namespace kubexx::crdgen
