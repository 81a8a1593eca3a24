/// @file
/// A file descriptor and what the memory store does with it; errors name the file and the reason.
#ifndef KUBEXX_APISERVER_STORAGE_INTERNAL_FILE_H_
#define KUBEXX_APISERVER_STORAGE_INTERNAL_FILE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/status.h"

namespace kubexx::apiserver::storage::internal {

/// Owns a descriptor. Not thread-safe. Failed system calls give kInternalError.
class File {
 public:
  File() = default;
  ~File();
  File(File&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}
  File& operator=(File&& other) noexcept;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// Opens for reading and writing at its end, and makes it, for its owner alone, when it is not
  /// there; `empty` clears what it had.
  static apimachinery::Result<File> Open(const std::string& path, bool empty);

  /// Gives the file the name `path`, in the place of what had it; SyncFolderOf makes that last.
  apimachinery::Result<void> RenameTo(const std::string& path);

  /// Takes the lock that one process can have; kInvalidConfig when another one has it.
  apimachinery::Result<void> Lock();
  apimachinery::Result<void> Append(std::string_view data);
  /// Returns when the data, and the size, are on the disk.
  apimachinery::Result<void> Sync();
  apimachinery::Result<void> Truncate(std::uint64_t size);
  apimachinery::Result<std::uint64_t> Size() const;
  /// Bytes that this process may still write on the file's disk; nothing when that is not known. A
  /// quota or a limit of this process is not seen.
  std::optional<std::uint64_t> Free() const;
  /// Up to `size` bytes from `offset`; fewer at the end.
  apimachinery::Result<std::string> ReadAt(std::uint64_t offset, std::size_t size) const;

  const std::string& path() const { return path_; }

 private:
  File(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_ = -1;
  std::string path_;
};

/// Makes new names in the folder of `path` outlive a crash of the machine.
apimachinery::Result<void> SyncFolderOf(const std::string& path);

}  // namespace kubexx::apiserver::storage::internal

#endif  // KUBEXX_APISERVER_STORAGE_INTERNAL_FILE_H_
