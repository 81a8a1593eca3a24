#include "kubexx/apimachinery/internal/decimal.h"

#include <algorithm>
#include <limits>

namespace kubexx::apimachinery::internal {
namespace {

// 10^19 is above the largest int64.
constexpr std::int64_t kInt64Digits = 19;

void Increment(std::string& digits) {
  for (std::size_t i = digits.size(); i-- > 0;) {
    if (digits[i] != '9') {
      ++digits[i];
      return;
    }
    digits[i] = '0';
  }
  digits.insert(digits.begin(), '1');
}

}  // namespace

void TrimLeadingZeros(std::string& digits) {
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
}

void TrimTrailingZeros(Decimal& value) {
  const std::size_t last = value.digits.find_last_not_of('0');
  const std::size_t keep = last == std::string::npos ? 0 : last + 1;
  value.exponent += static_cast<std::int64_t>(value.digits.size() - keep);
  value.digits.resize(keep);
}

void Multiply(std::string& digits, std::uint32_t factor) {
  std::uint64_t carry = 0;
  for (std::size_t i = digits.size(); i-- > 0;) {
    carry += static_cast<std::uint64_t>(digits[i] - '0') * factor;
    digits[i] = static_cast<char>('0' + carry % 10);
    carry /= 10;
  }
  if (carry > 0) {
    digits.insert(0, std::to_string(carry));
  }
}

std::uint32_t DivideBy1024(std::string& digits) {
  std::uint32_t remainder = 0;
  for (char& digit : digits) {
    remainder = remainder * 10 + static_cast<std::uint32_t>(digit - '0');
    digit = static_cast<char>('0' + remainder / 1024);
    remainder %= 1024;
  }
  TrimLeadingZeros(digits);
  return remainder;
}

bool RoundUp(Decimal& value, std::int64_t exponent) {
  if (value.IsZero() || value.exponent >= exponent) {
    return true;
  }
  const std::int64_t drop = exponent - value.exponent;
  const auto size = static_cast<std::int64_t>(value.digits.size());
  const auto keep = static_cast<std::size_t>(std::max<std::int64_t>(size - drop, 0));
  const bool exact = value.digits.find_first_not_of('0', keep) == std::string::npos;
  value.digits.resize(keep);
  value.exponent = exponent;
  if (!exact) {
    Increment(value.digits);
  }
  return exact;
}

void LowerExponent(Decimal& value, std::int64_t exponent) {
  if (!value.IsZero() && value.exponent > exponent) {
    value.digits.append(static_cast<std::size_t>(value.exponent - exponent), '0');
  }
  value.exponent = exponent;
}

std::strong_ordering CompareMagnitude(const Decimal& a, const Decimal& b) {
  if (a.IsZero() || b.IsZero()) {
    return b.IsZero() <=> a.IsZero();
  }
  const std::int64_t a_top = static_cast<std::int64_t>(a.digits.size()) + a.exponent;
  const std::int64_t b_top = static_cast<std::int64_t>(b.digits.size()) + b.exponent;
  if (a_top != b_top) {
    return a_top <=> b_top;
  }
  const std::size_t length = std::max(a.digits.size(), b.digits.size());
  for (std::size_t i = 0; i < length; ++i) {
    const char left = i < a.digits.size() ? a.digits[i] : '0';
    const char right = i < b.digits.size() ? b.digits[i] : '0';
    if (left != right) {
      return left <=> right;
    }
  }
  return std::strong_ordering::equal;
}

std::int64_t ToInt64(Decimal value, std::int64_t places) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (value.IsZero()) {
    return 0;
  }
  value.exponent += places;
  RoundUp(value, 0);
  const std::int64_t saturated = value.negative ? Limits::min() : Limits::max();
  if (static_cast<std::int64_t>(value.digits.size()) + value.exponent > kInt64Digits) {
    return saturated;
  }
  LowerExponent(value, 0);
  std::uint64_t magnitude = 0;  // 19 digits fit
  for (const char digit : value.digits) {
    magnitude = magnitude * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  if (magnitude > static_cast<std::uint64_t>(Limits::max())) {
    return saturated;
  }
  const auto result = static_cast<std::int64_t>(magnitude);
  return value.negative ? -result : result;
}

}  // namespace kubexx::apimachinery::internal
