/// @file
/// Entry: one cached object in one allocation.
#ifndef KUBEXX_CACHE_INTERNAL_PACKED_ENTRY_H_
#define KUBEXX_CACHE_INTERNAL_PACKED_ENTRY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/index_terms.h"
#include "kubexx/cache/packer.h"
#include "kubexx/codec/codec.h"

namespace kubexx::cache {

class EntryRef;

/// The parts of an Entry.
struct EntryParts {
  const apimachinery::ObjectKey& key;
  std::string_view resource_version;
  std::string_view terms;  ///< see EncodedTerms
  /// The version of the IndexerSet that computed the terms.
  std::uint8_t terms_version = 0;
  codec::Encoding encoding;
  std::size_t raw_size;
  /// The hash of the object as it arrived. With it a relist finds out that an object has not
  /// changed.
  std::uint64_t content_hash;
  bool compressed = false;
  std::uint8_t dictionary = 0;  ///< see Packed
  bool changed = false;         ///< see Entry::changed
  bool waits = false;           ///< see Entry::waits
  std::string_view packed;
};

/// The bytes of an object as an entry has them; see Packed.
struct PackedView {
  bool compressed = false;
  std::uint8_t dictionary = 0;
  std::string_view bytes;
};

/// An immutable, reference-counted cache entry: a header of 40 bytes, then the key, the version,
/// the index terms and the packed bytes, all in one allocation. New makes an entry, and its last
/// EntryRef destroys it. Thread-safe.
class Entry {
 public:
  /// kInvalid when a part of the key or the version is longer than 65,535 bytes.
  static apimachinery::Result<EntryRef> New(const EntryParts& parts);
  /// Makes the same entry with the object's bytes in another form. The new entry's waits() is
  /// false.
  static EntryRef WithBytes(const Entry& entry, const PackedView& packed);

  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  std::string_view namespace_() const { return {data(), namespace_size_}; }
  std::string_view name() const { return {data() + namespace_size_, name_size_}; }
  std::string_view resource_version() const {
    return {data() + namespace_size_ + name_size_, version_size_};
  }
  std::string_view packed() const { return {data() + head_size() + terms_size_, packed_size_}; }
  apimachinery::ObjectKey key() const;
  std::string_view encoded_terms() const { return {data() + head_size(), terms_size_}; }
  EncodedTerms terms() const { return EncodedTerms(encoded_terms()); }
  std::uint8_t terms_version() const { return terms_version_; }

  codec::Encoding encoding() const { return encoding_; }
  bool compressed() const { return compressed_; }
  /// Whether the object has changed since a list brought it.
  bool changed() const { return changed_; }
  /// Whether the object has to be packed later; see PackedStore::MakeRecent.
  bool waits() const { return waits_; }
  std::uint8_t dictionary() const { return dictionary_; }
  std::size_t raw_size() const { return raw_size_; }
  std::uint64_t content_hash() const { return content_hash_; }
  std::uint32_t key_hash() const { return key_hash_; }
  /// The size of the allocation in bytes.
  std::size_t size() const { return sizeof(Entry) + head_size() + terms_size_ + packed_size_; }

  /// A base::KeyedHash, because tenants, who could attack the table, choose the names.
  static std::uint32_t HashKey(std::string_view namespace_, std::string_view name);

 private:
  friend class EntryRef;
  Entry() = default;
  ~Entry() = default;

  const char* data() const { return reinterpret_cast<const char*>(this + 1); }
  char* data() { return reinterpret_cast<char*>(this + 1); }
  std::size_t head_size() const {
    return std::size_t{namespace_size_} + name_size_ + version_size_;
  }
  void Release() const;

  std::uint64_t content_hash_ = 0;
  mutable std::atomic<std::uint32_t> references_ = 1;
  std::uint32_t key_hash_ = 0;
  std::uint32_t raw_size_ = 0;
  std::uint32_t packed_size_ = 0;
  std::uint32_t terms_size_ = 0;
  std::uint16_t namespace_size_ = 0;
  std::uint16_t name_size_ = 0;
  std::uint16_t version_size_ = 0;
  codec::Encoding encoding_ = codec::Encoding::kProtobuf;
  bool compressed_ = false;
  std::uint8_t dictionary_ = 0;
  std::uint8_t terms_version_ = 0;
  bool changed_ = false;
  bool waits_ = false;
};

/// A counted reference to an Entry, or null. It has the size of one pointer.
class EntryRef {
 public:
  EntryRef() = default;
  EntryRef(const EntryRef& other) : entry_(other.entry_) {
    if (entry_ != nullptr) {
      entry_->references_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  EntryRef(EntryRef&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
  EntryRef& operator=(EntryRef other) noexcept {
    std::swap(entry_, other.entry_);
    return *this;
  }
  ~EntryRef() {
    if (entry_ != nullptr) {
      entry_->Release();
    }
  }

  explicit operator bool() const { return entry_ != nullptr; }
  const Entry& operator*() const { return *entry_; }
  const Entry* operator->() const { return entry_; }
  const Entry* get() const { return entry_; }
  bool operator==(const EntryRef& other) const = default;

 private:
  friend class Entry;
  explicit EntryRef(const Entry* adopted) : entry_(adopted) {}
  const Entry* entry_ = nullptr;
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_PACKED_ENTRY_H_
