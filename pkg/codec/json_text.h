/// @file
/// Functions for JSON text that need no tree.
#ifndef KUBEXX_CODEC_JSON_TEXT_H_
#define KUBEXX_CODEC_JSON_TEXT_H_

#include <string>
#include <string_view>

namespace kubexx::codec {

/// Appends `text` as a string literal with its quotes, as Go's encoding/json writes it. Control
/// characters, quotes, backslashes, <, > and & are escaped, and each byte of invalid UTF-8 becomes
/// U+FFFD.
void AppendQuotedJson(std::string_view text, std::string& out);

/// Returns the literal that AppendQuotedJson appends.
std::string QuotedJson(std::string_view text);

/// Returns whether objects and arrays nest more than `levels` deep in `json`, which must be valid
/// JSON. Reads each byte once.
bool NestsDeeperThan(std::string_view json, int levels);

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_JSON_TEXT_H_
