/// @file
/// Conversion of API objects between JSON, YAML and protobuf by their own type names.
#ifndef KUBEXX_CODEC_CONVERT_H_
#define KUBEXX_CODEC_CONVERT_H_

#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/registry.h"

namespace kubexx::codec {

/// How objects are written in a file.
enum class FileFormat : std::uint8_t { kAuto, kJson, kYaml, kProtobuf };

/// What Convert reads and writes.
struct ConvertOptions {
  FileFormat from = FileFormat::kAuto;  ///< kAuto looks at the first bytes
  FileFormat to = FileFormat::kJson;    ///< kAuto is not allowed
  /// "apps/v1/Deployment" or "v1/Pod": the type of objects that do not name theirs.
  std::string type{};
  bool compact = false;  ///< JSON on one line
};

/// Converts all objects in `input`. JSON and YAML may hold several; protobuf is one object in its
/// "k8s\0" envelope, as stored in etcd, or a bare message when `type` is given. Objects of known
/// types are checked and come out in canonical form, without fields that the type does not have;
/// the others pass from JSON or YAML to JSON or YAML untouched. Protobuf objects inside of lists
/// and other embedding types are converted, too. kMalformed with the field's path or the line;
/// kInvalidConfig for options that do not fit the input.
apimachinery::Result<std::string> Convert(std::string_view input, const ConvertOptions& options,
                                          const Registry& registry);

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_CONVERT_H_
