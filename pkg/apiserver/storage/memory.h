/// @file
/// A Storage in this process's memory, as an option with a file that survives a crash.
#ifndef KUBEXX_APISERVER_STORAGE_MEMORY_H_
#define KUBEXX_APISERVER_STORAGE_MEMORY_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/clock.h"

namespace kubexx::apiserver::storage {

/// Settings of a memory store.
struct MemoryOptions {
  /// History is kept for this long...
  base::Duration keep_history = std::chrono::minutes(5);
  /// ...but for no more than this many revisions.
  std::size_t keep_revisions = 100000;
  /// Values above this are refused, as etcd does by default.
  std::size_t max_value_bytes = 1536 << 10;
  /// Values written within the last so many bytes stay as they are; older ones are compressed. 0
  /// compresses all.
  std::size_t uncompressed_bytes = 4 << 20;
  /// A new store, also one in a new file, begins after this revision. One that each process chooses
  /// higher than the last has clients of a former process told that their versions have expired,
  /// rather than taken for its own.
  std::int64_t base_revision = 0;
  /// The file that all writes go to before they are acknowledged (fdatasync, shared by concurrent
  /// writers); empty for none. It is rewritten with the live keys alone when most of it is
  /// history, as "<file>.new", which is removed when it is left over; "<file>.lock" keeps other
  /// processes out. When it cannot be written, as on a full disk, writes are refused with
  /// kInternalError and have no effect, reads go on, and each further write is tried; see
  /// CheckHealth. The same happens to what would leave the disk without room for a rewrite;
  /// deletions are taken then.
  std::string file{};
  /// The file is rewritten when it is this large and four times what its live keys take, and sooner
  /// when its disk runs out of room. A rewrite forgets the history for those who come after a
  /// start.
  std::size_t rewrite_bytes = 4 << 20;
  base::Clock* clock = &base::Clock::Real();
};

/// Sizes of a memory store, for metrics and benchmarks.
struct MemoryUsage {
  std::size_t keys = 0;
  std::size_t revisions = 0;    ///< of the history that is kept
  std::size_t value_bytes = 0;  ///< of all kept values, as they are held
  std::size_t file_bytes = 0;
};

/// A Storage with its sizes.
class MemoryStorage : public Storage {
 public:
  /// Thread-safe.
  virtual MemoryUsage Usage() const = 0;
};

/// Makes a store; with a file: reads what it holds. Bytes at its end that a crash left half-written
/// are cut off with a warning in the log. kInvalidConfig when the file cannot be used or another
/// process has it open; kMalformed when it is damaged before its end. All calls must have returned
/// before it is destroyed.
apimachinery::Result<std::unique_ptr<MemoryStorage>> NewMemoryStorage(MemoryOptions options);

}  // namespace kubexx::apiserver::storage

#endif  // KUBEXX_APISERVER_STORAGE_MEMORY_H_
