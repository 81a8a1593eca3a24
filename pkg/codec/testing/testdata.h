/// @file
/// Compares texts in tests of the codecs.
#ifndef KUBEXX_CODEC_TESTING_TESTDATA_H_
#define KUBEXX_CODEC_TESTING_TESTDATA_H_

#include <string>
#include <string_view>

namespace kubexx::codec::testing {

/// Returns `json` with the members of every object in ascending order and without white space, so
/// that equal values have equal texts. Numbers keep their spelling. Returns "not JSON: ..." if
/// `json` is malformed.
std::string CanonicalJson(std::string_view json);

/// Returns, for example, "0a 03 66 6f 6f", for messages about bytes that differ.
std::string Hex(std::string_view bytes);

/// Returns the bytes of a text of hexadecimal digits and spaces.
std::string FromHex(std::string_view hex);

}  // namespace kubexx::codec::testing

#endif  // KUBEXX_CODEC_TESTING_TESTDATA_H_
