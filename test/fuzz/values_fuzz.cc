// Any text as a quantity, time, duration: the canonical form must be stable and equal.

#include "fuzz.h"

namespace kubexx {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  using apimachinery::Quantity;
  if (const auto quantity = Quantity::Parse(text)) {
    const auto again = Quantity::Parse(quantity->ToString());
    fuzz::Require(again.has_value() && *again == *quantity);
    fuzz::Require(Quantity::Compare(*quantity, *again) == std::strong_ordering::equal);
    fuzz::Require(quantity->Value() == again->Value() &&
                  quantity->MilliValue() == again->MilliValue());
  }
  if (const auto duration = apimachinery::Duration::Parse(text)) {
    const auto again = apimachinery::Duration::Parse(duration->ToString());
    fuzz::Require(again.has_value() && *again == *duration);
  }
  if (const auto time = apimachinery::MicroTime::Parse(text)) {
    const std::string canonical = time->ToString();
    // An offset may lead out of the four-digit years, which have no text that can be read again.
    const auto again = apimachinery::MicroTime::Parse(canonical);
    fuzz::Require(canonical.size() != 27 || canonical.front() == '-' ||
                  (again.has_value() && *again == *time));
  }
  return 0;
}

}  // namespace kubexx
