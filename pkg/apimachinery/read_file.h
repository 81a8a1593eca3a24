/// @file
/// ReadFile: reads a whole file of limited size.
#ifndef KUBEXX_APIMACHINERY_READ_FILE_H_
#define KUBEXX_APIMACHINERY_READ_FILE_H_

#include <cstddef>
#include <string>

#include "kubexx/apimachinery/status.h"

namespace kubexx::apimachinery {

/// How ReadFile reads.
struct ReadFileOptions {
  /// A larger file is an error.
  std::size_t max_bytes = std::size_t{16} << 20;
  /// Whether the call waits until a named pipe has a writer. Without it, such a pipe without one is
  /// empty; for those who write, the call waits a minute at a time.
  bool waits_for_writers = true;
};

/// Returns the bytes of a file, and leaves no other copy of them in memory; use ReadSecretFile
/// where the caller's copy has to be wiped, too. kInvalidConfig "cannot read <path>: <reason>", for
/// example for a directory. Blocks; thread-safe.
Result<std::string> ReadFile(const std::string& path, const ReadFileOptions& options = {});

}  // namespace kubexx::apimachinery

#endif  // KUBEXX_APIMACHINERY_READ_FILE_H_
