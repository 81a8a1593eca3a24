/// @file
/// TcpListener: a local port that is listened on.
#ifndef KUBEXX_REMOTECOMMAND_INTERNAL_TCP_LISTENER_H_
#define KUBEXX_REMOTECOMMAND_INTERNAL_TCP_LISTENER_H_

#include <cstdint>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/file_descriptor.h"

namespace kubexx::remotecommand::internal {

/// Listens from its construction to its end.
class TcpListener {
 public:
  /// Listens on `port`, or on any that is free when it is 0. kBadRequest when `address` is not an
  /// address of IPv4 or IPv6 in numbers, without a zone; kUnavailable when the system refuses. All
  /// addresses of IPv6, "::", are none of IPv4.
  static apimachinery::Result<TcpListener> New(const std::string& address, std::uint16_t port);

  int fd() const { return socket_.get(); }
  std::uint16_t port() const { return port_; }

  /// What a try to accept a connection came to.
  struct Accepted {
    /// Negative when there is none. It does not block, and a close of it resets the connection,
    /// unless SO_LINGER is set otherwise. It fails when the other machine has been gone for some
    /// minutes.
    base::FileDescriptor socket{};
    int error = 0;  ///< that of accept(2) then
  };
  Accepted Accept() const;

 private:
  TcpListener(base::FileDescriptor socket, std::uint16_t port);

  base::FileDescriptor socket_;
  std::uint16_t port_ = 0;
};

}  // namespace kubexx::remotecommand::internal

#endif  // KUBEXX_REMOTECOMMAND_INTERNAL_TCP_LISTENER_H_
