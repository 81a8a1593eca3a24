/// @file
/// Decimal: unbounded decimal numbers, with only the operations that Quantity needs.
#ifndef KUBEXX_APIMACHINERY_INTERNAL_DECIMAL_H_
#define KUBEXX_APIMACHINERY_INTERNAL_DECIMAL_H_

#include <compare>
#include <cstdint>
#include <string>

namespace kubexx::apimachinery::internal {

/// (-1)^negative * digits * 10^exponent. Work and memory grow with the number of digits, never with
/// the exponent.
struct Decimal {
  bool negative = false;
  std::string digits{};  ///< no leading zeros; empty is zero
  std::int64_t exponent = 0;

  bool IsZero() const { return digits.empty(); }
};

/// Drops leading zeros.
void TrimLeadingZeros(std::string& digits);

/// Moves factors of ten from the digits to the exponent.
void TrimTrailingZeros(Decimal& value);

/// Multiplies the digits by `factor` (at most 2^20).
void Multiply(std::string& digits, std::uint32_t factor);

/// Divides the digits by 1024 and returns the remainder.
std::uint32_t DivideBy1024(std::string& digits);

/// Makes the exponent at least `exponent`, rounding away from zero. False when that lost precision.
bool RoundUp(Decimal& value, std::int64_t exponent);

/// Appends zeros until the exponent is `exponent` (which is smaller). The caller bounds the
/// difference.
void LowerExponent(Decimal& value, std::int64_t exponent);

/// Compares magnitudes, without signs.
std::strong_ordering CompareMagnitude(const Decimal& a, const Decimal& b);

/// Returns the value times 10^`places`, rounded away from zero to an integer; saturates.
std::int64_t ToInt64(Decimal value, std::int64_t places);

}  // namespace kubexx::apimachinery::internal

#endif  // KUBEXX_APIMACHINERY_INTERNAL_DECIMAL_H_
