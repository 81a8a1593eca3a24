/// @file
/// TcpState: what the system knows of the other end of a TCP connection.
#ifndef KUBEXX_REMOTECOMMAND_INTERNAL_TCP_STATE_H_
#define KUBEXX_REMOTECOMMAND_INTERNAL_TCP_STATE_H_

#include <chrono>

namespace kubexx::remotecommand::internal {

/// The other end's system as it was at one moment; its program may be busy, or hang. Semantics: the
/// TCP_INFO and SIOCOUTQ of tcp(7). A value type.
struct TcpState {
  /// How many bytes wait for the other system to take them. When this changes, it has taken some.
  int waiting = 0;
  /// How often it has been sent something, or asked for room, without an answer, since its last
  /// one.
  unsigned tries_in_vain = 0;
  std::chrono::milliseconds since_answer{};  ///< since its last answer of any kind

  /// The state of the connection of a socket; all zeros when the system does not tell.
  static TcpState Of(int fd);

  /// Whether the other system seems to be gone: it has left several tries unanswered, and that for
  /// longer than `limit`. One that answers but has no room, as its program takes nothing, is there.
  /// TCP_USER_TIMEOUT does not tell the two apart.
  bool IsGone(std::chrono::milliseconds limit) const {
    // The pauses between tries grow up to two minutes, so that the time alone says nothing.
    return tries_in_vain >= 2 && since_answer > limit;
  }
};

}  // namespace kubexx::remotecommand::internal

#endif  // KUBEXX_REMOTECOMMAND_INTERNAL_TCP_STATE_H_
