/// @file
/// A Storage in the memory of this process. Optionally it writes to a file, which survives a crash.
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
  /// The store drops history that is older than this.
  base::Duration keep_history = std::chrono::minutes(5);
  /// The store drops the oldest history when it has more revisions than this.
  std::size_t keep_revisions = 100000;
  /// The store drops the oldest history when the values that only the history needs are larger than
  /// this in total, in the form in which memory holds them: updates of large objects would
  /// otherwise need any amount of memory. As long as a watch is behind, they may be twice as large.
  std::size_t keep_history_bytes = 128 << 20;
  /// The store refuses larger values. The default is that of etcd.
  std::size_t max_value_bytes = 1536 << 10;
  /// The most recently written values, up to this many bytes in total, stay uncompressed. The store
  /// compresses older ones; with 0 it compresses all.
  std::size_t uncompressed_bytes = 4 << 20;
  /// The first write to a new store, or to a new file, gets the revision after this one. When each
  /// process chooses a higher number than the process before, clients of the former process learn
  /// that their resourceVersions have expired; otherwise the store would take them for its own.
  std::int64_t base_revision = 0;
  /// Every write goes to this file before it is acknowledged (by fdatasync, which concurrent
  /// writers share). When it is empty, there is no file. The store rewrites the file with the live
  /// keys alone when most of it is history: it writes "<file>.new" first, and removes one that a
  /// crash has left. "<file>.lock" keeps other processes out. When the file cannot be written,
  /// because the disk is full for example, the store refuses writes with kInternalError and without
  /// effect, still answers reads, and tries again with each further write; see CheckHealth. It also
  /// refuses writes that would leave too little room on the disk for a rewrite, but accepts
  /// deletions then.
  std::string file{};
  /// The store rewrites the file when it is at least this large and four times as large as its live
  /// keys need, and earlier when its disk runs out of room. After a rewrite the file lacks the
  /// older history, so that a restarted store does not know it.
  std::size_t rewrite_bytes = 4 << 20;
  base::Clock* clock = &base::Clock::Real();
};

/// The sizes of a memory store, for metrics and benchmarks.
struct MemoryUsage {
  std::size_t keys = 0;
  std::size_t revisions = 0;  ///< revisions in the history
  /// Of all values in the history, in the form in which memory holds them.
  std::size_t value_bytes = 0;
  std::size_t file_bytes = 0;
};

/// A Storage that can tell its sizes.
class MemoryStorage : public Storage {
 public:
  /// Thread-safe.
  virtual MemoryUsage Usage() const = 0;
};

/// Makes a store. With a file, it reads the file's content; it cuts off bytes at the end that a
/// crash left half-written, and logs a warning. Returns kInvalidConfig when the file cannot be used
/// or another process has it open, and kMalformed when the file is damaged before its end. All
/// calls must have returned before the store is destroyed.
apimachinery::Result<std::unique_ptr<MemoryStorage>> NewMemoryStorage(MemoryOptions options);

}  // namespace kubexx::apiserver::storage

#endif  // KUBEXX_APISERVER_STORAGE_MEMORY_H_
