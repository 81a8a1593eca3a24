#include "kubexx/base/file_descriptor.h"

#include <unistd.h>

#include <cerrno>

namespace kubexx::base {

void FileDescriptor::Close() {
  if (fd_ >= 0) {
    const int before = errno;
    ::close(std::exchange(fd_, -1));
    errno = before;
  }
}

}  // namespace kubexx::base
