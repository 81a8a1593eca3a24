/// @file
/// LocalClient: a program that connects to a port of this machine.
#ifndef KUBEXX_REMOTECOMMAND_TESTING_LOCAL_CLIENT_H_
#define KUBEXX_REMOTECOMMAND_TESTING_LOCAL_CLIENT_H_

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/base/file_descriptor.h"
#include "kubexx/base/testing/await.h"

namespace kubexx::remotecommand::testing {

/// One connection to this machine, from its construction to its end. Sending and reading may be on
/// two threads.
class LocalClient {
 public:
  /// Connects to 127.0.0.1. `receive_buffer`: how much the system keeps for it, in bytes; 0 leaves
  /// that to the system.
  explicit LocalClient(std::uint16_t port, int receive_buffer = 0)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_buffer > 0) {
      ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
  }

  /// Connects to ::1.
  static LocalClient OverIpv6(std::uint16_t port) {
    base::FileDescriptor socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    address.sin6_addr = in6addr_loopback;
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
    return LocalClient(std::move(socket));
  }

  /// The descriptor, which stays this object's.
  int fd() const { return socket_.get(); }

  /// Sends as much as the other side takes at once; how much that was, or -1.
  ssize_t Offer(std::string_view text) const {
    return ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  void Send(std::string_view text) const {
    EXPECT_EQ(Offer(text), static_cast<ssize_t>(text.size()));
  }
  void EndSending() const { ::shutdown(socket_.get(), SHUT_WR); }

  /// Reads so many bytes, or up to the end; `ended` says how that was.
  std::string Read(std::size_t size) {
    std::string text;
    std::array<char, 4096> buffer{};
    while (text.size() < size) {
      pollfd wait{socket_.get(), POLLIN, 0};
      KX_AWAIT(::poll(&wait, 1, 0) != 0);
      const ssize_t count =
          ::recv(socket_.get(), buffer.data(), std::min(buffer.size(), size - text.size()), 0);
      if (count <= 0) {
        ended = count == 0 ? "in order" : errno == ECONNRESET ? "reset" : "otherwise";
        break;
      }
      text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return text;
  }
  std::string ReadAll() { return Read(std::string::npos); }

  std::string ended;  ///< "in order", "reset" or "otherwise", when a Read has come to the end

 private:
  explicit LocalClient(base::FileDescriptor socket) : socket_(std::move(socket)) {}

  const base::FileDescriptor socket_;
};

}  // namespace kubexx::remotecommand::testing

#endif  // KUBEXX_REMOTECOMMAND_TESTING_LOCAL_CLIENT_H_
