/// @file
/// Writes numbers in JSON.
#ifndef KUBEXX_CODEC_INTERNAL_JSON_NUMBER_H_
#define KUBEXX_CODEC_INTERNAL_JSON_NUMBER_H_

#include <string>

namespace kubexx::codec::internal {

/// Appends `value` as Go's encoding/json writes a float64: with the fewest digits, and without an
/// exponent unless it is very small or very large. Infinities and NaN, which Go refuses, become
/// null.
void AppendDouble(double value, std::string& out);

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_JSON_NUMBER_H_
