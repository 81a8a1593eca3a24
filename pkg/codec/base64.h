/// @file
/// Encodes and decodes base64 with the standard alphabet and padding, as Go does for []byte in
/// JSON.
#ifndef KUBEXX_CODEC_BASE64_H_
#define KUBEXX_CODEC_BASE64_H_

#include <string>
#include <string_view>

namespace kubexx::codec {

/// Appends the encoding of `bytes`. Thread-safe, like the other functions here.
void AppendBase64(std::string_view bytes, std::string& out);

/// Returns the encoding of `bytes`.
std::string EncodeBase64(std::string_view bytes);

/// Appends the bytes that `text` encodes; line breaks in `text` are skipped. Returns false if
/// `text` is malformed; `out` may then have a part of the bytes.
bool DecodeBase64(std::string_view text, std::string& out);

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_BASE64_H_
