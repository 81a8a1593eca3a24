/// @file
/// TextCursor: a cursor over text, for the small fixed grammars of this package.
#ifndef KUBEXX_APIMACHINERY_INTERNAL_TEXT_CURSOR_H_
#define KUBEXX_APIMACHINERY_INTERNAL_TEXT_CURSOR_H_

#include <cstdint>
#include <string_view>

namespace kubexx::apimachinery::internal {

/// Consumes a string_view from the front. Refers to the text it was given.
class TextCursor {
 public:
  explicit TextCursor(std::string_view text) : rest_(text) {}

  bool AtEnd() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  bool PeekDigit() const { return !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; }
  /// Consumes the next digit. Call it only after PeekDigit() has returned true.
  int TakeDigit() {
    const int digit = rest_.front() - '0';
    rest_.remove_prefix(1);
    return digit;
  }
  /// Consumes `c` if it is next, and returns whether it was.
  bool Eat(char c) {
    if (rest_.empty() || rest_.front() != c) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }
  /// Consumes `text` if it is next, and returns whether it was.
  bool Eat(std::string_view text) {
    if (!rest_.starts_with(text)) {
      return false;
    }
    rest_.remove_prefix(text.size());
    return true;
  }
  /// Reads exactly `count` (at most 18) decimal digits into `value`; false when there are fewer.
  bool Digits(int count, std::int64_t& value) {
    value = 0;
    for (int i = 0; i < count; ++i) {
      if (!PeekDigit()) {
        return false;
      }
      value = value * 10 + TakeDigit();
    }
    return true;
  }
  /// Consumes and returns all digits that follow, which may be none.
  std::string_view DigitRun() {
    std::size_t count = 0;
    while (count < rest_.size() && rest_[count] >= '0' && rest_[count] <= '9') {
      ++count;
    }
    const std::string_view run = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return run;
  }

 private:
  std::string_view rest_;
};

}  // namespace kubexx::apimachinery::internal

#endif  // KUBEXX_APIMACHINERY_INTERNAL_TEXT_CURSOR_H_
