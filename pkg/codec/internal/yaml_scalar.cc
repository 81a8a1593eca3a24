#include "kubexx/codec/internal/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "kubexx/base/ascii.h"
#include "kubexx/codec/internal/json_number.h"

namespace kubexx::codec::internal {
namespace {

constexpr std::array<std::string_view, 11> kTrue = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                                    "True", "TRUE", "on",  "On",  "ON"};
constexpr std::array<std::string_view, 11> kFalse = {"n",     "N",     "no",  "No",  "NO", "false",
                                                     "False", "FALSE", "off", "Off", "OFF"};
constexpr std::array<std::string_view, 5> kNull = {"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 12> kNonFinite = {".nan",  ".NaN",  ".NAN",  ".inf",
                                                         ".Inf",  ".INF",  "+.inf", "+.Inf",
                                                         "+.INF", "-.inf", "-.Inf", "-.INF"};

bool Contains(const auto& names, std::string_view text) {
  return std::ranges::find(names, text) != names.end();
}

template <class I>
std::optional<I> ParseDigits(std::string_view digits, int base) {
  I value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    return std::nullopt;
  }
  return value;
}

// A sign, a prefix for the base, digits.
std::optional<std::string> ParseInteger(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  if (text.empty() || !base::IsDigit(text.front())) {
    return std::nullopt;
  }
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char mark = static_cast<char>(text[1] | 0x20);
    base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
    text.remove_prefix(mark == 'x' || mark == 'b' || mark == 'o' ? 2 : 1);
  }
  const auto magnitude =
      text.starts_with('-') ? std::nullopt : ParseDigits<std::uint64_t>(text, base);
  constexpr std::uint64_t kMinMagnitude = std::uint64_t{1} << 63;
  if (!magnitude || (negative && *magnitude > kMinMagnitude)) {
    return std::nullopt;
  }
  return (negative && *magnitude != 0 ? "-" : "") + std::to_string(*magnitude);
}

const char* SkipYamlDigits(const char* p, const char* end) {
  return std::find_if_not(p, end, base::IsDigit);
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool IsFloat(std::string_view text) {
  const char* p = text.data();
  const char* const end = p + text.size();
  if (p != end && (*p == '-' || *p == '+')) {
    ++p;
  }
  const char* const whole_end = SkipYamlDigits(p, end);
  const bool has_whole = whole_end != p;
  p = whole_end;
  if (p != end && *p == '.') {
    const char* const fraction_end = SkipYamlDigits(p + 1, end);
    if (!has_whole && fraction_end == p + 1) {
      return false;
    }
    p = fraction_end;
  } else if (!has_whole) {
    return false;
  }
  if (p != end && (*p == 'e' || *p == 'E')) {
    ++p;
    if (p != end && (*p == '-' || *p == '+')) {
      ++p;
    }
    const char* const exponent_end = SkipYamlDigits(p, end);
    return exponent_end != p && exponent_end == end;
  }
  return p == end;
}

std::optional<std::string> ParseFloat(std::string_view text) {
  if (!IsFloat(text)) {
    return std::nullopt;
  }
  text.remove_prefix(text.starts_with('+') ? 1 : 0);
  double value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) {
    return std::nullopt;  // out of range
  }
  std::string out;
  AppendDouble(value, out);
  return out;
}

}  // namespace

ResolvedScalar ResolvePlainScalar(std::string_view text) {
  if (Contains(kNull, text)) {
    return {ScalarType::kNull, "null"};
  }
  if (Contains(kTrue, text)) {
    return {ScalarType::kBool, "true"};
  }
  if (Contains(kFalse, text)) {
    return {ScalarType::kBool, "false"};
  }
  if (Contains(kNonFinite, text)) {
    return {ScalarType::kFloat, ""};
  }
  const char first = text.front();
  if (base::IsDigit(first) || first == '-' || first == '+' || first == '.') {
    std::string plain(text);
    if (first != '.') {
      std::erase(plain, '_');
    }
    if (auto integer = first == '.' ? std::nullopt : ParseInteger(plain)) {
      return {ScalarType::kInteger, std::move(*integer)};
    }
    if (auto number = ParseFloat(plain)) {
      return {ScalarType::kFloat, std::move(*number)};
    }
  }
  return {ScalarType::kString, std::string(text)};
}

}  // namespace kubexx::codec::internal
