/// @file
/// PackedEvent: an event about entries of a PackedStore.
#ifndef KUBEXX_CACHE_INTERNAL_INFORMER_PACKED_EVENT_H_
#define KUBEXX_CACHE_INTERNAL_INFORMER_PACKED_EVENT_H_

#include <memory>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/mutex.h"
#include "kubexx/cache/informer_event.h"
#include "kubexx/cache/internal/packed/entry.h"
#include "kubexx/cache/internal/packed/packed_store.h"
#include "kubexx/cache/object.h"

namespace kubexx::cache {

/// The events of informers. This is a class of its own, so that handlers, which get a RawEvent,
/// need not compile the store. An event refers to the store without owning it, so whoever keeps
/// events has to keep the store, too. If events owned the store, two threads would write to its
/// reference count for each event. Thread-safe.
class PackedEvent final : public RawEvent {
 public:
  /// `object` is not null; `old` is null for an add only.
  template <class Store>
  PackedEvent(const std::shared_ptr<Store>& store, Type type_in, EntryRef object, EntryRef old,
              Flags flags)
      : RawEvent(type_in, flags),
        store_(*store),
        entry_(std::move(object)),
        old_entry_(std::move(old)) {}

  /// The packed states. The old one is null when the event is an add.
  const EntryRef& entry() const { return entry_; }
  const EntryRef& old_entry() const { return old_entry_; }

  apimachinery::ObjectKey key() const override { return entry_->key(); }
  std::string_view resource_version() const override { return entry_->resource_version(); }
  std::string_view old_resource_version() const override {
    return (old_entry_ ? old_entry_ : entry_)->resource_version();
  }
  bool HasOtherOldObject() const override { return old_entry_ && old_entry_ != entry_; }
  const Object& object() const override { return Unpacked(object_, *entry_); }
  const Object& old_object() const override {
    return HasOtherOldObject() ? Unpacked(old_object_, *old_entry_) : object();
  }
  apimachinery::Result<EncodedObject> encoded() const override { return Encoded(object_, *entry_); }
  apimachinery::Result<EncodedObject> encoded_old() const override {
    return HasOtherOldObject() ? Encoded(old_object_, *old_entry_) : encoded();
  }
  DecodeResult Decoded(Decoder decode) const override {
    return DecodedOnce(decoded_, entry_, decode);
  }
  DecodeResult DecodedOld(Decoder decode) const override {
    return HasOtherOldObject() ? DecodedOnce(decoded_old_, old_entry_, decode) : Decoded(decode);
  }

 private:
  const Object& Unpacked(std::unique_ptr<const Object>& slot, const Entry& entry) const;
  apimachinery::Result<EncodedObject> Encoded(std::unique_ptr<const Object>& slot,
                                              const Entry& entry) const;
  DecodeResult DecodedOnce(std::shared_ptr<const void>& slot, const EntryRef& entry,
                           Decoder decode) const;

  const PackedStore& store_;
  EntryRef entry_;
  EntryRef old_entry_;
  /// Is held while the object is unpacked and decoded, so that a second handler waits for the first
  /// one's result.
  mutable base::Mutex mu_;
  mutable std::unique_ptr<const Object> object_;
  mutable std::unique_ptr<const Object> old_object_;
  mutable std::shared_ptr<const void> decoded_;
  mutable std::shared_ptr<const void> decoded_old_;
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_INFORMER_PACKED_EVENT_H_
