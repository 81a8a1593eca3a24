/// @file
/// Descriptor: a file descriptor with an owner.
#ifndef KUBEXX_REMOTECOMMAND_INTERNAL_DESCRIPTOR_H_
#define KUBEXX_REMOTECOMMAND_INTERNAL_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace kubexx::remotecommand::internal {

/// Closes a descriptor at its end. A negative one is none.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }

  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace kubexx::remotecommand::internal

#endif  // KUBEXX_REMOTECOMMAND_INTERNAL_DESCRIPTOR_H_
