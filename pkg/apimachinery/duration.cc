#include <array>
#include <optional>

#include "kubexx/apimachinery/internal/text_cursor.h"
#include "kubexx/apimachinery/time.h"

namespace kubexx::apimachinery {
namespace {

constexpr std::uint64_t kMaxMagnitude = std::uint64_t{1} << 63;  // of the most negative duration

struct Unit {
  std::string_view name;
  std::uint64_t nanos;
};

// Longer names first where one is the beginning of another.
constexpr std::array kUnits = {
    Unit{"ns", 1},
    Unit{"us", 1'000},
    Unit{"\u00b5s", 1'000},  // micro sign
    Unit{"\u03bcs", 1'000},  // Greek mu
    Unit{"ms", 1'000'000},
    Unit{"s", 1'000'000'000},
    Unit{"m", 60'000'000'000},
    Unit{"h", 3'600'000'000'000},
};

const Unit* EatUnit(internal::TextCursor& in) {
  // A unit ends where the next number begins.
  const std::string_view rest = in.rest();
  const std::string_view name = rest.substr(0, rest.find_first_of(".0123456789"));
  for (const Unit& unit : kUnits) {
    if (unit.name == name) {
      in.Eat(unit.name);
      return &unit;
    }
  }
  return nullptr;
}

// `digits` units plus 0.`fraction` units, in nanoseconds; nothing when it is beyond kMaxMagnitude.
std::optional<std::uint64_t> Scale(std::string_view digits, std::string_view fraction,
                                   std::uint64_t unit) {
  std::uint64_t whole = 0;
  for (const char c : digits) {
    if (whole > kMaxMagnitude / 10) {
      return std::nullopt;
    }
    whole = whole * 10 + static_cast<std::uint64_t>(c - '0');
    if (whole > kMaxMagnitude / unit) {
      return std::nullopt;
    }
  }
  std::uint64_t value = whole * unit;
  // Digits that are worth less than a nanosecond drop out as the weight reaches zero.
  double weight = 1;
  std::uint64_t numerator = 0;
  for (const char c : fraction) {
    if (numerator > (kMaxMagnitude - 1) / 10) {
      break;
    }
    const std::uint64_t next = numerator * 10 + static_cast<std::uint64_t>(c - '0');
    if (next > kMaxMagnitude) {
      break;
    }
    numerator = next;
    weight *= 10;
  }
  if (numerator > 0) {
    value += static_cast<std::uint64_t>(static_cast<double>(numerator) *
                                        (static_cast<double>(unit) / weight));
  }
  if (value > kMaxMagnitude) {
    return std::nullopt;
  }
  return value;
}

// Sum of all number-unit pairs.
std::optional<std::uint64_t> ParseMagnitude(internal::TextCursor& in) {
  std::uint64_t total = 0;
  while (!in.AtEnd()) {
    const std::string_view digits = in.DigitRun();
    std::string_view fraction;
    if (in.Eat('.')) {
      fraction = in.DigitRun();
    }
    if (digits.empty() && fraction.empty()) {
      return std::nullopt;
    }
    const Unit* unit = EatUnit(in);
    if (unit == nullptr) {
      return std::nullopt;
    }
    const auto value = Scale(digits, fraction, unit->nanos);
    if (!value || *value > kMaxMagnitude - total) {
      return std::nullopt;
    }
    total += *value;
  }
  return total;
}

// `value` / 10^`places` without trailing zeros: "1.5".
std::string WithPoint(std::uint64_t value, int places) {
  std::string fraction;
  for (int i = 0; i < places; ++i) {
    const char digit = static_cast<char>('0' + value % 10);
    value /= 10;
    if (!fraction.empty() || digit != '0') {
      fraction.insert(fraction.begin(), digit);
    }
  }
  std::string out = std::to_string(value);
  if (!fraction.empty()) {
    out += '.';
    out += fraction;
  }
  return out;
}

}  // namespace

std::string Duration::ToString() const {
  const bool negative = nanos < 0;
  const std::uint64_t magnitude =
      negative ? 0 - static_cast<std::uint64_t>(nanos) : static_cast<std::uint64_t>(nanos);
  std::string out = negative ? "-" : "";
  if (magnitude == 0) {
    return "0s";
  }
  if (magnitude < 1'000) {
    return out + WithPoint(magnitude, 0) + "ns";
  }
  if (magnitude < 1'000'000) {
    return out + WithPoint(magnitude, 3) + "\u00b5s";
  }
  if (magnitude < 1'000'000'000) {
    return out + WithPoint(magnitude, 6) + "ms";
  }
  const std::uint64_t minutes = magnitude / 60'000'000'000;
  if (minutes >= 60) {
    out += std::to_string(minutes / 60) + "h";
  }
  if (minutes > 0) {
    out += std::to_string(minutes % 60) + "m";
  }
  return out + WithPoint(magnitude % 60'000'000'000, 9) + "s";
}

Result<Duration> Duration::Parse(std::string_view text) {
  internal::TextCursor in(text);
  const bool negative = in.Eat('-');
  if (!negative) {
    in.Eat('+');
  }
  if (in.rest() == "0") {
    return Duration{};
  }
  const auto magnitude = in.AtEnd() ? std::nullopt : ParseMagnitude(in);
  if (!magnitude || (!negative && *magnitude == kMaxMagnitude)) {
    return Fail(Malformed("", "not a duration such as \"1h30m\""));
  }
  return Duration{static_cast<std::int64_t>(negative ? 0 - *magnitude : *magnitude)};
}

}  // namespace kubexx::apimachinery
