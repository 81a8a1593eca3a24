/// @file
/// Resolves unquoted YAML scalars.
#ifndef KUBEXX_CODEC_INTERNAL_YAML_SCALAR_H_
#define KUBEXX_CODEC_INTERNAL_YAML_SCALAR_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace kubexx::codec::internal {

enum class ScalarType : std::uint8_t { kNull, kBool, kInteger, kFloat, kString };

/// A resolved scalar and its text in JSON, such as "null", "true", "-5" or "1.5"; for a string, the
/// text itself without quotes.
struct ResolvedScalar {
  ScalarType type = ScalarType::kString;
  std::string text{};
};

/// Resolves a scalar as the YAML library of kubectl does (YAML 1.1): yes, no, on and off are
/// booleans; 0x1f, 0o17, 017 and 0b11 are integers; underscores between digits are ignored; times
/// are strings. Infinities and NaN, which JSON does not have, become kFloat with an empty text.
ResolvedScalar ResolvePlainScalar(std::string_view text);

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_YAML_SCALAR_H_
