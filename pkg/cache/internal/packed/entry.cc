#include "kubexx/cache/internal/packed/entry.h"

#include <cstring>
#include <limits>
#include <new>

#include "kubexx/base/keyed_hash.h"
#include "kubexx/cache/object.h"

namespace kubexx::cache {
namespace {

constexpr std::size_t kMaxBytes = std::numeric_limits<std::uint32_t>::max();

}  // namespace

static_assert(sizeof(Entry) == 40);
static_assert(kMaxKeyPart == std::numeric_limits<std::uint16_t>::max());

apimachinery::Result<EntryRef> Entry::New(const EntryParts& parts) {
  if (parts.key.namespace_.size() > kMaxKeyPart || parts.key.name.size() > kMaxKeyPart ||
      parts.resource_version.size() > kMaxKeyPart || parts.terms.size() > kMaxBytes ||
      parts.raw_size > kMaxBytes) {
    return apimachinery::Fail(apimachinery::Reason::kInvalid,
                              "an object is too large for the cache, or a part of its key is");
  }
  const std::size_t head =
      parts.key.namespace_.size() + parts.key.name.size() + parts.resource_version.size();
  void* memory = ::operator new(sizeof(Entry) + head + parts.terms.size() + parts.packed.size());
  auto* entry = new (memory) Entry();
  entry->content_hash_ = parts.content_hash;
  entry->key_hash_ = HashKey(parts.key.namespace_, parts.key.name);
  entry->raw_size_ = static_cast<std::uint32_t>(parts.raw_size);
  entry->packed_size_ = static_cast<std::uint32_t>(parts.packed.size());
  entry->terms_size_ = static_cast<std::uint32_t>(parts.terms.size());
  entry->namespace_size_ = static_cast<std::uint16_t>(parts.key.namespace_.size());
  entry->name_size_ = static_cast<std::uint16_t>(parts.key.name.size());
  entry->version_size_ = static_cast<std::uint16_t>(parts.resource_version.size());
  entry->encoding_ = parts.encoding;
  entry->compressed_ = parts.compressed;
  entry->dictionary_ = parts.dictionary;
  entry->terms_version_ = parts.terms_version;
  entry->changed_ = parts.changed;
  entry->waits_ = parts.waits;
  char* at = entry->data();
  for (const std::string_view part :
       {std::string_view(parts.key.namespace_), std::string_view(parts.key.name),
        parts.resource_version, parts.terms, parts.packed}) {
    if (!part.empty()) {
      std::memcpy(at, part.data(), part.size());
    }
    at += part.size();
  }
  return EntryRef(entry);
}

EntryRef Entry::WithBytes(const Entry& entry, const PackedView& packed) {
  const std::size_t head = entry.head_size() + entry.terms_size_;
  void* memory = ::operator new(sizeof(Entry) + head + packed.bytes.size());
  auto* made = new (memory) Entry();
  made->content_hash_ = entry.content_hash_;
  made->key_hash_ = entry.key_hash_;
  made->raw_size_ = entry.raw_size_;
  made->packed_size_ = static_cast<std::uint32_t>(packed.bytes.size());
  made->terms_size_ = entry.terms_size_;
  made->namespace_size_ = entry.namespace_size_;
  made->name_size_ = entry.name_size_;
  made->version_size_ = entry.version_size_;
  made->encoding_ = entry.encoding_;
  made->compressed_ = packed.compressed;
  made->dictionary_ = packed.dictionary;
  made->terms_version_ = entry.terms_version_;
  made->changed_ = entry.changed_;
  std::memcpy(made->data(), entry.data(), head);
  if (!packed.bytes.empty()) {
    std::memcpy(made->data() + head, packed.bytes.data(), packed.bytes.size());
  }
  return EntryRef(made);
}

apimachinery::ObjectKey Entry::key() const {
  return {.namespace_ = std::string(namespace_()), .name = std::string(name())};
}

std::uint32_t Entry::HashKey(std::string_view namespace_, std::string_view name) {
  return static_cast<std::uint32_t>(base::KeyedHash(name, base::KeyedHash(namespace_)));
}

void Entry::Release() const {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    auto* self = const_cast<Entry*>(this);
    self->~Entry();
    ::operator delete(self);
  }
}

}  // namespace kubexx::cache
