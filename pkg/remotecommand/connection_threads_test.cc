#include "kubexx/remotecommand/internal/connection_threads.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <latch>
#include <memory>
#include <system_error>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/scarce_threads/scarce_threads.h"
#include "kubexx/remotecommand/internal/wake_event.h"

namespace kubexx::remotecommand::internal {
namespace {

TEST(ConnectionThreadsTest, ThoseThatHaveEndedAreJoinedAndTheOthersGoOn) {
  const WakeEvent ended;
  std::latch all_end(1);
  ConnectionThreads threads(ended);
  threads.Add([&all_end] { KX_AWAIT(all_end.try_wait()); });
  threads.Add([mine = std::make_unique<int>(1)] { EXPECT_EQ(*mine, 1); });
  EXPECT_EQ(threads.size(), 2U);
  pollfd wait{ended.fd(), POLLIN, 0};
  KX_AWAIT(::poll(&wait, 1, 0) == 1);
  threads.Reap();
  EXPECT_EQ(threads.size(), 1U);
  all_end.count_down();
  KX_UNTIL(threads.size() == 0) {
    threads.Reap();
  }
}

TEST(ConnectionThreadsTest, OneForWhichThereIsNoThreadTakesNoPlace) {
  if constexpr (!base::testing::ScarceThreads::kWorks) {
    GTEST_SKIP();
  }
  const WakeEvent ended;
  ConnectionThreads threads(ended);
  const auto mine = std::make_shared<int>(1);
  {
    const base::testing::ScarceThreads scarce(0);
    EXPECT_THROW(threads.Add([mine] {}), std::system_error);
  }
  EXPECT_EQ(threads.size(), 0U);
  EXPECT_EQ(mine.use_count(), 1) << "the function is gone";
}

}  // namespace
}  // namespace kubexx::remotecommand::internal
