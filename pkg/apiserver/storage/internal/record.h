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

/// One entry of the file. Its bytes in the file, little-endian, are a header with the length of
/// what follows the header (4 bytes), the checksum of everything behind the checksum (4) and
/// `durable` (8); then the type (1), revision (8), create revision (8), length of the key (4), key
/// and value.
struct Record {
  enum class Type : std::uint8_t {
    /// The first record of a file: the revision at which the kItems after it are the state.
    kBase = 1,
    kItem = 2,  ///< a key and its value at the base revision
    kPut = 3,   ///< one revision that sets a key
    kDelete = 4
  };
  Type type = Type::kPut;
  Revision revision = 0;
  Revision create = 0;
  std::string_view key{};
  std::string_view value{};
  /// The number of bytes of the file that were on the disk when this record was written. An
  /// unreadable record behind that place is a write that a crash cut off. An unreadable record
  /// before that place means that the file is damaged.
  std::uint64_t durable = 0;
};

inline constexpr std::size_t kRecordHeader = 16;
/// The size of a record without its key and its value.
inline constexpr std::size_t kRecordOverhead = kRecordHeader + 21;
inline constexpr std::size_t kMaxRecord = 256U << 20;

/// Appends the bytes of `record` to `out`.
void EncodeRecord(const Record& record, std::string& out);

/// The record at the start of some bytes. `record` has views into them, and `size` is how many
/// bytes it takes. `record` is std::nullopt when there is no complete, undamaged record; then
/// `wanted`, when it is not 0, is the number of bytes that the header claims.
struct DecodedRecord {
  std::optional<Record> record{};
  std::size_t size = 0;
  std::size_t wanted = 0;
};
DecodedRecord DecodeRecord(std::string_view data);

}  // namespace kubexx::apiserver::storage::internal

#endif  // KUBEXX_APISERVER_STORAGE_INTERNAL_RECORD_H_
