/// @file
/// Numbers in JSON.
#ifndef KUBEXX_CODEC_INTERNAL_JSON_NUMBER_H_
#define KUBEXX_CODEC_INTERNAL_JSON_NUMBER_H_

#include <string>

namespace kubexx::codec::internal {

/// Appends `value` as Go's encoding/json writes a float64: the shortest digits, plain unless very
/// small or very large. Infinities and NaN, which Go refuses, become null.
void AppendDouble(double value, std::string& out);

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_JSON_NUMBER_H_
