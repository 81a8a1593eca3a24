/// @file
/// What an unquoted YAML scalar stands for.
#ifndef KUBEXX_CODEC_INTERNAL_YAML_SCALAR_H_
#define KUBEXX_CODEC_INTERNAL_YAML_SCALAR_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace kubexx::codec::internal {

enum class ScalarType : std::uint8_t { kNull, kBool, kInteger, kFloat, kString };

/// A resolved scalar and its text in JSON: "null", "true", "-5", "1.5"; for a string the text
/// itself, unquoted.
struct ResolvedScalar {
  ScalarType type = ScalarType::kString;
  std::string text{};
};

/// Resolves as the YAML library behind kubectl does (YAML 1.1): yes, no, on and off are booleans;
/// 0x1f, 0o17, 017 and 0b11 are integers; underscores between digits are ignored; times are
/// strings; infinities and NaN, which JSON does not have, come out as kFloat with an empty text.
ResolvedScalar ResolvePlainScalar(std::string_view text);

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_YAML_SCALAR_H_
