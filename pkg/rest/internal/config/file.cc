#include "kubexx/rest/internal/config/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "kubexx/base/file_descriptor.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;

constexpr std::size_t kMaxBytes = 16 << 20;

}  // namespace

apimachinery::Result<std::string> ReadFile(const std::string& path, const std::string& what) {
  const auto fail = [&](const std::string& why) {
    return Fail(Reason::kInvalidConfig, what + " " + path + ": " + why);
  };
  // The open does not block, so that a named pipe without a writer does not hang the program.
  const base::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info{};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0) {
    return fail(std::strerror(errno));
  }
  if (S_ISDIR(info.st_mode)) {
    return fail("is a directory");
  }
  std::string bytes;
  std::array<char, 16384> block;
  for (;;) {
    const ssize_t got = ::read(file.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return fail(std::strerror(errno));
    }
    if (got == 0) {
      return bytes;
    }
    bytes.append(block.data(), static_cast<std::size_t>(got));
    if (bytes.size() > kMaxBytes) {
      return fail("is larger than 16 MiB");
    }
  }
}

}  // namespace kubexx::rest::internal
