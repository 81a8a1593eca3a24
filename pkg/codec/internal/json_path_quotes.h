/// @file
/// Reads texts in quotes in a JsonPath.
#ifndef KUBEXX_CODEC_INTERNAL_JSON_PATH_QUOTES_H_
#define KUBEXX_CODEC_INTERNAL_JSON_PATH_QUOTES_H_

#include <optional>
#include <string>
#include <string_view>

namespace kubexx::codec::internal {

/// Returns the value of `text`, which has a quote of the same kind at both ends. The escapes are
/// those of Go: \n, \t, \\, \x41, \101, \u0041 and so on, and a backslash before the kind of quote
/// that encloses the text. Returns std::nullopt for another escape, and for a quote of that kind
/// without a backslash.
std::optional<std::string> UnquotePathText(std::string_view text);

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_JSON_PATH_QUOTES_H_
