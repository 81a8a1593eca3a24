/// @file
/// What a cache holds in place of a source: structs of the operator's own, with schema tables of
/// their own.
#ifndef KUBEXX_RELOADER_MODEL_KEPT_SOURCE_H_
#define KUBEXX_RELOADER_MODEL_KEPT_SOURCE_H_

#include <optional>
#include <string>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/object.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/schema.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/model/source.h"

namespace kubexx::reloader {

/// Of a ConfigMap, a Secret or a SecretProviderClass. What is not there takes no memory; name and
/// namespace are those of the cache::Object around it.
struct KeptSource {
  apimachinery::Bytes digest{};  ///< over the data, its 20 bytes; of a SecretProviderClass none
  std::optional<bool> ignore{};
  std::optional<bool> match{};
  std::optional<bool> paused{};
  std::optional<bool> as_created{};      ///< see IsAsCreated
  std::optional<std::string> keys{};     ///< as reloadpolicy::KeyList
  std::optional<std::string> release{};  ///< see ReleaseOf
};

/// Of a SecretProviderClassPodStatus.
struct KeptPodStatus {
  std::optional<std::string> provider_class{};  ///< nothing before the pod has reported objects
  apimachinery::Bytes digest{};                 ///< see PodReport::digest
  std::optional<bool> updated{};
};

/// The bytes of a digest, as a KeptSource has them.
apimachinery::Bytes BytesOf(const Digest& digest);
/// The inverse. kMalformed when they are no digest.
apimachinery::Result<Digest> DigestFrom(const apimachinery::Bytes& bytes);

/// Keeps of a source's annotations what counts for every type of source.
void KeepAnnotations(const Annotations& annotations, const AnnotationKeys& keys, KeptSource& kept);
/// The source `id` with what KeepAnnotations has kept of it, and without digest.
Source SourceOf(SourceId id, KeptSource kept);

/// Makes `kept`, a KeptSource or KeptPodStatus, the content of `object`.
template <class Kept>
void StoreKept(const Kept& kept, cache::Object& object) {
  object.encoding = codec::Encoding::kProtobuf;
  object.bytes = codec::EncodeProtobuf(kept);
}

/// Reads it back. kMalformed when the object holds something else.
template <class Kept>
apimachinery::Result<Kept> LoadKept(const cache::Object& object) {
  if (object.encoding != codec::Encoding::kProtobuf) {
    return apimachinery::Fail(apimachinery::Malformed("object", "is not what is kept of a source"));
  }
  return codec::DecodeProtobuf<Kept>(object.bytes);
}

}  // namespace kubexx::reloader

/// @cond
template <>
const kubexx::codec::TypeSchema& kubexx::codec::SchemaOf<kubexx::reloader::KeptSource>();
template <>
const kubexx::codec::TypeSchema& kubexx::codec::SchemaOf<kubexx::reloader::KeptPodStatus>();
/// @endcond

#endif  // KUBEXX_RELOADER_MODEL_KEPT_SOURCE_H_
