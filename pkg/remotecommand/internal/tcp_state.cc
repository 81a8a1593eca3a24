#include "kubexx/remotecommand/internal/tcp_state.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace kubexx::remotecommand::internal {

TcpState TcpState::Of(int fd) {
  TcpState state;
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0) {
    state.tries_in_vain = static_cast<unsigned>(info.tcpi_retransmits) + info.tcpi_probes;
    state.since_answer = std::chrono::milliseconds(info.tcpi_last_ack_recv);
  }
  if (::ioctl(fd, SIOCOUTQ, &state.waiting) != 0) {
    state.waiting = 0;
  }
  return state;
}

}  // namespace kubexx::remotecommand::internal
