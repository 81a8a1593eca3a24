/// @file
/// JSON as text, without a tree: string literals, and how deep a text nests.
#ifndef KUBEXX_CODEC_JSON_TEXT_H_
#define KUBEXX_CODEC_JSON_TEXT_H_

#include <string>
#include <string_view>

namespace kubexx::codec {

/// Appends `text` as a string literal with its quotes, as Go's encoding/json writes it: control
/// characters, quotes, backslashes, <, > and & escaped, each byte of what is no UTF-8 as U+FFFD.
void AppendQuotedJson(std::string_view text, std::string& out);

/// The same as a text of its own.
std::string QuotedJson(std::string_view text);

/// Whether objects and arrays are nested more than `levels` deep in `json`, which is valid JSON.
/// Takes one look at each byte.
bool NestsDeeperThan(std::string_view json, int levels);

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_JSON_TEXT_H_
