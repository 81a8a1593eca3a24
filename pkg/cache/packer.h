/// @file
/// Packer: compresses the objects of one type with a dictionary that it learns from the first
/// objects.
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
  /// The packer learns the first dictionary from this many objects, but no sooner than they have
  /// ten times the dictionary's size.
  std::size_t training_objects = 256;
  /// When the first objects have this many bytes before that, the packer learns the dictionary from
  /// them.
  std::size_t training_bytes = 1 << 20;
  /// The packer checks the compression ratio after each such number of packed objects.
  std::size_t drift_window = 4096;
  /// The packer learns a new dictionary when the ratio of packed to raw bytes has grown by this
  /// factor since the last dictionary.
  double drift_factor = 1.5;
};

/// One packed object. `dictionary` is the number of the dictionary that it needs; 0 means none.
struct Packed {
  bool compressed =
      false;  ///< false: `bytes` are the raw object, because compression made it no smaller
  std::uint8_t dictionary = 0;
  std::string bytes{};
};

/// Packs and unpacks objects with zstd. The packer keeps all its dictionaries, at most
/// kMaxDictionaries, so every packed object stays readable for as long as the Packer lives. It
/// keeps samples of the objects until it has the first dictionary. Thread-safe; it reuses zstd's
/// contexts.
class Packer {
 public:
  static constexpr std::uint8_t kMaxDictionaries = 16;

  explicit Packer(PackerOptions options = {});
  ~Packer();
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;

  /// Packs an object. Never fails: when zstd cannot compress the object, the result contains it as
  /// it is.
  Packed Pack(std::string_view raw);

  /// Returns the unpacked object. `raw_size` is its size before packing. kInternalError for bytes
  /// that Pack did not make.
  apimachinery::Result<std::string> Unpack(bool compressed, std::uint8_t dictionary,
                                           std::string_view packed, std::size_t raw_size) const;
  /// Unpacks into `raw`, whose memory is reused; its content is undefined after an error.
  apimachinery::Result<void> UnpackTo(std::string& raw, bool compressed, std::uint8_t dictionary,
                                      std::string_view packed, std::size_t raw_size) const;

  /// The number of the dictionary for new objects; 0 while there is none.
  std::uint8_t dictionary() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_PACKER_H_
