/// @file
/// RawConnection: a client's connection to a server under test that can send any bytes.
#ifndef KUBEXX_HTTP_TESTING_RAW_CONNECTION_H_
#define KUBEXX_HTTP_TESTING_RAW_CONNECTION_H_

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace kubexx::http::testing {

/// A connection to a port of 127.0.0.1 without TLS. Each wait is limited to a minute, after which
/// the test fails. Not thread-safe.
class RawConnection {
 public:
  explicit RawConnection(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  RawConnection(RawConnection&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  RawConnection& operator=(RawConnection&&) = delete;
  ~RawConnection() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }

  /// Sends all of `text`, or until the server closes the connection. What the server sent before
  /// that can still be read.
  const RawConnection& Send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t sent = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        break;
      }
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return *this;
  }
  /// Tells the server that nothing more will be sent.
  void EndSending() const { ::shutdown(fd_, SHUT_WR); }

  /// Reads until the server closes or resets.
  std::string ReadAll() const {
    std::string text;
    while (ReadSome(text)) {
    }
    return text;
  }
  /// Reads until `end` has come, or the server closes; returns all that was read.
  std::string ReadUntil(std::string_view end) const {
    std::string text;
    while (text.find(end) == std::string::npos && ReadSome(text)) {
    }
    return text;
  }

  int fd() const { return fd_; }
  /// The client's own port.
  std::uint16_t port() const { return PortOf(fd_, ::getsockname); }
  /// The port of an end of a socket: `end` is getsockname or getpeername. 0 when it has none.
  static std::uint16_t PortOf(int fd, int (*end)(int, sockaddr*, socklen_t*)) {
    sockaddr_in address{};
    socklen_t size = sizeof(address);
    if (end(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
        address.sin_family != AF_INET) {
      return 0;
    }
    return ntohs(address.sin_port);
  }

 private:
  bool ReadSome(std::string& text) const {
    pollfd wait{fd_, POLLIN, 0};
    if (::poll(&wait, 1, 60'000) != 1) {
      ADD_FAILURE() << "the server neither answered nor closed within a minute";
      return false;
    }
    std::array<char, 4096> buffer{};
    const ssize_t size = ::recv(fd_, buffer.data(), buffer.size(), 0);
    if (size <= 0) {
      return false;
    }
    text.append(buffer.data(), static_cast<std::size_t>(size));
    return true;
  }

  int fd_;
};

}  // namespace kubexx::http::testing

#endif  // KUBEXX_HTTP_TESTING_RAW_CONNECTION_H_
