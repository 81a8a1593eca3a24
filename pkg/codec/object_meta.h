/// @file
/// Reads the few metadata fields that caches need without decoding the object.
#ifndef KUBEXX_CODEC_OBJECT_META_H_
#define KUBEXX_CODEC_OBJECT_META_H_

#include <string>
#include <string_view>

#include "kubexx/apimachinery/labels.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/codec.h"

namespace kubexx::codec {

/// Part of ObjectMeta, copied.
struct ObjectMetaSummary {
  std::string namespace_{};
  std::string name{};
  std::string uid{};
  std::string resource_version{};
};

/// Scans `bytes` (protobuf without envelope, or JSON) for metadata. Works for every type whose
/// protobuf field 1 is its ObjectMeta, which all root kinds with metadata have. kMalformed on bad
/// bytes, which JSON that nests deeper than 10,000 levels is: the API server takes none that does.
/// Decoders go less deep, so an object of which this tells the name may still not decode.
apimachinery::Result<ObjectMetaSummary> ScanObjectMeta(Encoding encoding, std::string_view bytes);

/// Scans `bytes` for the labels in the metadata, and decodes nothing else of the object. Works for
/// the same types as ScanObjectMeta. kMalformed on bad bytes.
apimachinery::Result<apimachinery::LabelMap> ScanLabels(Encoding encoding, std::string_view bytes);

/// `json`, an object, with `api_version` and `kind` in front when it names no kind, as the items of
/// a JSON list of a built-in type do not. Returned as it is when `kind` is empty, or when it is not
/// an object.
std::string WithTypeMeta(std::string_view json, std::string_view api_version,
                         std::string_view kind);

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_OBJECT_META_H_
