#include "kubexx/codec/internal/json_path_quotes.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <system_error>

#include "kubexx/codec/internal/json_scan.h"

namespace kubexx::codec::internal {
namespace {

constexpr std::uint32_t kLastCodePoint = 0x10ffff;

// The characters that one letter stands for; 0 for none.
char SimpleEscape(char letter) {
  constexpr std::string_view kLetters = "abfnrtv\\";
  constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\";
  const std::size_t at = kLetters.find(letter);
  return at == std::string_view::npos ? '\0' : kMeanings[at];
}

// Takes `digits` digits of `base` off `rest`; std::nullopt when there are not as many.
std::optional<std::uint32_t> TakeDigits(std::string_view& rest, std::size_t digits, int base) {
  std::uint32_t value = 0;
  const char* const end = rest.data() + std::min(digits, rest.size());
  const auto [last, error] = std::from_chars(rest.data(), end, value, base);
  if (rest.size() < digits || error != std::errc() || last != end) {
    return std::nullopt;
  }
  rest.remove_prefix(digits);
  return value;
}

// Takes one escape, whose backslash is gone already, off `rest`.
bool TakeEscape(std::string_view& rest, char quote, std::string& out) {
  if (rest.empty()) {
    return false;
  }
  const char letter = rest.front();
  if (letter >= '0' && letter <= '7') {
    const auto byte = TakeDigits(rest, 3, 8);
    if (!byte || *byte > 255) {
      return false;
    }
    out += static_cast<char>(*byte);
    return true;
  }
  rest.remove_prefix(1);
  if (letter == quote) {
    out += quote;
    return true;
  }
  if (letter == 'x') {
    const auto byte = TakeDigits(rest, 2, 16);
    out += static_cast<char>(byte.value_or(0));
    return byte.has_value();
  }
  if (letter == 'u' || letter == 'U') {
    const auto code = TakeDigits(rest, letter == 'u' ? 4 : 8, 16);
    if (!code || *code > kLastCodePoint || (*code >= 0xd800 && *code <= 0xdfff)) {
      return false;
    }
    AppendUtf8(static_cast<char32_t>(*code), out);
    return true;
  }
  const char meaning = SimpleEscape(letter);
  out += meaning;
  return meaning != '\0';
}

}  // namespace

std::optional<std::string> UnquotePathText(std::string_view text) {
  const char quote = text.empty() ? '\0' : text.front();
  if (text.size() < 2 || (quote != '"' && quote != '\'') || text.back() != quote) {
    return std::nullopt;
  }
  std::string out;
  std::string_view rest = text.substr(1, text.size() - 2);
  while (!rest.empty()) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == quote || (c == '\\' && !TakeEscape(rest, quote, out))) {
      return std::nullopt;
    }
    if (c != '\\') {
      out += c;
    }
  }
  return out;
}

}  // namespace kubexx::codec::internal
