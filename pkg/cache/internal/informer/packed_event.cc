#include "kubexx/cache/internal/informer/packed_event.h"

#include <utility>

#include "kubexx/logging/log.h"

namespace kubexx::cache {
namespace {

// This process packed the entries itself, so unpacking fails only when memory was damaged.
Object UnpackOrEmpty(const PackedStore& store, const Entry& entry) {
  auto object = store.Unpack(entry);
  if (!object) {
    logging::Error("Cannot unpack a cached object",
                   {{"key", entry.key().ToString()}, {"error", object.error()}});
    return Object{.encoding = entry.encoding(),
                  .key = entry.key(),
                  .resource_version = std::string(entry.resource_version())};
  }
  return std::move(*object);
}

}  // namespace

const Object& PackedEvent::Unpacked(std::unique_ptr<const Object>& slot, const Entry& entry) const {
  base::MutexLock lock(mu_);
  if (!slot) {
    slot = std::make_unique<const Object>(UnpackOrEmpty(store_, entry));
  }
  return *slot;
}

apimachinery::Result<EncodedObject> PackedEvent::Encoded(std::unique_ptr<const Object>& slot,
                                                         const Entry& entry) const {
  if (!entry.compressed()) {
    return EncodedObject{.encoding = entry.encoding(), .bytes = entry.packed()};
  }
  base::MutexLock lock(mu_);
  if (!slot) {
    auto object = store_.Unpack(entry);
    if (!object) {
      return apimachinery::Fail(store_.faults().Named(entry.key(), object.error()));
    }
    slot = std::make_unique<const Object>(*std::move(object));
  }
  return EncodedObject{.encoding = slot->encoding, .bytes = slot->bytes};
}

PackedEvent::DecodeResult PackedEvent::DecodedOnce(std::shared_ptr<const void>& slot,
                                                   const EntryRef& entry, Decoder decode) const {
  base::MutexLock lock(mu_);
  if (slot) {
    return slot;
  }
  const bool is_old = &slot == &decoded_old_;
  DecodedCache& cache = store_.decoded();
  if (is_old) {
    slot = cache.Take(*entry);
  }
  if (!slot) {
    DecodeResult decoded = nullptr;
    const auto read = store_.Read(*entry, [&](const Object& raw) { decoded = decode(raw); });
    if (!read) {
      decoded = apimachinery::Fail(read.error());
    }
    if (!decoded) {
      store_.faults().ReportUndecodable(entry->key(), decoded.error());
      return apimachinery::Fail(store_.faults().Named(entry->key(), decoded.error()));
    }
    slot = *std::move(decoded);
  }
  // Most objects of a first list do not change afterwards, and a deleted object has no next event.
  if (!is_old && !is_in_initial_list && type != Type::kDelete) {
    cache.Put(entry, slot);
  }
  return slot;
}

}  // namespace kubexx::cache
