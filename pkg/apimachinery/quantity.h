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

/// A number such as "100m", "1.5Gi" or "12e6". Holds its canonical text, which JSON contains. Parse
/// makes it (as String() of apimachinery's resource.Quantity: no fraction, largest suffix, exponent
/// form kept). The default is "0". A value type.
///
/// As in Go, some short texts that are not canonical count as canonical ("+5" and "1.500" keep
/// their spelling). Unlike Go, a decimal beyond 999E keeps the suffix E instead of losing it, and
/// an exponent beyond 32 bits is an error instead of wrapping around.
class Quantity {
 public:
  Quantity() = default;
  /// Parses `text` and makes it canonical; kMalformed for text that Go's ParseQuantity rejects.
  static Result<Quantity> Parse(std::string_view text);
  /// Takes text that is canonical already, for example from the API server, without checking it.
  static Quantity FromCanonical(std::string text);

  /// Returns the canonical text.
  const std::string& ToString() const { return text_; }
  /// Returns the value, rounded away from zero to an integer, as Go's Value(); saturates.
  std::int64_t Value() const;
  /// Returns the value in thousandths, rounded away from zero, as Go's MilliValue(); saturates.
  std::int64_t MilliValue() const;
  /// Compares numerically: "1000m" equals "1".
  static std::strong_ordering Compare(const Quantity& a, const Quantity& b);
  /// Compares the canonical texts.
  bool operator==(const Quantity&) const = default;

 private:
  std::string text_ = "0";
};

}  // namespace kubexx::apimachinery

#endif  // KUBEXX_APIMACHINERY_QUANTITY_H_
