/// @file
/// Encodes single protobuf fields, for messages that the codec has no tables for.
#ifndef KUBEXX_APISERVER_ENDPOINTS_RESPONSE_WIRE_H_
#define KUBEXX_APISERVER_ENDPOINTS_RESPONSE_WIRE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace kubexx::apiserver {

/// Appends `value` in the base-128 encoding of Protocol Buffers, least significant group first.
inline void AppendVarint(std::uint64_t value, std::string& out) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

/// Appends a length-delimited field.
inline void AppendField(int tag, std::string_view bytes, std::string& out) {
  AppendVarint(static_cast<std::uint64_t>(tag) << 3 | 2, out);
  AppendVarint(bytes.size(), out);
  out.append(bytes);
}

/// Appends a field with an integer or a bool.
inline void AppendNumber(int tag, std::uint64_t value, std::string& out) {
  AppendVarint(static_cast<std::uint64_t>(tag) << 3, out);
  AppendVarint(value, out);
}

/// Appends a field with a double; `bits` is its IEEE 754 form.
inline void AppendFixed64(int tag, std::uint64_t bits, std::string& out) {
  AppendVarint(static_cast<std::uint64_t>(tag) << 3 | 1, out);
  for (int shift = 0; shift < 64; shift += 8) {
    out.push_back(static_cast<char>(bits >> shift & 0xff));
  }
}

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_RESPONSE_WIRE_H_
