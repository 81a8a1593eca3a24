#include "kubexx/apimachinery/read_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/base/file_descriptor.h"

namespace kubexx::apimachinery {
namespace {

/// Most keys and tokens fit at once.
constexpr std::size_t kFirstBytes = 16 << 10;
/// For so long a program may think about what it writes into a pipe, or ask for a password: as in
/// `--kubeconfig <(decrypt config)`.
constexpr std::chrono::milliseconds kPatience = std::chrono::minutes(1);

/// Doubles the size of `text`, without leaving a copy of it where it was.
void Grow(std::string& text) {
  std::string larger(text.size() * 2, '\0');
  larger.replace(0, text.size(), text);
  Wipe(text);
  text.swap(larger);
}

/// Whether the writers of a pipe have written something, or closed it, within kPatience.
bool AwaitBytes(int file) {
  pollfd waits{.fd = file, .events = POLLIN, .revents = 0};
  int ready = -1;
  do {
    ready = ::poll(&waits, 1, static_cast<int>(kPatience.count()));
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

/// Reads to the end; 0, or the error's number. EFBIG for what is larger than `max_bytes`.
int ReadAll(int file, std::size_t max_bytes, std::string& bytes) {
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
    if (got < 0 && errno == EAGAIN) {
      if (!AwaitBytes(file)) {
        return ETIMEDOUT;
      }
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
    if (used > max_bytes) {
      return EFBIG;
    }
  }
}

std::string TooLarge(std::size_t max_bytes) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  return "it is larger than " + (max_bytes % kMiB == 0 ? std::to_string(max_bytes / kMiB) + " MiB"
                                                       : std::to_string(max_bytes) + " bytes");
}

}  // namespace

Result<std::string> ReadFile(const std::string& path, const ReadFileOptions& options) {
  const int flags = O_RDONLY | O_CLOEXEC | (options.waits_for_writers ? 0 : O_NONBLOCK);
  const base::FileDescriptor file(::open(path.c_str(), flags));
  std::string bytes;
  const int error = file.get() < 0 ? errno : ReadAll(file.get(), options.max_bytes, bytes);
  if (error != 0) {
    Wipe(bytes);
    return Fail(Reason::kInvalidConfig,
                "cannot read " + path + ": " +
                    (error == EFBIG ? TooLarge(options.max_bytes) : std::strerror(error)));
  }
  return bytes;
}

}  // namespace kubexx::apimachinery
