/// @file
/// FileDescriptor: a file descriptor with an owner.
#ifndef KUBEXX_BASE_FILE_DESCRIPTOR_H_
#define KUBEXX_BASE_FILE_DESCRIPTOR_H_

#include <utility>

namespace kubexx::base {

/// Owns a file descriptor and closes it when it is destroyed. A negative number stands for none, as
/// system calls return it when they fail. Not thread-safe.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  /// Takes over the ownership of `fd`.
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { Close(); }

  /// The descriptor, which stays this object's; negative when there is none.
  int get() const { return fd_; }

  /// Closes the descriptor now. Does nothing when there is none. Leaves errno as it was.
  void Close();

 private:
  int fd_ = -1;
};

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_FILE_DESCRIPTOR_H_
