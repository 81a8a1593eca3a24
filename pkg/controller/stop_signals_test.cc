#include "kubexx/controller/stop_signals.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <semaphore>
#include <stop_token>
#include <string>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/scarce_threads/scarce_threads.h"

namespace kubexx::controller {
namespace {

void WaitForStop(const std::stop_token& stop,
                 const base::testing::Where& where = base::testing::Where::current()) {
  base::testing::AwaitStop(stop, where);
}

// The tests run in processes of their own, because signals go to the whole process, and its other
// threads, which belong to other tests, do not block them.
class StopSignalsTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(StopSignalsTest, FirstSignalRequestsTheStop) {
  for (const int number : {SIGTERM, SIGINT}) {
    const auto run = [number] {
      const StopSignals signals;
      kill(getpid(), number);
      WaitForStop(signals.token());
      _exit(42);
    };
    EXPECT_EXIT(run(), ::testing::ExitedWithCode(42), "");
  }
}

TEST_F(StopSignalsTest, AtItsEndAllIsAsBefore) {
  const auto run = [] {
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &term, nullptr);
    signal(SIGPIPE, SIG_DFL);
    {
      const StopSignals signals;
    }
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, nullptr, &now);
    const bool same = sigismember(&now, SIGTERM) == 1 && sigismember(&now, SIGINT) == 0 &&
                      signal(SIGPIPE, SIG_IGN) == SIG_DFL;
    _exit(same ? 42 : 41);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(42), "");
}

TEST_F(StopSignalsTest, SecondSignalEndsTheProcess) {
  const auto run = [] {
    const StopSignals signals;
    kill(getpid(), SIGTERM);
    WaitForStop(signals.token());
    kill(getpid(), SIGTERM);
    while (true) {
      pause();
    }
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(EXIT_FAILURE), "");
}

// Makes standard error a full pipe that nobody reads.
void BlockStandardError() {
  int ends[2] = {-1, -1};
  if (pipe(ends) != 0 || fcntl(ends[1], F_SETFL, O_NONBLOCK) != 0) {
    _exit(41);
  }
  const std::string block(4096, 'x');
  while (write(ends[1], block.data(), block.size()) > 0) {
  }
  fcntl(ends[1], F_SETFL, 0);
  dup2(ends[1], STDERR_FILENO);
}

TEST_F(StopSignalsTest, TheStopIsRequestedThoughNobodyReadsTheLog) {
  const auto run = [] {
    BlockStandardError();
    const StopSignals signals;
    kill(getpid(), SIGTERM);
    WaitForStop(signals.token());
    _exit(42);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(42), "");
}

/// Sends SIGTERM, and sends `second` once a callback of the stop hangs.
[[noreturn]] void HangInACallback(const StopSignals& signals, int second) {
  std::binary_semaphore called(0);
  const std::stop_callback hangs(signals.token(), [&called] {
    called.release();
    while (true) {
      pause();
    }
  });
  kill(getpid(), SIGTERM);
  KX_AWAIT(called.try_acquire());
  kill(getpid(), second);
  while (true) {
    pause();
  }
}

TEST_F(StopSignalsTest, SecondSignalEndsTheProcessThoughACallbackHangs) {
  const auto run = [] {
    const StopSignals signals;
    HangInACallback(signals, SIGTERM);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(EXIT_FAILURE), "");
}

// A container at its pids limit has no thread left.
TEST_F(StopSignalsTest, TheStopIsRequestedThoughThereIsNoThreadLeft) {
  if constexpr (!base::testing::ScarceThreads::kWorks) {
    GTEST_SKIP() << "a sanitizer has a pthread_create of its own";
  }
  const auto run = [] {
    {
      const StopSignals signals;
      const base::testing::ScarceThreads scarce(0);
      kill(getpid(), SIGTERM);
      WaitForStop(signals.token());
    }
    struct sigaction now = {};
    _exit(sigaction(SIGTERM, nullptr, &now) == 0 && now.sa_handler == SIG_DFL ? 42 : 41);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(42), "");
}

TEST_F(StopSignalsTest, SecondSignalEndsTheProcessThoughACallbackHangsAndNoThreadIsLeft) {
  if constexpr (!base::testing::ScarceThreads::kWorks) {
    GTEST_SKIP() << "a sanitizer has a pthread_create of its own";
  }
  const auto run = [] {
    const StopSignals signals;
    const base::testing::ScarceThreads scarce(0);
    HangInACallback(signals, SIGINT);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(EXIT_FAILURE), "");
}

TEST_F(StopSignalsTest, EndsWithoutASignal) {
  const auto run = [] {
    {
      const StopSignals signals;
      EXPECT_FALSE(signals.token().stop_requested());
    }
    kill(getpid(), SIGTERM);
    while (true) {
      pause();
    }
  };
  EXPECT_EXIT(run(), ::testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace kubexx::controller
