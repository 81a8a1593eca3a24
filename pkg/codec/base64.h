/// @file
/// Base64 with the standard alphabet and padding, as Go's []byte in JSON.
#ifndef KUBEXX_CODEC_BASE64_H_
#define KUBEXX_CODEC_BASE64_H_

#include <string>
#include <string_view>

namespace kubexx::codec {

/// Appends the encoding of `bytes`. Thread-safe, as the others here.
void AppendBase64(std::string_view bytes, std::string& out);

/// The encoding of `bytes`.
std::string EncodeBase64(std::string_view bytes);

/// Appends what `text` encodes; line breaks in it are passed over. False when it is malformed
/// (`out` is then partly written).
bool DecodeBase64(std::string_view text, std::string& out);

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_BASE64_H_
