#include "kubexx/apiserver/storage/internal/value.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace kubexx::apiserver::storage::internal {
namespace {

using apimachinery::Result;

/// Returns "/registry/pods/" for "/registry/pods/default/web".
std::string_view ResourceOf(std::string_view key) {
  std::size_t end = key.find('/', 1);
  if (end != std::string_view::npos) {
    end = key.find('/', end + 1);
  }
  return key.substr(0, end == std::string_view::npos ? end : end + 1);
}

}  // namespace

BlobRef MakeBlob(std::string value) {
  auto blob = std::make_shared<Blob>();
  blob->raw_size = static_cast<std::uint32_t>(value.size());
  if (value.capacity() > value.size() + value.size() / 8 + 16) {
    blob->bytes.assign(value);
    apimachinery::Wipe(value);
  } else {
    blob->bytes = std::move(value);
  }
  return blob;
}

Result<Bytes> ValueOf(const BlobRef& blob) {
  if (blob == nullptr) {
    return Bytes();
  }
  if (blob->packer == nullptr) {
    return Bytes(blob, &blob->bytes);
  }
  KX_ASSIGN_OR_RETURN(std::string raw, blob->packer->Unpack(blob->compressed, blob->dictionary,
                                                            blob->bytes, blob->raw_size));
  const BlobRef whole = MakeBlob(std::move(raw));
  return Bytes(whole, &whole->bytes);
}

BlobRef ValuePacker::Pack(std::string_view key, const BlobRef& raw) {
  cache::Packer& packer = PackerOf(key);
  cache::Packed packed = packer.Pack(raw->bytes);
  if (!packed.compressed) {
    apimachinery::Wipe(packed.bytes);
    return raw;
  }
  auto blob = std::make_shared<Blob>();
  // Copied, because the packer's buffer has room for the worst case.
  blob->bytes.assign(packed.bytes);
  blob->packer = &packer;
  blob->raw_size = raw->raw_size;
  blob->dictionary = packed.dictionary;
  blob->compressed = true;
  return blob;
}

cache::Packer& ValuePacker::PackerOf(std::string_view key) {
  std::string_view resource = ResourceOf(key);
  base::MutexLock lock(mu_);
  auto found = packers_.find(resource);
  if (found == packers_.end() && packers_.size() >= kMaxPackers) {
    resource = "";
    found = packers_.find(resource);
  }
  if (found == packers_.end()) {
    found = packers_.emplace(std::string(resource), std::make_unique<cache::Packer>()).first;
  }
  return *found->second;
}

}  // namespace kubexx::apiserver::storage::internal
