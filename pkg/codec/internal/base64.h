/// @file
/// Base64 with the standard alphabet and padding, as Go's []byte in JSON.
#ifndef KUBEXX_CODEC_INTERNAL_BASE64_H_
#define KUBEXX_CODEC_INTERNAL_BASE64_H_

#include <string>
#include <string_view>

namespace kubexx::codec::internal {

/// Appends the encoding of `bytes`.
void AppendBase64(std::string_view bytes, std::string& out);

/// Appends what `text` encodes; line breaks in it are passed over. False when it is malformed
/// (`out` is then partly written).
bool DecodeBase64(std::string_view text, std::string& out);

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_BASE64_H_
