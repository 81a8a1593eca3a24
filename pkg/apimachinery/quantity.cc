#include "kubexx/apimachinery/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "kubexx/apimachinery/internal/decimal.h"
#include "kubexx/apimachinery/internal/text_cursor.h"

namespace kubexx::apimachinery {
namespace {

using internal::Decimal;

enum class Format : std::uint8_t { kDecimalSi, kBinarySi, kDecimalExponent };

constexpr std::int64_t kNano = -9;
constexpr std::int64_t kExa = 18;
constexpr std::string_view kMaxBinary = "9223372036854775807";

struct Suffix {
  std::string_view name;
  std::int64_t exponent;  // of 10, or of 1024 for the binary ones
};

constexpr std::array kDecimalSuffixes = {
    Suffix{"n", -9}, Suffix{"u", -6}, Suffix{"m", -3}, Suffix{"", 0},   Suffix{"k", 3},
    Suffix{"M", 6},  Suffix{"G", 9},  Suffix{"T", 12}, Suffix{"P", 15}, Suffix{"E", 18}};
constexpr std::array kBinarySuffixes = {Suffix{"Ki", 1}, Suffix{"Mi", 2}, Suffix{"Gi", 3},
                                        Suffix{"Ti", 4}, Suffix{"Pi", 5}, Suffix{"Ei", 6}};

struct QuantityUnit {
  Format format = Format::kDecimalSi;
  std::int64_t exponent = 0;
};

struct Parts {
  bool negative = false;
  bool has_digits = false;
  std::string_view whole{};     // without leading zeros; "0" when nothing is left
  std::string_view fraction{};  // digits behind the point
  QuantityUnit unit{};
};

struct Number {
  Decimal value{};
  Format format = Format::kDecimalSi;
  bool canonical = false;  // Go keeps the text as it came
};

std::optional<QuantityUnit> ParseSuffix(std::string_view text) {
  if (const auto* found = std::ranges::find(kDecimalSuffixes, text, &Suffix::name);
      found != kDecimalSuffixes.end()) {
    return QuantityUnit{Format::kDecimalSi, found->exponent};
  }
  if (const auto* found = std::ranges::find(kBinarySuffixes, text, &Suffix::name);
      found != kBinarySuffixes.end()) {
    return QuantityUnit{Format::kBinarySi, found->exponent};
  }
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) {
    return std::nullopt;
  }
  text.remove_prefix(1);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') {
    text.remove_prefix(1);
  }
  std::int32_t exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return QuantityUnit{Format::kDecimalExponent, exponent};
}

// Sign, digits, point, digits, suffix. As in Go the digits may be missing on both sides of the
// point.
std::optional<Parts> Split(std::string_view text) {
  internal::TextCursor in(text);
  Parts parts;
  parts.negative = in.Eat('-');
  if (!parts.negative) {
    in.Eat('+');
  }
  parts.whole = in.DigitRun();
  parts.has_digits = !parts.whole.empty();
  parts.whole.remove_prefix(std::min(parts.whole.find_first_not_of('0'), parts.whole.size()));
  if (parts.whole.empty()) {
    parts.whole = "0";
  }
  if (in.Eat('.')) {
    parts.fraction = in.DigitRun();
    parts.has_digits = parts.has_digits || !parts.fraction.empty();
  }
  const auto unit = ParseSuffix(in.rest());
  if (!unit) {
    return std::nullopt;
  }
  parts.unit = *unit;
  return parts;
}

std::string JoinDigits(const Parts& parts) {
  std::string digits(parts.whole);
  digits += parts.fraction;
  return digits;
}

// Go's path for numbers that fit an int64 keeps the text of those it takes for canonical, which
// lets "+5" and "1.500" through; nothing when the number is not one of those.
std::optional<Number> ParseSmall(const Parts& parts) {
  std::string digits = JoinDigits(parts);
  const auto length = static_cast<std::int64_t>(digits.size());
  Number number{{parts.negative, {}, 0}, parts.unit.format, false};
  if (parts.unit.format == Format::kBinarySi) {
    const std::int64_t bits = parts.unit.exponent * 10;
    const std::int64_t precision = 15 - length - bits * 3 / 10 - 1;
    if (!parts.fraction.empty() || precision < 0) {
      return std::nullopt;
    }
    std::uint64_t mantissa = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), mantissa);
    number.canonical = mantissa % 8 != 0;
    for (std::int64_t i = 0; i < parts.unit.exponent; ++i) {
      internal::Multiply(digits, 1024);
    }
  } else {
    number.value.exponent = parts.unit.exponent - static_cast<std::int64_t>(parts.fraction.size());
    if (length > 18 || number.value.exponent < kNano) {
      return std::nullopt;
    }
    number.canonical =
        number.value.exponent % 3 == 0 && !digits.ends_with("000") && digits[0] != '0';
  }
  internal::TrimLeadingZeros(digits);
  number.value.digits = std::move(digits);
  return number;
}

