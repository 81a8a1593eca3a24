/// @file
/// The form in which the memory store holds values, and the compression of older ones.
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

/// The bytes of one value, plain or compressed. Immutable once shared. The destructor wipes them,
/// because they may belong to a Secret.
struct Blob {
  std::string bytes{};
  const cache::Packer* packer = nullptr;  ///< null when `bytes` are the plain value
  std::uint32_t raw_size = 0;
  std::uint8_t dictionary = 0;
  bool compressed = false;

  Blob() = default;
  Blob(const Blob&) = delete;
  Blob& operator=(const Blob&) = delete;
  ~Blob() { apimachinery::Wipe(bytes); }
};
using BlobRef = std::shared_ptr<const Blob>;

/// Makes a blob of `value`, without a copy when the string has little spare capacity.
BlobRef MakeBlob(std::string value);

/// The value of a blob. Returns kInternalError when the bytes cannot be unpacked, which only a bug
/// could cause.
apimachinery::Result<Bytes> ValueOf(const BlobRef& blob);

/// Compresses values. It learns a dictionary from the values of each resource. Thread-safe.
class ValuePacker {
 public:
  /// Returns the compressed form of `raw`, the value of `key`, or `raw` itself when compression
  /// would not make it smaller.
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
