/// @file
/// WakeEvent: how a thread that waits in poll(2) is woken.
#ifndef KUBEXX_REMOTECOMMAND_INTERNAL_WAKE_EVENT_H_
#define KUBEXX_REMOTECOMMAND_INTERNAL_WAKE_EVENT_H_

#include <sys/eventfd.h>

#include "kubexx/base/file_descriptor.h"

namespace kubexx::remotecommand::internal {

/// A descriptor that can be read from Signal until Clear. Thread-safe.
class WakeEvent {
 public:
  WakeEvent() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  /// False when the process has no descriptor left for it; nothing wakes anybody then.
  bool valid() const { return fd_.get() >= 0; }
  int fd() const { return fd_.get(); }

  void Signal() const { (void)!::eventfd_write(fd_.get(), 1); }
  void Clear() const {
    eventfd_t count = 0;
    (void)!::eventfd_read(fd_.get(), &count);
  }

 private:
  const base::FileDescriptor fd_;
};

}  // namespace kubexx::remotecommand::internal

#endif  // KUBEXX_REMOTECOMMAND_INTERNAL_WAKE_EVENT_H_
