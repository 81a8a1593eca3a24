/// @file
/// Checks, skips, compacts and quotes JSON values in a text, without making a tree.
#ifndef KUBEXX_CODEC_INTERNAL_JSON_SCAN_H_
#define KUBEXX_CODEC_INTERNAL_JSON_SCAN_H_

#include <string>
#include <string_view>

namespace kubexx::codec::internal {

/// How deep objects and arrays may nest in a text whose levels are read, here or by somebody who
/// gets the text.
inline constexpr int kMaxJsonDepth = 512;

/// How deep objects and arrays may nest in a text that is only skipped. Go's encoding/json, and
/// thus the API server, has the same limit, so everything that the API server has stored can be
/// skipped.
inline constexpr int kMaxPassedJsonDepth = 10'000;

/// Returns the first position at or after `p` that is not white space.
const char* SkipSpace(const char* p, const char* end);

/// Returns the end of the string literal that begins with the quote at `p`, or null if it is
/// malformed or incomplete.
const char* ScanString(const char* p, const char* end);

/// Returns the end of the JSON value that begins at `p`, with no white space before it, or null if
/// it is malformed, incomplete or nested deeper than `max_depth` (at most kMaxPassedJsonDepth).
/// Checks the whole grammar, but not UTF-8. Does not recurse.
const char* ScanValue(const char* p, const char* end, int max_depth = kMaxJsonDepth);

/// Returns whether `text` is one JSON value, at most kMaxJsonDepth deep, with nothing but white
/// space around it.
bool IsJson(std::string_view text);

/// Returns whether `text` is a JSON number.
bool IsNumber(std::string_view text);

/// Appends the value in `text` without white space between tokens. With `escape_html`, <, >, & and
/// the two Unicode line separators are written as \uXXXX, as Go does. Returns false, and leaves
/// `out` unchanged, if `text` is not a JSON value.
bool AppendCompact(std::string_view text, bool escape_html, std::string& out);

/// Appends `text` as a string literal, as Go's encoding/json writes it: HTML characters are
/// escaped, and invalid UTF-8 becomes \ufffd.
void AppendQuoted(std::string_view text, std::string& out);

/// Appends the value of the string literal `literal`, which includes its quotes and was checked by
/// ScanString. A lone surrogate, and each byte of invalid UTF-8, becomes U+FFFD, as in Go's
/// encoding/json.
void AppendUnquoted(std::string_view literal, std::string& out);

/// Appends `code_point` as UTF-8.
void AppendUtf8(char32_t code_point, std::string& out);

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_JSON_SCAN_H_
