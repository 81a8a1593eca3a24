#include "kubexx/apiserver/endpoints/checks/json_syntax.h"

#include <algorithm>
#include <string>

#include "kubexx/base/ascii.h"

namespace kubexx::apiserver {
namespace {

constexpr std::size_t kMaxLevels = 10'000;

/// Reads a text from left to right. Each function returns whether it has found what it looks for.
class JsonScanner {
 public:
  explicit JsonScanner(std::string_view text) : rest_(text) {}

  bool IsMap() {
    SkipSpace();
    return (rest_.starts_with('{') || rest_.starts_with("null")) && Value() && rest_.empty();
  }

 private:
  void SkipSpace() {
    const std::size_t end = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(std::min(end, rest_.size()));
  }
  bool Take(char c) {
    if (!rest_.starts_with(c)) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }
  bool TakeWord(std::string_view word) {
    if (!rest_.starts_with(word)) {
      return false;
    }
    rest_.remove_prefix(word.size());
    return true;
  }
  bool Digits() {
    const auto end = std::ranges::find_if_not(rest_, base::IsDigit);
    const auto count = static_cast<std::size_t>(end - rest_.begin());
    rest_.remove_prefix(count);
    return count > 0;
  }
  bool Number() {
    Take('-');
    if (!Take('0') && !Digits()) {
      return false;
    }
    if (Take('.') && !Digits()) {
      return false;
    }
    if (Take('e') || Take('E')) {
      if (!Take('+')) {
        Take('-');
      }
      return Digits();
    }
    return true;
  }
  bool Text() {
    if (!Take('"')) {
      return false;
    }
    while (!rest_.empty() && !rest_.starts_with('"')) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (static_cast<unsigned char>(c) < ' ' || (c == '\\' && !Escape())) {
        return false;
      }
    }
    return Take('"');
  }
  bool Escape() {
    constexpr std::size_t kUnicodeDigits = 4;
    if (rest_.empty()) {
      return false;
    }
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c != 'u') {
      return std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos;
    }
    const std::string_view digits = rest_.substr(0, kUnicodeDigits);
    rest_.remove_prefix(digits.size());
    return digits.size() == kUnicodeDigits && std::ranges::all_of(digits, base::IsHexDigit);
  }
  bool Scalar() {
    return rest_.starts_with('"')
               ? Text()
               : TakeWord("true") || TakeWord("false") || TakeWord("null") || Number();
  }
  /// Reads the key before a member's value.
  bool Key() {
    SkipSpace();
    const bool there = Text();
    SkipSpace();
    return there && Take(':');
  }
  /// Reads what follows a value. Returns whether the value is complete; then `open_` has the
  /// objects and lists around the next value, or is empty.
  bool Close() {
    for (SkipSpace(); !open_.empty(); SkipSpace()) {
      if (Take(',')) {
        return open_.back() != '}' || Key();
      }
      if (!Take(open_.back())) {
        return false;
      }
      open_.pop_back();
    }
    return true;
  }
  bool Value() {
    do {
      SkipSpace();
      const bool object = Take('{');
      if (object || Take('[')) {
        open_.push_back(object ? '}' : ']');
        if (open_.size() > kMaxLevels) {
          return false;
        }
        SkipSpace();
        if (!rest_.starts_with(open_.back())) {
          if (object && !Key()) {
            return false;
          }
          continue;
        }
      } else if (!Scalar()) {
        return false;
      }
      if (!Close()) {
        return false;
      }
    } while (!open_.empty());
    return true;
  }

  std::string_view rest_;
  std::string open_{};  ///< what ends each of the values around the present one
};

}  // namespace

bool IsJsonMap(std::string_view text) { return JsonScanner(text).IsMap(); }

}  // namespace kubexx::apiserver
