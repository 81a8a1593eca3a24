#include "kubexx/apiserver/storage/internal/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace kubexx::apiserver::storage::internal {
namespace {

using apimachinery::Error;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

Error FailErrno(std::string_view what, const std::string& path) {
  const int code = errno;
  return Fail(Reason::kInternalError,
              std::string(what) + " " + path + ": " + std::generic_category().message(code), 500);
}

}  // namespace

Result<File> File::Open(const std::string& path, bool empty) {
  base::FileDescriptor descriptor(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | (empty ? O_TRUNC : 0), 0600));
  if (descriptor.get() < 0) {
    return FailErrno("cannot open", path);
  }
  return File(std::move(descriptor), path);
}

Result<void> File::Lock() {
  if (::flock(descriptor_.get(), LOCK_EX | LOCK_NB) == 0) {
    return {};
  }
  if (errno == EWOULDBLOCK) {
    return Fail(Reason::kInvalidConfig,
                "another process has " + path_ + " locked; end that process or name another file");
  }
  return FailErrno("cannot lock", path_);
}

Result<void> File::Append(std::string_view data) {
  while (!data.empty()) {
    const ssize_t written = ::write(descriptor_.get(), data.data(), data.size());
    if (written < 0 && errno != EINTR) {
      return FailErrno("cannot write", path_);
    }
    data.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> File::Sync() {
  if (::fdatasync(descriptor_.get()) != 0) {
    return FailErrno("cannot sync", path_);
  }
  return {};
}

Result<void> File::Truncate(std::uint64_t size) {
  if (::ftruncate(descriptor_.get(), static_cast<off_t>(size)) != 0) {
    return FailErrno("cannot truncate", path_);
  }
  return Sync();
}

Result<std::uint64_t> File::Size() const {
  struct stat about{};
  if (::fstat(descriptor_.get(), &about) != 0) {
    return FailErrno("cannot get the size of", path_);
  }
  return static_cast<std::uint64_t>(about.st_size);
}

std::optional<std::uint64_t> File::Free() const {
  struct statvfs about{};
  if (::fstatvfs(descriptor_.get(), &about) != 0 || about.f_blocks == 0) {  // 0: it keeps no count
    return std::nullopt;
  }
  const fsblkcnt_t blocks = ::geteuid() == 0 ? about.f_bfree : about.f_bavail;
  return static_cast<std::uint64_t>(blocks) * about.f_frsize;
}

Result<std::string> File::ReadAt(std::uint64_t offset, std::size_t size) const {
  std::string data(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(descriptor_.get(), data.data() + done, size - done,
                                static_cast<off_t>(offset + done));
    if (got < 0 && errno != EINTR) {
      return FailErrno("cannot read", path_);
    }
    if (got == 0) {
      break;
    }
    done += got < 0 ? 0 : static_cast<std::size_t>(got);
  }
  data.resize(done);
  return data;
}

Result<void> File::RenameTo(const std::string& path) {
  if (std::rename(path_.c_str(), path.c_str()) != 0) {
    return FailErrno("cannot rename " + path_ + " to", path);
  }
  path_ = path;
  return {};
}

Result<void> SyncFolderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const base::FileDescriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() < 0) {
    return FailErrno("cannot open folder", folder);
  }
  if (::fsync(descriptor.get()) != 0) {
    return FailErrno("cannot sync folder", folder);
  }
  return {};
}

}  // namespace kubexx::apiserver::storage::internal
