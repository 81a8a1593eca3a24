#include "hostile_proxy.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/base/testing/await.h"

// What is done to all connections of a proxy at once.

namespace kubexx::network_test {
namespace {

/// One end of a connection, or who listens for some. A read in vain ends with the patience of
/// tests.
class Socket {
 public:
  explicit Socket(int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) : fd_(fd) {
    const timeval limit{
        .tv_sec = std::chrono::duration_cast<std::chrono::seconds>(base::testing::Patience::Limit())
                      .count(),
        .tv_usec = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  Socket& operator=(Socket&&) = delete;
  ~Socket() { ::close(fd_); }

  /// Returns the port.
  int Listen() const {
    sockaddr_in address = LoopbackAt(0);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(fd_, 16), 0);
    EXPECT_EQ(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    return ntohs(address.sin_port);
  }
  Socket Accept() const { return Socket(::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC)); }
  void Connect(int port) const {
    const sockaddr_in address = LoopbackAt(port);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  void Send(std::string_view bytes) const {
    EXPECT_EQ(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  /// So many bytes, or fewer when the connection ends.
  std::string Read(std::size_t count) const {
    std::string bytes;
    while (bytes.size() < count) {
      std::array<char, 64> block{};
      const ssize_t n = ::recv(fd_, block.data(), std::min(block.size(), count - bytes.size()), 0);
      if (n <= 0) {
        break;
      }
      bytes.append(block.data(), static_cast<std::size_t>(n));
    }
    return bytes;
  }
  /// Whether the connection has ended, in order or by a reset; waits for its end.
  bool Ends() const {
    char byte = 0;
    const ssize_t n = ::recv(fd_, &byte, 1, 0);
    return n == 0 || (n < 0 && errno == ECONNRESET);
  }
  bool IsQuiet() const {
    pollfd end{.fd = fd_, .events = POLLIN, .revents = 0};
    return ::poll(&end, 1, 200) == 0;
  }

 private:
  static sockaddr_in LoopbackAt(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return address;
  }
  int fd_;
};

class HostileProxyTest : public ::testing::Test {
 protected:
  /// A connection through the proxy that bytes have passed on.
  std::pair<Socket, Socket> Connected() {
    Socket client;
    client.Connect(proxy_.port());
    Socket server = listener_.Accept();
    client.Send("x");
    EXPECT_EQ(server.Read(1), "x");
    return {std::move(client), std::move(server)};
  }

  const Socket listener_;
  HostileProxy proxy_{listener_.Listen()};
};

TEST_F(HostileProxyTest, PassesBytesBothWaysWithoutFaults) {
  const auto [client, server] = Connected();
  server.Send("answer");
  EXPECT_EQ(client.Read(6), "answer");
}

TEST_F(HostileProxyTest, AStrikeEndsAllConnectionsThatAreThere) {
  for (const Fault fault : {Fault::kCut, Fault::kReset}) {
    const auto [client, server] = Connected();
    const auto [other_client, other_server] = Connected();
    proxy_.Strike(fault);
    EXPECT_TRUE(client.Ends());
    EXPECT_TRUE(server.Ends());
    EXPECT_TRUE(other_client.Ends());
    EXPECT_TRUE(other_server.Ends());
  }
  const auto [client, server] = Connected();
  EXPECT_TRUE(server.IsQuiet()) << "a later one is well";
}

TEST_F(HostileProxyTest, AHalfClosedConnectionGoesOnInTheOtherDirection) {
  const auto [client, server] = Connected();
  proxy_.Strike(Fault::kHalfClose, 0);
  EXPECT_TRUE(server.Ends());
  server.Send("still");
  EXPECT_EQ(client.Read(5), "still");
}

TEST_F(HostileProxyTest, WhatIsSentWhileAllStandsStillPassesLater) {
  const auto [client, server] = Connected();
  proxy_.StandStill(true);
  // A block may have been under way.
  EXPECT_TRUE(server.IsQuiet());
  client.Send("late");
  EXPECT_TRUE(server.IsQuiet());
  proxy_.StandStill(false);
  EXPECT_EQ(server.Read(4), "late");
}

TEST_F(HostileProxyTest, RefusesNewConnectionsOnly) {
  const auto [client, server] = Connected();
  proxy_.Refuse(true);
  Socket refused;
  refused.Connect(proxy_.port());
  EXPECT_TRUE(refused.Ends());
  client.Send("x");
  EXPECT_EQ(server.Read(1), "x");
  proxy_.Refuse(false);
  Connected();
}

TEST_F(HostileProxyTest, TheNextConnectionsMeetWhatIsPlannedForThem) {
  proxy_.Expect({{.fault = Fault::kCut, .direction = 0, .after = 3}});
  Socket client;
  client.Connect(proxy_.port());
  const Socket server = listener_.Accept();
  client.Send("abcdef");
  EXPECT_EQ(server.Read(6), "abc");
  EXPECT_TRUE(client.Ends());
  Connected();
}

TEST_F(HostileProxyTest, RecoveryClosesWhatStallsAndEndsWhatWasBegun) {
  proxy_.Expect({{.fault = Fault::kStall, .direction = 0, .after = 0}, {.fault = Fault::kRefuse}});
  Socket client;
  client.Connect(proxy_.port());
  const Socket server = listener_.Accept();
  client.Send("x");
  EXPECT_TRUE(server.IsQuiet());
  proxy_.StandStill(true);
  proxy_.Recover();
  EXPECT_TRUE(client.Ends());
  Connected();
}

}  // namespace
}  // namespace kubexx::network_test
