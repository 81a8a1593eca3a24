/// @file
/// Compares the type that an answer names with the type that was asked for. A proxy, a load
/// balancer or a confused server may answer 200 with something else, and decoders would read most
/// such answers as an object or a list without fields.
#ifndef KUBEXX_CODEC_ANSWER_TYPE_H_
#define KUBEXX_CODEC_ANSWER_TYPE_H_

#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"

namespace kubexx::codec {

/// The apiVersion and kind of an object or a list. A part that is missing is empty.
struct TypeMeta {
  std::string api_version{};
  std::string kind{};
};

/// The type of the objects that were asked for.
struct WantedType {
  /// Such as "v1" or "apps/v1". Empty if any will do.
  std::string api_version{};
  /// Empty if it is not known, as for dynamic clients. Then any kind but Status will do.
  std::string kind{};
  /// Whether the metadata of the objects will do, too: a PartialObjectMetadata.
  bool or_metadata = false;
};

/// Returns the type that a JSON object names, wherever its two members are. Both are empty if it
/// names none or is no object.
TypeMeta ReadTypeMeta(std::string_view json);

/// Returns kMalformed if an object of type `got` is not what was `wanted`: it has no kind, or
/// another one.
apimachinery::Result<void> CheckObjectType(const WantedType& wanted, const TypeMeta& got);

/// Returns kMalformed if `got` is not the type of a list of `wanted`: it has no kind, or it is a
/// Status, or a list of objects of another type. A custom or aggregated resource may have a list
/// kind of its own choice; it counts as the list's if it has the resource's apiVersion, and the
/// answer `has_items`.
apimachinery::Result<void> CheckListType(const WantedType& wanted, const TypeMeta& got,
                                         bool has_items);

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_ANSWER_TYPE_H_
