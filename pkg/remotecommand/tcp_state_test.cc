#include "kubexx/remotecommand/internal/tcp_state.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <string>

#include "kubexx/base/testing/await.h"
#include "kubexx/remotecommand/internal/tcp_listener.h"
#include "kubexx/remotecommand/testing/local_client.h"

namespace kubexx::remotecommand::internal {
namespace {

using std::chrono::milliseconds;
using testing::LocalClient;

class TcpStateTest : public ::testing::Test {
 protected:
  TcpStateTest() {
    KX_UNTIL(peer_.socket.get() >= 0) {
      peer_ = listener_.Accept();
    }
  }

  TcpState State() const { return TcpState::Of(client_.fd()); }

  /// Sends until the system keeps no more of it.
  void SendUntilFull() {
    const std::string piece(64 << 10, 'x');
    while (client_.Offer(piece) > 0) {
    }
  }

  const TcpListener listener_ = TcpListener::New("127.0.0.1", 0).value();
  LocalClient client_{listener_.port()};
  TcpListener::Accepted peer_;
};

TEST_F(TcpStateTest, APeerWithoutRoomIsThere) {
  SendUntilFull();
  // What it has no room for stays here, and it is asked about its room again and again.
  KX_AWAIT(State().since_answer > milliseconds(300));
  EXPECT_FALSE(State().IsGone(milliseconds(200)));
  const int before = State().waiting;
  EXPECT_GT(before, 0);
  KX_UNTIL(State().waiting < before) {
    std::array<char, 4096> buffer{};
    (void)::recv(peer_.socket.get(), buffer.data(), buffer.size(), 0);
  }
}

TEST_F(TcpStateTest, APeerThatAnswersNothingIsGone) {
  client_.Send("before");
  KX_AWAIT_EQ(State().waiting, 0);
  // Its system drops everything that comes for it, as if it were no longer there.
  std::array<sock_filter, 1> drop{sock_filter BPF_STMT(BPF_RET | BPF_K, 0)};
  const sock_fprog program{.len = drop.size(), .filter = drop.data()};
  ASSERT_EQ(
      ::setsockopt(peer_.socket.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program), 0);
  client_.Send("after");
  EXPECT_EQ(State().waiting, 5);
  KX_AWAIT(State().IsGone(milliseconds(500)));
  EXPECT_FALSE(State().IsGone(std::chrono::minutes(10)));
}

TEST_F(TcpStateTest, WhatIsNoConnectionIsNotGone) {
  EXPECT_FALSE(TcpState::Of(-1).IsGone(milliseconds(0)));
}

}  // namespace
}  // namespace kubexx::remotecommand::internal
