#include "kubexx/cache/informer_event.h"

#include "kubexx/logging/log.h"

namespace kubexx::cache {
namespace {

// Entries hold what this process packed, so unpacking fails only on damaged memory.
Object UnpackOrEmpty(const PackedStore& store, const Entry& entry) {
  auto object = store.Unpack(entry);
  if (!object) {
    logging::Error("cannot unpack a cached object",
                   {{"key", entry.key().ToString()}, {"error", object.error()}});
    return Object{.encoding = entry.encoding(),
                  .key = entry.key(),
                  .resource_version = std::string(entry.resource_version())};
  }
  return std::move(*object);
}

}  // namespace

const Object& RawEvent::Unpacked(std::unique_ptr<const Object>& slot, const Entry& entry) const {
  base::MutexLock lock(mu_);
  if (!slot) {
    slot = std::make_unique<const Object>(UnpackOrEmpty(*store_, entry));
  }
  return *slot;
}

std::shared_ptr<const void> RawEvent::DecodedOnce(std::shared_ptr<const void>& slot,
                                                  const Entry& entry, Decoder decode) const {
  base::MutexLock lock(mu_);
  if (!slot) {
    slot = decode(UnpackOrEmpty(*store_, entry));
  }
  return slot;
}

}  // namespace kubexx::cache
