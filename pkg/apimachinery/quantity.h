/// @file
/// resource.Quantity: a fixed-point number with a unit suffix.
#ifndef KUBEXX_APIMACHINERY_QUANTITY_H_
#define KUBEXX_APIMACHINERY_QUANTITY_H_

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"

namespace kubexx::apimachinery {

/// A number as "100m", "1.5Gi", "12e6". Holds its text as it came; Parse brings it to the canonical
/// form (as apimachinery's resource.Quantity String(): no fraction, largest suffix, exponent form
/// kept), which is what JSON carries. The default is "0". A value type.
///
/// As in Go some short texts count as canonical that are not ("+5", "1.500" keep their spelling).
/// Unlike Go, a decimal beyond 999E keeps the suffix E instead of losing it, and an exponent beyond
/// 32 bits is refused instead of wrapped.
class Quantity {
 public:
  Quantity() = default;
  /// Parses and canonicalises; kMalformed for text that Go's ParseQuantity refuses.
  static Result<Quantity> Parse(std::string_view text);
  /// Takes text that is canonical already (off the wire) without looking at it.
  static Quantity FromCanonical(std::string text);

  /// Canonical text.
  const std::string& ToString() const { return text_; }
  /// The value rounded away from zero to an integer, as Go's Value(); saturates.
  std::int64_t Value() const;
  /// The value in thousandths, rounded away from zero, as Go's MilliValue(); saturates.
  std::int64_t MilliValue() const;
  /// Numeric comparison: "1000m" equals "1".
  static std::strong_ordering Compare(const Quantity& a, const Quantity& b);
  /// Textual equality of the canonical forms.
  bool operator==(const Quantity&) const = default;

 private:
  std::string text_ = "0";
};

}  // namespace kubexx::apimachinery

#endif  // KUBEXX_APIMACHINERY_QUANTITY_H_
