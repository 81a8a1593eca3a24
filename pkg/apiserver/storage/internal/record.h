/// @file
/// The records of the memory store's file, and their checksum.
#ifndef KUBEXX_APISERVER_STORAGE_INTERNAL_RECORD_H_
#define KUBEXX_APISERVER_STORAGE_INTERNAL_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kubexx/apiserver/storage/storage.h"

namespace kubexx::apiserver::storage::internal {

/// CRC-32C (Castagnoli, as RFC 3720) of `data`.
std::uint32_t Crc32c(std::string_view data);

/// One entry of the file. In the file, little-endian: length of what follows the header (4 bytes),
/// checksum of all behind it (4), `durable` (8); then type (1), revision (8), create revision (8),
/// length of the key (4), key, value.
struct Record {
  enum class Type : std::uint8_t {
    kBase = 1,  ///< the first of a file: the revision that the kItems after it stand for
    kItem = 2,  ///< a key as it was at the base
    kPut = 3,   ///< one revision
    kDelete = 4
  };
  Type type = Type::kPut;
  Revision revision = 0;
  Revision create = 0;
  std::string_view key{};
  std::string_view value{};
  /// So much of the file was on the disk when this was written; what is unreadable behind it is a
  /// write that a crash cut off, before it damage.
  std::uint64_t durable = 0;
};

inline constexpr std::size_t kRecordHeader = 16;
/// What a record takes besides its key and its value.
inline constexpr std::size_t kRecordOverhead = kRecordHeader + 21;
inline constexpr std::size_t kMaxRecord = 256U << 20;

/// Adds the bytes of `record` to `out`.
void EncodeRecord(const Record& record, std::string& out);

/// The record at the start of `data`, with views into it; `size` is how many bytes it takes.
/// Nothing when there is no whole, undamaged record; then `wanted`, when not 0, says how many bytes
/// its header claims.
struct DecodedRecord {
  std::optional<Record> record{};
  std::size_t size = 0;
  std::size_t wanted = 0;
};
DecodedRecord DecodeRecord(std::string_view data);

}  // namespace kubexx::apiserver::storage::internal

#endif  // KUBEXX_APISERVER_STORAGE_INTERNAL_RECORD_H_
