/// @file
/// Small value types that the API uses in many places.
#ifndef KUBEXX_APIMACHINERY_VALUES_H_
#define KUBEXX_APIMACHINERY_VALUES_H_

#include <cstdint>
#include <string>
#include <variant>

namespace kubexx::apimachinery {

/// A bool in a list, because nothing can point to an element of a std::vector<bool>. Converts to
/// and from bool.
struct Bool {
  bool value = false;
  Bool() = default;
  Bool(bool value_in) : value(value_in) {}  // NOLINT(google-explicit-constructor)
  operator bool() const { return value; }   // NOLINT(google-explicit-constructor)
};

/// intstr.IntOrString: an int32 or a string such as "25%".
struct IntOrString {
  std::variant<std::int32_t, std::string> value = std::int32_t{0};
  IntOrString() = default;
  IntOrString(std::int32_t number) : value(number) {}        // NOLINT(google-explicit-constructor)
  IntOrString(std::string text) : value(std::move(text)) {}  // NOLINT(google-explicit-constructor)
  bool operator==(const IntOrString&) const = default;
};

/// runtime.RawExtension: an embedded object of a type that is unknown here. `raw` has the bytes as
/// they were sent: JSON text, or "k8s\0"-prefixed protobuf inside a protobuf watch event. Empty
/// means null.
struct RawExtension {
  std::string raw{};
  bool operator==(const RawExtension&) const = default;
};

/// meta/v1 FieldsV1: the field set of a manager, as JSON text. Empty means null.
struct FieldsV1 {
  std::string raw{};
  bool operator==(const FieldsV1&) const = default;
};

/// apiextensions JSON: any JSON value, as text. Empty means null.
struct JsonValue {
  std::string raw{};
  bool operator==(const JsonValue&) const = default;
};

}  // namespace kubexx::apimachinery

#endif  // KUBEXX_APIMACHINERY_VALUES_H_
