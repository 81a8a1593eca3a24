/// @file
/// Converts API objects between JSON, YAML and protobuf. The types are those that the objects name.
#ifndef KUBEXX_CODEC_CONVERT_H_
#define KUBEXX_CODEC_CONVERT_H_

#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/registry.h"

namespace kubexx::codec {

/// The formats of objects in files.
enum class FileFormat : std::uint8_t { kAuto, kJson, kYaml, kProtobuf };

/// Settings of Convert.
struct ConvertOptions {
  FileFormat from = FileFormat::kAuto;  ///< kAuto recognises the format by the first bytes
  FileFormat to = FileFormat::kJson;    ///< kAuto is not allowed
  /// The type of objects that do not name one, such as "apps/v1/Deployment" or "v1/Pod".
  std::string type{};
  bool compact = false;  ///< whether JSON is written on one line
};

/// Converts all objects in `input`. JSON and YAML may contain several objects; protobuf is one
/// object in its "k8s\0" envelope, as etcd stores it, or a bare message if `type` is given. Objects
/// of known types are checked and written in canonical form, without fields that the type does not
/// have. Objects of other types are converted between JSON and YAML without changes. Protobuf
/// objects inside of lists and of other types that embed objects are converted, too. Returns
/// kMalformed with the path of the field or the line, and kInvalidConfig for options that do not
/// fit the input.
apimachinery::Result<std::string> Convert(std::string_view input, const ConvertOptions& options,
                                          const Registry& registry);

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_CONVERT_H_
