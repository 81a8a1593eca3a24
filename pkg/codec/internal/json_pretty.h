/// @file
/// Writes JSON for people.
#ifndef KUBEXX_CODEC_INTERNAL_JSON_PRETTY_H_
#define KUBEXX_CODEC_INTERNAL_JSON_PRETTY_H_

#include <string>
#include <string_view>

namespace kubexx::codec::internal {

/// Appends the compact, valid JSON value `json` with each member and element on its own line,
/// indented by two spaces for each level.
void AppendPretty(std::string_view json, std::string& out);

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_JSON_PRETTY_H_
