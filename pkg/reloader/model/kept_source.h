/// @file
/// What an informer stores in place of a source: small structs with their own schema tables.
#ifndef KUBEXX_RELOADER_MODEL_KEPT_SOURCE_H_
#define KUBEXX_RELOADER_MODEL_KEPT_SOURCE_H_

#include <optional>
#include <string>
#include <vector>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/cache/object.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/schema.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/model/source.h"

namespace kubexx::reloader {

/// Replaces a ConfigMap, Secret or SecretProviderClass in a cache. Absent fields take no memory.
/// The name and namespace are those of the cache::Object that contains it.
struct KeptSource {
  apimachinery::Bytes digest{};  ///< 20 bytes, over the data; empty for a SecretProviderClass
  std::optional<bool> ignore{};
  std::optional<bool> match{};
  std::optional<bool> paused{};
  std::optional<bool> as_created{};  ///< see IsAsCreated
  std::optional<bool> restored{};    ///< see Source::restored
  /// Source::settled in RFC 3339.
  std::optional<std::string> settled{};
  /// Why nothing else of the object is known; std::nullopt: it could be read.
  std::optional<std::string> unreadable{};
  std::optional<std::string> keys{};     ///< as reloadpolicy::KeyList writes them
  std::optional<std::string> release{};  ///< see ReleaseOf
  std::optional<std::string> allowed{};  ///< see Source::allowed
  // Only where a history of rollouts is kept; see KeepTrace.
  std::optional<apimachinery::Bytes> values{};
  std::optional<std::string> writer{};
  // Wherever there are not too many keys.
  std::optional<apimachinery::Bytes> prints{};  ///< see KeyPrints
};

/// Replaces a SecretProviderClassPodStatus in a cache.
struct KeptPodStatus {
  /// Std::nullopt before the pod has reported objects.
  std::optional<std::string> provider_class{};
  apimachinery::Bytes digest{};  ///< see PodReport::digest
  std::optional<bool> updated{};
};

/// The bytes of a digest in the form that a KeptSource stores.
apimachinery::Bytes BytesOf(const Digest& digest);
/// The inverse of BytesOf. Fails with kMalformed when `bytes` is not a digest.
apimachinery::Result<Digest> DigestFrom(const apimachinery::Bytes& bytes);

/// Stores in `kept` those of a source's annotations that matter for every type of source.
void KeepAnnotations(const Annotations& annotations, const AnnotationKeys& keys, KeptSource& kept);
/// Stores in `kept` whether the object is as it was created at `created` (see IsAsCreated), when
/// its managed fields have these times. std::nullopt: a time that is not there.
void KeepAsCreated(const std::optional<apimachinery::Time>& created,
                   const std::vector<std::optional<apimachinery::Time>>& written, KeptSource& kept);
/// Builds the source `id` from what KeepAnnotations has stored. Its digest stays unset.
Source SourceOf(SourceId id, KeptSource kept);

/// Makes `kept`, a KeptSource or KeptPodStatus, the content of `object`.
template <class Kept>
void StoreKept(const Kept& kept, cache::Object& object) {
  object.encoding = codec::Encoding::kProtobuf;
  object.bytes = codec::EncodeProtobuf(kept);
}

/// Reads back what StoreKept has stored. Fails with kMalformed when the object contains something
/// else.
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
