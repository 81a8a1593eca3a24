/// @file
/// Compresses the objects of one type with a dictionary learnt from the first of them.
#ifndef KUBEXX_CACHE_PACKER_H_
#define KUBEXX_CACHE_PACKER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"

namespace kubexx::cache {

/// Settings of a Packer.
struct PackerOptions {
  int level = 1;
  std::size_t dictionary_bytes = 8 << 10;
  /// The dictionary is learnt from the first objects: this many and ten dictionaries' worth of
  /// bytes...
  std::size_t training_objects = 256;
  /// ...or this many bytes, whichever comes first.
  std::size_t training_bytes = 1 << 20;
  /// Packed objects between two looks at the ratio.
  std::size_t drift_window = 4096;
  /// A new dictionary is learnt when the packed share of the raw bytes has grown by this factor
  /// since the last one.
  double drift_factor = 1.5;
};

/// One packed object. `dictionary` names the dictionary it needs; 0 means none.
struct Packed {
  bool compressed =
      false;  ///< false: the bytes are the object's own, because compressing made them no smaller
  std::uint8_t dictionary = 0;
  std::string bytes{};
};

/// Packs and unpacks with zstd. All dictionaries are kept, at most kMaxDictionaries, so every
/// packed object stays readable for as long as the Packer lives. Until the first dictionary is
/// there, samples of the objects are held. Thread-safe; contexts are reused.
class Packer {
 public:
  static constexpr std::uint8_t kMaxDictionaries = 16;

  explicit Packer(PackerOptions options = {});
  ~Packer();
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;

  /// Never fails: what zstd will not compress is kept as it is.
  Packed Pack(std::string_view raw);

  /// The object again. `raw_size` is its size before packing. kInternalError on bytes that Pack did
  /// not make.
  apimachinery::Result<std::string> Unpack(bool compressed, std::uint8_t dictionary,
                                           std::string_view packed, std::size_t raw_size) const;
  /// The same into `raw`, whose memory is used again; its content is undefined after an error.
  apimachinery::Result<void> UnpackTo(std::string& raw, bool compressed, std::uint8_t dictionary,
                                      std::string_view packed, std::size_t raw_size) const;

  /// The dictionary that new objects are packed with; 0 while there is none.
  std::uint8_t dictionary() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_PACKER_H_
