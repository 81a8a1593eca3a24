/// @file
/// Values as the memory store holds them, and the compression of the older ones.
#ifndef KUBEXX_APISERVER_STORAGE_INTERNAL_VALUE_H_
#define KUBEXX_APISERVER_STORAGE_INTERNAL_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/mutex.h"
#include "kubexx/cache/packer.h"

namespace kubexx::apiserver::storage::internal {

/// The bytes of one value, as they are or compressed. Immutable once shared. They may be a Secret's
/// and are wiped.
struct Blob {
  std::string bytes{};
  const cache::Packer* packer = nullptr;  ///< null: `bytes` are the value
  std::uint32_t raw_size = 0;
  std::uint8_t dictionary = 0;
  bool compressed = false;

  Blob() = default;
  Blob(const Blob&) = delete;
  Blob& operator=(const Blob&) = delete;
  ~Blob() { apimachinery::Wipe(bytes); }
};
using BlobRef = std::shared_ptr<const Blob>;

/// Takes the bytes over, without a copy where there is little spare room.
BlobRef MakeBlob(std::string value);

/// The value of a blob. Bytes that cannot be unpacked, which only a defect could bring about, give
/// kInternalError.
apimachinery::Result<Bytes> ValueOf(const BlobRef& blob);

/// Compresses values, those of one resource with what was learnt from them. Thread-safe.
class ValuePacker {
 public:
  /// The compressed form of the value of `key`; the same blob when it would be no smaller.
  BlobRef Pack(std::string_view key, const BlobRef& raw);

 private:
  // A resource of its own has a packer of its own, up to this many; the others share one. Each
  // holds up to 1 MB of samples until it has learnt.
  static constexpr std::size_t kMaxPackers = 64;

  cache::Packer& PackerOf(std::string_view key);

  base::Mutex mu_;
  std::map<std::string, std::unique_ptr<cache::Packer>, std::less<>> packers_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::apiserver::storage::internal

#endif  // KUBEXX_APISERVER_STORAGE_INTERNAL_VALUE_H_
