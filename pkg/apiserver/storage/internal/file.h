/// @file
/// A file descriptor with the operations that the memory store needs. Errors name the file and the
/// reason.
#ifndef KUBEXX_APISERVER_STORAGE_INTERNAL_FILE_H_
#define KUBEXX_APISERVER_STORAGE_INTERNAL_FILE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/file_descriptor.h"

namespace kubexx::apiserver::storage::internal {

/// Owns a file descriptor. Not thread-safe. Returns kInternalError when a system call fails.
class File {
 public:
  File() = default;

  /// Opens the file for reading and for appending. Creates it, accessible to its owner alone, when
  /// it does not exist. `empty` removes its content.
  static apimachinery::Result<File> Open(const std::string& path, bool empty);

  /// Renames the file to `path` and replaces a file of that name. Call SyncFolderOf afterwards to
  /// make the new name survive a crash.
  apimachinery::Result<void> RenameTo(const std::string& path);

  /// Takes the exclusive lock of the file. Returns kInvalidConfig when another process has it.
  apimachinery::Result<void> Lock();
  apimachinery::Result<void> Append(std::string_view data);
  /// Returns when the data and the size of the file are on the disk.
  apimachinery::Result<void> Sync();
  apimachinery::Result<void> Truncate(std::uint64_t size);
  apimachinery::Result<std::uint64_t> Size() const;
  /// How many bytes this process may still write to the file's disk, or std::nullopt when that is
  /// unknown. Does not consider quotas and limits of this process.
  std::optional<std::uint64_t> Free() const;
  /// Reads up to `size` bytes from `offset`; fewer at the end of the file.
  apimachinery::Result<std::string> ReadAt(std::uint64_t offset, std::size_t size) const;

  const std::string& path() const { return path_; }

 private:
  File(base::FileDescriptor descriptor, std::string path)
      : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

  base::FileDescriptor descriptor_{};
  std::string path_;
};

/// Makes sure that new file names in the folder of `path` survive a crash of the machine.
apimachinery::Result<void> SyncFolderOf(const std::string& path);

}  // namespace kubexx::apiserver::storage::internal

#endif  // KUBEXX_APISERVER_STORAGE_INTERNAL_FILE_H_
