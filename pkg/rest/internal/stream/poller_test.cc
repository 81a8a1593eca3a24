#include "kubexx/rest/internal/stream/poller.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::rest::internal {
namespace {

using base::Wake;

// The two ends of a connection.
class SocketPair {
 public:
  SocketPair() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_.data()), 0); }
  SocketPair(const SocketPair&) = delete;
  SocketPair& operator=(const SocketPair&) = delete;
  ~SocketPair() {
    ::close(ends_[0]);
    Close();
  }
  int ours() const { return ends_[0]; }
  void Write() { EXPECT_EQ(::write(ends_[1], "x", 1), 1); }
  void Read() {
    char byte = 0;
    EXPECT_EQ(::read(ends_[0], &byte, 1), 1);
  }
  void Close() {
    if (ends_[1] >= 0) {
      ::close(ends_[1]);
    }
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

class PollerTest : public ::testing::Test {
 protected:
  Wake Wait(int fd, Poller::Interest interest = Poller::Interest::kRead) {
    return poller_->Wait(fd, interest, clock_, stop_.get_token(),
                         clock_.Now() + std::chrono::hours(1));
  }

  std::shared_ptr<Poller> poller_ = *Poller::OfProcess();
  base::testing::FakeClock clock_;
  std::stop_source stop_;
};

TEST_F(PollerTest, ThereIsOneForAll) { EXPECT_EQ(*Poller::OfProcess(), poller_); }

TEST_F(PollerTest, WakesWhenThereIsSomethingToReadAndAgain) {
  SocketPair pair;
  for (int i = 0; i < 3; ++i) {
    std::jthread writer([&] {
      clock_.AwaitSleepers(1);
      pair.Write();
    });
    EXPECT_EQ(Wait(pair.ours()), Wake::kNotified);
    pair.Read();
  }
}

TEST_F(PollerTest, WakesAtOnceForWhatIsThereAlready) {
  SocketPair pair;
  EXPECT_EQ(Wait(pair.ours(), Poller::Interest::kWrite), Wake::kNotified);
  pair.Write();
  EXPECT_EQ(Wait(pair.ours()), Wake::kNotified);
  EXPECT_EQ(Wait(pair.ours()), Wake::kNotified) << "still there";
}

TEST_F(PollerTest, WakesWhenThePeerCloses) {
  SocketPair pair;
  std::jthread closer([&] {
    clock_.AwaitSleepers(1);
    pair.Close();
  });
  EXPECT_EQ(Wait(pair.ours()), Wake::kNotified);
}

TEST_F(PollerTest, TheRequestsClockAndItsStopEndIt) {
  SocketPair pair;
  {
    std::jthread timer([&] { clock_.AdvanceToSleeper(std::chrono::seconds(30)); });
    EXPECT_EQ(poller_->Wait(pair.ours(), Poller::Interest::kRead, clock_, stop_.get_token(),
                            clock_.Now() + std::chrono::seconds(30)),
              Wake::kTimeout);
  }
  std::jthread stopper([&] {
    clock_.AwaitSleepers(1);
    stop_.request_stop();
  });
  EXPECT_EQ(Wait(pair.ours()), Wake::kStopped);
  EXPECT_EQ(Wait(pair.ours()), Wake::kStopped);
}

// A report that comes after its wait has ended must not wake another wait.
TEST_F(PollerTest, ALateReportFindsNobody) {
  SocketPair pair;
  EXPECT_EQ(
      poller_->Wait(pair.ours(), Poller::Interest::kRead, clock_, stop_.get_token(), clock_.Now()),
      Wake::kTimeout);
  pair.Write();  // reports the wait that has ended
  SocketPair other;
  EXPECT_EQ(
      poller_->Wait(other.ours(), Poller::Interest::kRead, clock_, stop_.get_token(), clock_.Now()),
      Wake::kTimeout);
  EXPECT_EQ(Wait(pair.ours()), Wake::kNotified);
}

TEST_F(PollerTest, ASocketThatIsNoneDoesNotHoldItsReader) {
  EXPECT_EQ(Wait(-1), Wake::kNotified) << "whoever reads sees the error";
}

// Interrupts one thread repeatedly by signals, as a profiler does.
class Interruptions {
 public:
  explicit Interruptions(pthread_t thread) {
    struct sigaction action = {};
    action.sa_handler = [](int) {};
    EXPECT_EQ(::sigaction(SIGPROF, &action, &before_), 0);
    sender_ = std::jthread([thread](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        ::pthread_kill(thread, SIGPROF);
        base::testing::LetOthersRun();
      }
    });
  }
  Interruptions(const Interruptions&) = delete;
  Interruptions& operator=(const Interruptions&) = delete;
  ~Interruptions() {
    sender_.request_stop();
    sender_.join();
    ::sigaction(SIGPROF, &before_, nullptr);
  }

 private:
  struct sigaction before_ = {};
  std::jthread sender_;
};

// No report was requested, so that a wait for one would end at the deadline at the earliest.
TEST_F(PollerTest, ASignalDoesNotLeaveAReaderWithoutReports) {
  const Interruptions interruptions(::pthread_self());
  const base::testing::PatienceEnd patience;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(poller_->Wait(-1, Poller::Interest::kRead, clock_, patience.token(),
                            clock_.Now() + std::chrono::hours(1)),
              Wake::kNotified);
  }
}

TEST_F(PollerTest, ManyWaitAtOnce) {
  constexpr int kWaiters = 50;
  std::vector<std::unique_ptr<SocketPair>> pairs;
  std::atomic<int> woken = 0;
  {
    std::vector<std::jthread> waiters;
    for (int i = 0; i < kWaiters; ++i) {
      pairs.push_back(std::make_unique<SocketPair>());
      waiters.emplace_back([&woken, this, fd = pairs.back()->ours()] {
        woken += Wait(fd) == Wake::kNotified ? 1 : 0;
      });
    }
    clock_.AwaitSleepers(kWaiters);
    EXPECT_EQ(woken, 0);
    for (const auto& pair : pairs) {
      pair->Write();
    }
  }
  EXPECT_EQ(woken, kWaiters);
}

TEST_F(PollerTest, AJobIsDoneOnItsThreadEachTimeThatItIsAskedFor) {
  SocketPair pair;
  std::atomic<int> done = 0;
  Poller::Job job(poller_, [&] {
    pair.Read();
    ++done;
  });
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(job.Arm(pair.ours(), Poller::Interest::kRead));
    pair.Write();
    KX_AWAIT(done == i);
  }
  ASSERT_TRUE(job.Arm(pair.ours(), Poller::Interest::kBoth));
  pair.Write();  // whatever the first report was about, there is something to read
  KX_AWAIT(done == 4);
}

TEST_F(PollerTest, AJobThatIsGoneIsDoneNoMore) {
  SocketPair pair;
  std::atomic<bool> begun = false;
  std::atomic<bool> may_end = false;
  std::atomic<bool> ended = false;
  auto job = std::make_unique<Poller::Job>(poller_, [&] {
    begun = true;
    KX_AWAIT(may_end.load());
    ended = true;
  });
  ASSERT_TRUE(job->Arm(pair.ours(), Poller::Interest::kWrite));
  KX_AWAIT(begun.load());
  std::jthread releaser([&] { may_end = true; });
  job.reset();
  EXPECT_TRUE(ended) << "the destructor waits for what has begun";
  // Another wait is served still.
  EXPECT_EQ(Wait(pair.ours(), Poller::Interest::kWrite), Wake::kNotified);
}

}  // namespace
}  // namespace kubexx::rest::internal
