/// @file
/// Between YAML and JSON, as kubectl does it.
#ifndef KUBEXX_CODEC_YAML_H_
#define KUBEXX_CODEC_YAML_H_

#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::codec {

/// The documents of a YAML stream as compact JSON with the members of objects in ascending order,
/// as sigs.k8s.io/yaml YAMLToJSON. Empty documents are left out. YAML 1.1 scalars (yes and on are
/// booleans), aliases and merge keys work; all documents together have at most four times the size
/// of the text and 1 MiB, so that aliases do not multiply it. kMalformed with the line beyond that,
/// for bad YAML and for what JSON cannot hold (infinities, keys that are lists or null).
///
/// When a map has a key twice, the last value counts. With `duplicates` each such place in the
/// first document is reported in the words of go-yaml, `line 3: key "a" already set in map`, in the
/// order of the text and at most 100 times; keys that merge keys bring along are not reported.
apimachinery::Result<std::vector<std::string>> YamlToJson(
    std::string_view yaml, std::vector<std::string>* duplicates = nullptr);

/// A JSON value as one block-style YAML document without "---", members in ascending order. Every
/// string that could be read as something else is quoted. kMalformed when `json` is no JSON value.
apimachinery::Result<std::string> JsonToYaml(std::string_view json);

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_YAML_H_
