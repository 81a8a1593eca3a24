/// @file
/// Reads the few metadata fields that caches need, without decoding the object.
#ifndef KUBEXX_CODEC_OBJECT_META_H_
#define KUBEXX_CODEC_OBJECT_META_H_

#include <string>
#include <string_view>

#include "kubexx/apimachinery/labels.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/codec.h"

namespace kubexx::codec {

/// A copy of some fields of ObjectMeta.
struct ObjectMetaSummary {
  std::string namespace_{};
  std::string name{};
  std::string uid{};
  std::string resource_version{};
};

/// Scans `bytes`, which are protobuf without an envelope or JSON, for metadata. Works for every
/// type whose protobuf field 1 is its ObjectMeta, as it is for all root kinds with metadata.
/// Returns kMalformed for bad bytes, and for JSON that nests deeper than 10,000 levels, which the
/// API server refuses too. Decoders accept fewer levels, so an object may be impossible to decode
/// although this function finds its name.
apimachinery::Result<ObjectMetaSummary> ScanObjectMeta(Encoding encoding, std::string_view bytes);

/// The same for callers that do not need the uid: the result's uid may be empty, since a copy of
/// the uid would cost an allocation.
apimachinery::Result<ObjectMetaSummary> ScanObjectKey(Encoding encoding, std::string_view bytes);

/// Scans `bytes` for the labels in the metadata, and decodes nothing else of the object. Works for
/// the same types as ScanObjectMeta. Returns kMalformed for bad bytes.
apimachinery::Result<apimachinery::LabelMap> ScanLabels(Encoding encoding, std::string_view bytes);

/// Returns `json` with `api_version` and `kind` added at the front, unless it has a kind. The items
/// of a JSON list of a built-in type have none. Returns `json` unchanged if `kind` is empty, or if
/// it is not an object.
std::string WithTypeMeta(std::string_view json, std::string_view api_version,
                         std::string_view kind);

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_OBJECT_META_H_
