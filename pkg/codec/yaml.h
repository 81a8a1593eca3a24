/// @file
/// Converts between YAML and JSON as kubectl does.
#ifndef KUBEXX_CODEC_YAML_H_
#define KUBEXX_CODEC_YAML_H_

#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::codec {

/// Returns the documents of a YAML stream as compact JSON, with the members of objects in ascending
/// order, as sigs.k8s.io/yaml YAMLToJSON does. Empty documents are left out. Scalars of YAML 1.1
/// (yes and on are booleans), aliases and merge keys are supported. All documents together may have
/// four times the size of the text and 1 MiB more, so that aliases cannot multiply it without
/// limit. Returns kMalformed with the line beyond that limit, for bad YAML, and for values that
/// JSON does not have (infinities, keys that are lists or null).
///
/// If a map has a key twice, the last value counts. If `duplicates` is set, each such place in the
/// first document is reported there in the words of go-yaml, `line 3: key "a" already set in map`,
/// in the order of the text and at most 100 times. Keys that come from merge keys are not reported.
apimachinery::Result<std::vector<std::string>> YamlToJson(
    std::string_view yaml, std::vector<std::string>* duplicates = nullptr);

/// Returns a JSON value as one block-style YAML document without "---", with members in ascending
/// order. Every string that could be read as something else is quoted. Returns kMalformed if `json`
/// is not a JSON value.
apimachinery::Result<std::string> JsonToYaml(std::string_view json);

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_YAML_H_
