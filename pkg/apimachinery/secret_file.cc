#include "kubexx/apimachinery/secret_file.h"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "kubexx/base/file_descriptor.h"

namespace kubexx::apimachinery {
namespace {

/// Most keys and tokens fit at once.
constexpr std::size_t kFirstBytes = 16 << 10;
constexpr std::size_t kMaxBytes = 16 << 20;

/// Doubles the size of `text`, without leaving a copy of it where it was.
void Grow(std::string& text) {
  std::string larger(text.size() * 2, '\0');
  larger.replace(0, text.size(), text);
  Wipe(text);
  text.swap(larger);
}

/// Reads to the end; 0, or the error's number. EFBIG for what is too large.
int ReadAll(int file, std::string& bytes) {
  bytes.assign(kFirstBytes, '\0');
  std::size_t used = 0;
  for (;;) {
    if (used == bytes.size()) {
      Grow(bytes);
    }
    const ssize_t got = ::read(file, bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return errno;
    }
    if (got == 0) {
      bytes.resize(used);
      return 0;
    }
    used += static_cast<std::size_t>(got);
    if (used > kMaxBytes) {
      return EFBIG;
    }
  }
}

}  // namespace

Result<Bytes> ReadSecretFile(const std::string& path) {
  const base::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string bytes;
  const int error = file.get() < 0 ? errno : ReadAll(file.get(), bytes);
  Bytes read(std::move(bytes));
  if (error != 0) {
    return Fail(Reason::kInvalidConfig, "cannot read " + path + ": " + std::strerror(error));
  }
  return read;
}

}  // namespace kubexx::apimachinery
