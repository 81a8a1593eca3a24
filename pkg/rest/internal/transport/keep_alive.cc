#include "kubexx/rest/internal/transport/keep_alive.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kubexx::rest::internal {
namespace {

thread_local bool keeps_alive = false;

int SetOption(int fd, int level, int name, const void* value, socklen_t size) {
  return static_cast<int>(::syscall(SYS_setsockopt, fd, level, name, value, size));
}

void KeepAlive(int fd) {
  const auto set = [fd](int level, int name, int value) {
    SetOption(fd, level, name, &value, sizeof(value));
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

}  // namespace

void KeepConnectionsOfThisThreadAlive() { keeps_alive = true; }

}  // namespace kubexx::rest::internal

// The linker finds this before the C library's own function, for cpprestsdk and for all other code
// in the program.
extern "C" int setsockopt(int fd, int level, int name, const void* value, socklen_t size) noexcept {
  namespace ours = kubexx::rest::internal;
  const int result = ours::SetOption(fd, level, name, value, size);
  if (ours::keeps_alive && result == 0 && level == IPPROTO_TCP && name == TCP_NODELAY) {
    ours::KeepAlive(fd);
  }
  return result;
}
