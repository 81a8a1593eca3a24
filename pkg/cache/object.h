/// @file
/// The currency between a source of objects, the Reflector and the stores: one API object in its
/// encoded form.
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

/// An encoded object with the metadata that caches sort it by. Movable; owns its bytes, which are
/// wiped nowhere by default: a transform that handles Secrets wipes what it drops.
struct Object {
  codec::Encoding encoding = codec::Encoding::kProtobuf;
  /// Protobuf message without envelope, or JSON text.
  std::string bytes{};
  apimachinery::ObjectKey key{};
  std::string resource_version{};
  /// Set for what a source was sent and could not read: why. Then there is no key, and stores leave
  /// it out; see ReflectorStore.
  std::shared_ptr<const apimachinery::Status> unreadable{};
};

/// What stands for an object that could not be read.
Object UnreadableObject(apimachinery::Status why);

/// Bytes of a namespace, a name or a resourceVersion that a cache has room for.
inline constexpr std::size_t kMaxKeyPart = 65535;

/// Makes an object with a longer one than `max_key_part` one that could not be read, whose error
/// has the beginning of its key: a cache could not take it, and is to go on with the others.
void LeaveOutIfKeyTooLong(Object& object, std::size_t max_key_part);

/// Copies `bytes` into an Object and reads its metadata. `memory`, whatever it holds, becomes the
/// copy, unless it is much larger. kMalformed when they are not an object with a name; the error
/// says what else names it.
apimachinery::Result<Object> MakeObject(codec::Encoding encoding, std::string_view bytes,
                                        std::string memory = {});

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_OBJECT_H_
