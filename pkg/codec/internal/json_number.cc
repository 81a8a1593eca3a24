#include "kubexx/codec/internal/json_number.h"

#include <charconv>
#include <cmath>
#include <string_view>

namespace kubexx::codec::internal {

void AppendDouble(double value, std::string& out) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  const double magnitude = std::fabs(value);
  const bool scientific = magnitude != 0 && (magnitude < 1e-6 || magnitude >= 1e21);
  const auto format = scientific ? std::chars_format::scientific : std::chars_format::fixed;
  char text[64];
  const char* const end = std::to_chars(text, text + sizeof text, value, format).ptr;
  const std::string_view digits(text, static_cast<std::size_t>(end - text));
  // Go drops the zero in front of a negative exponent of one digit: 1e-7.
  const std::size_t exponent = digits.find("e-0");
  if (exponent == std::string_view::npos) {
    out += digits;
    return;
  }
  out += digits.substr(0, exponent + 2);
  out += digits.substr(exponent + 3);
}

}  // namespace kubexx::codec::internal
