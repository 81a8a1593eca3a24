#include "kubexx/remotecommand/internal/tcp_listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <string>

#include "kubexx/base/file_descriptor.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/remotecommand/testing/local_client.h"

namespace kubexx::remotecommand::internal {
namespace {

using apimachinery::Reason;
using testing::LocalClient;

TcpListener::Accepted AwaitConnection(const TcpListener& listener) {
  TcpListener::Accepted accepted;
  KX_UNTIL(accepted.socket.get() >= 0) {
    accepted = listener.Accept();
  }
  return accepted;
}

int OptionOf(const base::FileDescriptor& socket, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  EXPECT_EQ(::getsockopt(socket.get(), level, name, &value, &size), 0);
  return value;
}

TEST(TcpListenerTest, AConnectionIsAskedNowAndThenWhetherItsClientIsThere) {
  const TcpListener listener = TcpListener::New("127.0.0.1", 0).value();
  const LocalClient client(listener.port());
  const auto accepted = AwaitConnection(listener);
  EXPECT_EQ(OptionOf(accepted.socket, SOL_SOCKET, SO_KEEPALIVE), 1);
  EXPECT_EQ(OptionOf(accepted.socket, IPPROTO_TCP, TCP_KEEPIDLE), 15);
  EXPECT_EQ(OptionOf(accepted.socket, IPPROTO_TCP, TCP_KEEPINTVL), 15);
  EXPECT_EQ(OptionOf(accepted.socket, IPPROTO_TCP, TCP_KEEPCNT), 9);
}

TEST(TcpListenerTest, ADroppedConnectionIsReset) {
  const TcpListener listener = TcpListener::New("127.0.0.1", 0).value();
  LocalClient client(listener.port());
  (void)AwaitConnection(listener);
  EXPECT_EQ(client.ReadAll(), "");
  EXPECT_EQ(client.ended, "reset");
}

TEST(TcpListenerTest, WithoutAConnectionThereIsNothingToAccept) {
  const TcpListener listener = TcpListener::New("127.0.0.1", 0).value();
  const auto accepted = listener.Accept();
  EXPECT_LT(accepted.socket.get(), 0);
  EXPECT_EQ(accepted.error, EAGAIN);
}

TEST(TcpListenerTest, APortThatIsTakenIsAnError) {
  const TcpListener listener = TcpListener::New("127.0.0.1", 0).value();
  const auto taken = TcpListener::New("127.0.0.1", listener.port());
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().reason, Reason::kUnavailable);
  EXPECT_THAT(taken.error().message, ::testing::HasSubstr("Address already in use"));
}

TEST(TcpListenerTest, AllAddressesOfIpv6AreNoneOfIpv4) {
  const auto ipv6 = TcpListener::New("::", 0);
  if (!ipv6) {
    GTEST_SKIP() << ipv6.error().ToString();
  }
  const auto ipv4 = TcpListener::New("0.0.0.0", ipv6->port());
  ASSERT_TRUE(ipv4) << ipv4.error().ToString();
  const LocalClient over_ipv6 = LocalClient::OverIpv6(ipv6->port());
  (void)AwaitConnection(*ipv6);
  const LocalClient over_ipv4(ipv6->port());
  (void)AwaitConnection(*ipv4);
  EXPECT_EQ(ipv6->Accept().error, EAGAIN);
}

TEST(TcpListenerTest, AddressesAreGivenInNumbers) {
  for (const char* address : {"", "localhost", "127.0.0", "127.0.0.1 ", "[::1]", "fe80::1%lo"}) {
    const auto listener = TcpListener::New(address, 0);
    ASSERT_FALSE(listener) << address;
    EXPECT_EQ(listener.error().reason, Reason::kBadRequest);
  }
}

}  // namespace
}  // namespace kubexx::remotecommand::internal