std::optional<Number> ParseNumber(std::string_view text) {
  const auto parts = text.empty() ? std::nullopt : Split(text);
  if (!parts) {
    return std::nullopt;
  }
  if (auto small = ParseSmall(*parts)) {
    return small;
  }
  if (!parts->has_digits) {
    return std::nullopt;
  }
  Number number{
      {parts->negative, JoinDigits(*parts), -static_cast<std::int64_t>(parts->fraction.size())},
      parts->unit.format,
      false};
  internal::TrimLeadingZeros(number.value.digits);
  if (number.format != Format::kBinarySi) {
    number.value.exponent += parts->unit.exponent;
    internal::RoundUp(number.value, kNano);
    return number;
  }
  for (std::int64_t i = 0; i < parts->unit.exponent; ++i) {
    internal::Multiply(number.value.digits, 1024);
  }
  internal::RoundUp(number.value, kNano);
  const Decimal max{false, std::string(kMaxBinary), 0};
  if (internal::CompareMagnitude(number.value, max) > 0) {
    number.value.digits = max.digits;
    number.value.exponent = 0;
  }
  if (internal::CompareMagnitude(number.value, {false, "1", 0}) < 0) {
    number.format = Format::kDecimalSi;
  }
  return number;
}

std::string FormatBinary(Decimal value) {
  internal::LowerExponent(value, 0);
  std::size_t times = 0;
  while (times < kBinarySuffixes.size()) {
    std::string quotient = value.digits;
    if (internal::DivideBy1024(quotient) != 0) {
      break;
    }
    value.digits = std::move(quotient);
    ++times;
  }
  std::string out = value.negative ? "-" : "";
  out += value.digits;
  if (times > 0) {
    out += kBinarySuffixes[times - 1].name;
  }
  return out;
}

std::string FormatDecimal(Decimal value, Format format) {
  internal::TrimTrailingZeros(value);
  std::int64_t exponent = value.exponent;
  exponent -= ((exponent % 3) + 3) % 3;
  if (format == Format::kDecimalSi) {
    exponent = std::min(exponent, kExa);
  }
  internal::LowerExponent(value, exponent);
  std::string out = value.negative ? "-" : "";
  out += value.digits;
  if (format == Format::kDecimalExponent) {
    return exponent == 0 ? out : out + "e" + std::to_string(exponent);
  }
  out += std::ranges::find(kDecimalSuffixes, exponent, &Suffix::exponent)->name;
  return out;
}

std::string Canonical(const Number& number) {
  if (number.value.IsZero()) {
    return "0";
  }
  if (number.format != Format::kBinarySi) {
    return FormatDecimal(number.value, number.format);
  }
  Decimal whole = number.value;
  const bool exact = internal::RoundUp(whole, 0);
  if (!exact || internal::CompareMagnitude(number.value, {false, "1024", 0}) < 0) {
    return FormatDecimal(number.value, Format::kDecimalSi);
  }
  return FormatBinary(std::move(whole));
}

// Most quantities of a cluster: one to three digits and a common suffix. Neither a thousand nor
// 1,024 divides them, so they have their canonical form; whatever else has it, too, is found by
// parsing.
bool IsPlainlyCanonical(std::string_view text) {
  std::size_t digits = 0;
  while (digits < text.size() && digits < 3 && text[digits] >= '0' && text[digits] <= '9') {
    ++digits;
  }
  if (digits == 0 || text.front() == '0') {
    return text == "0";
  }
  const std::string_view suffix = text.substr(digits);
  constexpr std::string_view kQuantityUnits = "kKMGTP";
  if (suffix.size() == 2) {
    return suffix[1] == 'i' && suffix[0] != 'k' &&
           kQuantityUnits.find(suffix[0]) != kQuantityUnits.npos;
  }
  return suffix.empty() || suffix == "m" ||
         (suffix.size() == 1 && suffix[0] != 'K' &&
          kQuantityUnits.find(suffix[0]) != kQuantityUnits.npos);
}

Decimal ValueOf(const std::string& text) {
  auto number = ParseNumber(text);
  return number ? std::move(number->value) : Decimal{};
}

}  // namespace

Result<Quantity> Quantity::Parse(std::string_view text) {
  // Comparing two reads their texts.
  constexpr std::size_t kMaxText = 1024;
  if (text.size() <= kMaxText && IsPlainlyCanonical(text)) {
    return FromCanonical(std::string(text));
  }
  const auto number = text.size() > kMaxText ? std::nullopt : ParseNumber(text);
  if (!number) {
    return Fail(Malformed("", "not a quantity such as \"100m\" or \"1.5Gi\""));
  }
  return FromCanonical(number->canonical ? std::string(text) : Canonical(*number));
}

Quantity Quantity::FromCanonical(std::string text) {
  Quantity quantity;
  quantity.text_ = std::move(text);
  return quantity;
}

std::int64_t Quantity::Value() const { return internal::ToInt64(ValueOf(text_), 0); }

std::int64_t Quantity::MilliValue() const { return internal::ToInt64(ValueOf(text_), 3); }

std::strong_ordering Quantity::Compare(const Quantity& a, const Quantity& b) {
  const Decimal left = ValueOf(a.text_);
  const Decimal right = ValueOf(b.text_);
  const bool left_negative = left.negative && !left.IsZero();
  const bool right_negative = right.negative && !right.IsZero();
  if (left_negative != right_negative) {
    return right_negative <=> left_negative;
  }
  return left_negative ? internal::CompareMagnitude(right, left)
                       : internal::CompareMagnitude(left, right);
}

}  // namespace kubexx::apimachinery
