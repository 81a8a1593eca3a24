/// @file
/// JSON text without a tree: checking, compacting, quoting and passing over values.
#ifndef KUBEXX_CODEC_INTERNAL_JSON_SCAN_H_
#define KUBEXX_CODEC_INTERNAL_JSON_SCAN_H_

#include <string>
#include <string_view>

namespace kubexx::codec::internal {

/// Objects and arrays may nest this deep in text that somebody goes down into, or passes on to who
/// might.
inline constexpr int kMaxJsonDepth = 512;

/// Objects and arrays may nest this deep in text that is only passed over. Go's encoding/json has
/// the same limit, and with it the API server: whatever it has stored can be passed over.
inline constexpr int kMaxPassedJsonDepth = 10'000;

/// The first position at or after `p` that is not white space.
const char* SkipSpace(const char* p, const char* end);

/// The end of the string literal that begins with the quote at `p`; null when it is malformed or
/// unfinished.
const char* ScanString(const char* p, const char* end);

/// The end of the JSON value that begins at `p` (no white space before it); null when it is
/// malformed, unfinished or nested deeper than `max_depth` (at most kMaxPassedJsonDepth). Checks
/// the grammar fully, but not UTF-8. Does not recurse.
const char* ScanValue(const char* p, const char* end, int max_depth = kMaxJsonDepth);

/// Whether `text` is one JSON value, at most kMaxJsonDepth deep, with nothing but white space
/// around it.
bool IsJson(std::string_view text);

/// Whether `text` is a JSON number.
bool IsNumber(std::string_view text);

/// Appends the value in `text` without white space between tokens. With `escape_html`, <, >, & and
/// the two Unicode line separators are written as \uXXXX, as Go does. False, and `out` unchanged,
/// when `text` is no JSON value.
bool AppendCompact(std::string_view text, bool escape_html, std::string& out);

/// Appends `text` as a string literal, as Go's encoding/json writes it: HTML characters escaped,
/// invalid UTF-8 as \ufffd.
void AppendQuoted(std::string_view text, std::string& out);

/// Appends what the string literal `literal` (quotes included, checked by ScanString) stands for. A
/// lone surrogate, and each byte of what is no UTF-8, becomes U+FFFD, as with Go's encoding/json.
void AppendUnquoted(std::string_view literal, std::string& out);

/// Appends `code_point` as UTF-8.
void AppendUtf8(char32_t code_point, std::string& out);

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_JSON_SCAN_H_
