/// @file
/// The parsed form of a JsonPath, and its parser.
#ifndef KUBEXX_CODEC_INTERNAL_JSON_PATH_PARSER_H_
#define KUBEXX_CODEC_INTERNAL_JSON_PATH_PARSER_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::codec::internal {

/// The operators of a filter.
enum class PathOperator : std::uint8_t {
  kExists,
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
};

/// One step of a path, which leads from some values to the next ones.
struct PathStep {
  enum class Kind : std::uint8_t {
    kField,      ///< the member `name`
    kSlice,      ///< the elements from `slice[0]` to `slice[1]` in steps of `slice[2]`
    kUnion,      ///< the values of each of `paths`
    kFilter,     ///< the elements for which the comparison of paths[0] with paths[1] holds
    kWildcard,   ///< all members and elements
    kRecursive,  ///< the value and all below it
    kLiteral,    ///< `literal` for each value
    kText,       ///< `literal` once
  };
  Kind kind = Kind::kField;
  std::string name{};
  std::array<std::optional<std::int64_t>, 3> slice{};
  /// Whether slice[1] was made from a single index.
  bool single_index = false;
  PathOperator op = PathOperator::kExists;
  JsonTree literal{};
  std::vector<std::vector<PathStep>> paths{};
};

/// A part of a template: a text, a path, or a body that is repeated for each value of a path.
struct PathPiece {
  std::vector<PathStep> steps{};
  bool is_range = false;
  std::vector<PathPiece> body{};
};

/// Parses a template as JsonPath::Parse does.
apimachinery::Result<std::vector<PathPiece>> ParsePathTemplate(std::string_view text);

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_JSON_PATH_PARSER_H_
