/// @file
/// Files and comparisons for tests of the codecs.
#ifndef KUBEXX_CODEC_TESTING_TESTDATA_H_
#define KUBEXX_CODEC_TESTING_TESTDATA_H_

#include <optional>
#include <string>
#include <string_view>

namespace kubexx::codec::testing {

/// The content of a file; nothing when it cannot be read.
std::optional<std::string> ReadFile(const std::string& path);

/// `json` with the members of every object in ascending order and no white space, so that equal
/// values are equal texts. Numbers keep their spelling. The text "not JSON: ..." when it is
/// malformed.
std::string CanonicalJson(std::string_view json);

/// "0a 03 66 6f 6f", for messages about bytes that differ.
std::string Hex(std::string_view bytes);

/// Bytes from a text of hexadecimal digits and spaces.
std::string FromHex(std::string_view hex);

}  // namespace kubexx::codec::testing

#endif  // KUBEXX_CODEC_TESTING_TESTDATA_H_
