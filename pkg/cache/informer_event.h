/// @file
/// RawEvent: a change that an informer reports to its handlers. It is unpacked and decoded at most
/// once, however many handlers there are.
#ifndef KUBEXX_CACHE_INFORMER_EVENT_H_
#define KUBEXX_CACHE_INFORMER_EVENT_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/base/mutex.h"
#include "kubexx/cache/internal/packed/packed_store.h"
#include "kubexx/cache/object.h"

namespace kubexx::cache {

/// One change. All handlers of an informer share it. Thread-safe.
class RawEvent {
 public:
  enum class Type : std::uint8_t { kAdd, kUpdate, kDelete };
  using DecodeResult = apimachinery::Result<std::shared_ptr<const void>>;
  using Decoder = base::FunctionRef<DecodeResult(const Object&)>;

  /// The properties of an event other than its objects.
  struct Flags {
    bool is_in_initial_list = false;
    bool final_state_unknown = false;
    bool is_single_change = false;
  };

  RawEvent(std::shared_ptr<const PackedStore> store, Type type_in, EntryRef object, EntryRef old,
           Flags flags)
      : type(type_in),
        is_in_initial_list(flags.is_in_initial_list),
        final_state_unknown(flags.final_state_unknown),
        is_single_change(flags.is_single_change),
        store_(std::move(store)),
        entry_(std::move(object)),
        old_entry_(std::move(old)) {}

  const Type type;
  const bool is_in_initial_list;   ///< kAdd: from the first list, or replayed to a late handler
  const bool final_state_unknown;  ///< kDelete: a relist found it; the object may be stale
  /// True when the event comes from a watch and no changes were merged into it. The difference to
  /// the old state was then written at exactly resource_version(); otherwise at that version or an
  /// earlier one.
  const bool is_single_change;

  apimachinery::ObjectKey key() const { return entry_->key(); }
  /// The packed states; the old one is null for an add.
  const EntryRef& entry() const { return entry_; }
  const EntryRef& old_entry() const { return old_entry_; }
  std::string_view resource_version() const { return entry_->resource_version(); }
  /// The version before an update; for other events the same as resource_version().
  std::string_view old_resource_version() const {
    return (old_entry_ ? old_entry_ : entry_)->resource_version();
  }

  /// The new state; for kDelete the last known one. Unpacked on the first call.
  const Object& object() const { return Unpacked(object_, *entry_); }
  /// The state before an update or a delete. In a resync it is the same object as the new state;
  /// for an add it is object().
  const Object& old_object() const {
    return !old_entry_ || entry_ == old_entry_ ? object() : Unpacked(old_object_, *old_entry_);
  }

  /// Return the states decoded; the first call decodes with `decode`. It must be the same function
  /// for every call and every event of the informer, because the next event of the object reuses
  /// what was decoded for this one. Errors of `decode`, and of unpacking, are returned, counted
  /// and, with a limited rate, logged.
  DecodeResult Decoded(Decoder decode) const { return DecodedOnce(decoded_, entry_, decode); }
  DecodeResult DecodedOld(Decoder decode) const {
    return !old_entry_ || entry_ == old_entry_ ? Decoded(decode)
                                               : DecodedOnce(decoded_old_, old_entry_, decode);
  }

 private:
  const Object& Unpacked(std::unique_ptr<const Object>& slot, const Entry& entry) const;
  DecodeResult DecodedOnce(std::shared_ptr<const void>& slot, const EntryRef& entry,
                           Decoder decode) const;

  std::shared_ptr<const PackedStore> store_;
  EntryRef entry_;
  EntryRef old_entry_;
  /// Held while unpacking and decoding, so that a second handler waits for the first one's result.
  mutable base::Mutex mu_;
  mutable std::unique_ptr<const Object> object_;
  mutable std::unique_ptr<const Object> old_object_;
  mutable std::shared_ptr<const void> decoded_;
  mutable std::shared_ptr<const void> decoded_old_;
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INFORMER_EVENT_H_
