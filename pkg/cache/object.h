/// @file
/// Object: one API object in its encoded form. Sources, the Reflector and the stores exchange
/// objects in this form.
#ifndef KUBEXX_CACHE_OBJECT_H_
#define KUBEXX_CACHE_OBJECT_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/codec.h"

namespace kubexx::cache {

/// An encoded object with the metadata that caches need. Movable; owns its bytes. Nothing wipes the
/// bytes by default: a transform that handles Secrets has to wipe what it drops.
struct Object {
  codec::Encoding encoding = codec::Encoding::kProtobuf;
  /// Protobuf message without envelope, or JSON text.
  std::string bytes{};
  apimachinery::ObjectKey key{};
  std::string resource_version{};
  /// When set, the source received an object that it could not read, and this is the reason. The
  /// object then has no key, and stores leave it out; see ReflectorStore.
  std::shared_ptr<const apimachinery::Status> unreadable{};
};

/// A view of an object's bytes, which are those of Object.
struct EncodedObject {
  codec::Encoding encoding = codec::Encoding::kProtobuf;
  std::string_view bytes{};
};

/// Returns an Object that represents one that could not be read.
Object UnreadableObject(apimachinery::Status why);

/// The maximal length of a namespace, a name or a resourceVersion in a cache, in bytes.
inline constexpr std::size_t kMaxKeyPart = 65535;

/// When the object's namespace, name or resourceVersion is longer than `max_key_part` bytes,
/// replaces the object by one that could not be read, whose error contains the beginning of the
/// key. A cache could not store the object, and this lets it continue with the others.
void LeaveOutIfKeyTooLong(Object& object, std::size_t max_key_part);

/// Copies `bytes` into an Object and reads its metadata. Reuses the buffer of `memory` for the
/// copy, unless it is much larger. kMalformed when `bytes` are not an object with a name; the error
/// then contains the other known metadata.
apimachinery::Result<Object> MakeObject(codec::Encoding encoding, std::string_view bytes,
                                        std::string memory = {});

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_OBJECT_H_
