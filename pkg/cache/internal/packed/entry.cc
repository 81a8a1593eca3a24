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
