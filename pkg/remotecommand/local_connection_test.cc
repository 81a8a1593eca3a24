#include "kubexx/remotecommand/internal/local_connection.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <latch>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/thread_time.h"
#include "kubexx/remotecommand/internal/tcp_listener.h"
#include "kubexx/remotecommand/testing/at_rest.h"
#include "kubexx/remotecommand/testing/local_client.h"

namespace kubexx::remotecommand::internal {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using std::chrono::milliseconds;
using testing::AllOthersSleep;
using testing::LocalClient;

/// More than the system keeps for a client that does not read.
constexpr std::size_t kMuch = 32 << 20;

base::TimePoint TimeNow() { return base::Clock::Real().Now(); }

/// A client, and the other end of its connection.
class LocalConnectionTest : public ::testing::Test {
 protected:
  LocalConnectionTest() : listener_(TcpListener::New("127.0.0.1", 0).value()) {}

  void Connect(milliseconds half_closed_timeout) {
    client_.emplace(listener_.port(), 4096);
    TcpListener::Accepted accepted;
    KX_UNTIL(accepted.socket.get() >= 0) {
      accepted = listener_.Accept();
    }
    connection_.emplace(std::move(accepted.socket), half_closed_timeout, stop_.get_token());
  }

  /// What a Read, on this thread, comes to.
  Result<std::size_t> Read(const std::stop_token& stop = {}) {
    std::array<char, 64> buffer{};
    return connection_->Read(buffer, stop);
  }

  TcpListener listener_;
  std::stop_source stop_;
  std::optional<LocalClient> client_;
  std::optional<LocalConnection> connection_;
};

TEST_F(LocalConnectionTest, AClientThatHasEndedItsSideMayPauseWhileItReads) {
  constexpr milliseconds kTimeout(20);
  Connect(kTimeout);
  client_->EndSending();
  Result<void> written;
  std::stop_source read_stop;
  std::latch read_over(1);
  {
    const std::jthread pod([&] {
      written = connection_->Write(std::string(kMuch, 'x'));
      read_stop.request_stop();
      KX_AWAIT(read_over.try_wait());
      connection_->Finish();
    });
    EXPECT_EQ(client_->Read(1), "x");
    const std::jthread reader([&] {
      (void)Read(read_stop.get_token());
      read_over.count_down();
    });
    // It takes nothing more for a long time.
    const base::TimePoint long_after = TimeNow() + 10 * kTimeout;
    KX_AWAIT(TimeNow() > long_after);
    EXPECT_EQ(client_->ReadAll().size(), kMuch - 1);
  }
  EXPECT_EQ(client_->ended, "in order");
  EXPECT_TRUE(written) << written.error().ToString();
}

TEST_F(LocalConnectionTest, AClientThatHasEndedItsSideIsGivenUpWhenNothingIsWritten) {
  Connect(milliseconds(20));
  client_->EndSending();
  const auto read = Read();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "the local side has ended, and the pod sends nothing");
  EXPECT_TRUE(connection_->gave_up());
  EXPECT_TRUE(connection_->has_ended());
  EXPECT_FALSE(connection_->Write("too late"));
}

TEST_F(LocalConnectionTest, AHalfClosedConnectionMayLastForEver) {
  Connect(milliseconds::max());
  client_->EndSending();
  const base::TimePoint begin = TimeNow();
  const std::jthread stopper([&] {
    KX_AWAIT(TimeNow() > begin + milliseconds(100));
    stop_.request_stop();
  });
  const auto read = Read();
  EXPECT_TRUE(read) << read.error().ToString();
}

TEST_F(LocalConnectionTest, TheLastBytesOfAHalfClosedConnectionAreAwaitedAsleep) {
  Connect(std::chrono::minutes(1));
  client_->EndSending();
  // More than the client's own buffer holds, so that some is unsent when the pod ends.
  const std::string text(64 << 10, 'x');
  ASSERT_TRUE(connection_->Write(text));
  const base::TimePoint begin = TimeNow();
  const std::jthread late_reader([&] {
    KX_AWAIT(TimeNow() > begin + milliseconds(500));
    EXPECT_EQ(client_->ReadAll(), text);
    EXPECT_EQ(client_->ended, "in order");
  });
  const base::Duration before = base::ThreadCpuTime();
  connection_->Finish();
  const base::Duration used = base::ThreadCpuTime() - before;
  EXPECT_GE(TimeNow() - begin, milliseconds(500)) << "there was nothing to wait for";
  EXPECT_LT(used, milliseconds(100));
}

TEST_F(LocalConnectionTest, AStopEndsEachWait) {
  Connect(std::chrono::minutes(10));
  Result<std::size_t> read;
  Result<void> written;
  {
    const std::jthread reader([&] { read = Read(); });
    const std::jthread writer([&] { written = connection_->Write(std::string(kMuch, 'x')); });
    EXPECT_EQ(client_->Read(1), "x");
    KX_AWAIT(AllOthersSleep());
    stop_.request_stop();
  }
  EXPECT_EQ(read.value(), 0U);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().reason, Reason::kCancelled);
}

TEST_F(LocalConnectionTest, AStopEndsTheWaitForTheEnd) {
  Connect(std::chrono::minutes(10));
  client_->EndSending();
  Result<std::size_t> read;
  {
    const std::jthread reader([&] { read = Read(); });
    KX_AWAIT(AllOthersSleep());
    stop_.request_stop();
  }
  EXPECT_TRUE(read) << read.error().ToString();
  EXPECT_FALSE(connection_->gave_up());
}

TEST_F(LocalConnectionTest, AStopEndsTheWaitForTheLastBytes) {
  for (const bool ended : {false, true}) {
    Connect(std::chrono::minutes(10));
    if (ended) {
      client_->EndSending();
    }
    ASSERT_TRUE(connection_->Write(std::string(64 << 10, 'x')));
    {
      const std::jthread pod([&] { connection_->Finish(std::chrono::hours(1)); });
      KX_AWAIT(AllOthersSleep());
      stop_.request_stop();
    }
    stop_ = {};
  }
}

TEST_F(LocalConnectionTest, AClientThatTakesNothingIsNotAwaitedForEver) {
  Connect(std::chrono::minutes(10));
  const std::string text(64 << 10, 'x');
  ASSERT_TRUE(connection_->Write(text));
  connection_->Finish(milliseconds(50));
  // It still gets everything.
  EXPECT_EQ(client_->ReadAll(), text);
  EXPECT_EQ(client_->ended, "in order");
}

TEST_F(LocalConnectionTest, AClientThatIsGoneEndsWhateverWaits) {
  Connect(std::chrono::minutes(10));
  Result<std::size_t> read;
  Result<void> written;
  {
    const std::jthread reader([&] { read = Read(); });
    const std::jthread writer([&] { written = connection_->Write(std::string(kMuch, 'x')); });
    EXPECT_EQ(client_->Read(1), "x");
    KX_AWAIT(AllOthersSleep());
    client_.reset();  // with bytes that it has not read, so that it is a reset
  }
  ASSERT_FALSE(written);
  EXPECT_TRUE(connection_->has_ended());
  EXPECT_FALSE(connection_->gave_up());
}

}  // namespace
}  // namespace kubexx::remotecommand::internal
