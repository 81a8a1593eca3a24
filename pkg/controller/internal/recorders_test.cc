#include "kubexx/controller/internal/recorders.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <semaphore>
#include <string>
#include <system_error>
#include <thread>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/base/testing/scarce_threads/scarce_threads.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::controller::internal {
namespace {

using rest::testing::FakeConnection;
using rest::testing::FakeServer;
using std::chrono::seconds;

/// Stops the recorders while the clock moves forward, first to the flush limit.
void StopRecorders(Recorders& recorders, base::testing::FakeClock& clock) {
  std::atomic<bool> stopped = false;
  const std::jthread stopper([&] {
    recorders.Stop();
    stopped = true;
  });
  clock.AdvanceToSleeper(seconds(5));
  KX_UNTIL(stopped) {
    if (clock.Sleepers() > 0) {
      clock.Advance(seconds(1));
    }
  }
}

TEST(RecordersTest, ServersThatDoNotAnswerTakeTheFlushLimitOnceForAllComponents) {
  base::testing::FakeClock clock;
  metrics::Registry registry;
  std::counting_semaphore<2> asked(0);
  FakeServer server([&asked](FakeConnection& connection) {
    if (connection.ReadRequest()) {
      asked.release();
      connection.AwaitPeer();
    }
  });
  Recorders recorders(
      rest::testing::NewClient(server.Url(), rest::testing::WithoutDeadlines(clock)), clock,
      registry);
  for (const char* component : {"operator", "leader-election"}) {
    events::Occurrence occurrence;
    occurrence.reason = "Stopping";
    recorders.For(component)->Record(std::move(occurrence));
    KX_AWAIT(asked.try_acquire());
  }
  const base::TimePoint begin = clock.Now();
  StopRecorders(recorders, clock);
  EXPECT_EQ(clock.Now() - begin, seconds(5));
}

TEST(RecordersTest, OneThatIsAskedForAfterTheEndTakesNothing) {
  base::testing::FakeClock clock;
  metrics::Registry registry;
  std::atomic<int> asked = 0;
  FakeServer server([&asked](FakeConnection& connection) {
    while (connection.ReadRequest()) {
      ++asked;
      connection.Respond(201, "application/json", "{}");
    }
  });
  Recorders recorders(rest::testing::NewClient(server.Url()), clock, registry);
  recorders.Stop();
  events::Occurrence occurrence;
  occurrence.reason = "Late";
  recorders.For("late")->Record(std::move(occurrence));
  recorders.Stop();
  EXPECT_EQ(asked, 0);
}

TEST(RecordersTest, ALazyOneIsNotMadeBeforeItRecords) {
  class Counting final : public events::Recorder {
   public:
    void Record(events::Occurrence /*occurrence*/) override { ++recorded; }
    int recorded = 0;
  };
  const auto counting = std::make_shared<Counting>();
  int made = 0;
  LazyRecorder lazy([&]() -> std::shared_ptr<events::Recorder> {
    ++made;
    return counting;
  });
  EXPECT_EQ(made, 0);
  lazy.Record({});
  EXPECT_EQ(made, 1);
  EXPECT_EQ(counting->recorded, 1);
}

TEST(RecordersTest, OneForWhichThereIsNoThreadIsNone) {
  if constexpr (!base::testing::ScarceThreads::kWorks) {
    GTEST_SKIP() << "a sanitizer has a pthread_create of its own";
  }
  metrics::Registry registry;
  const std::string nowhere = "http://127.0.0.1:" + std::to_string(rest::testing::UnusedPort());
  Recorders recorders(rest::testing::NewClient(nowhere), base::Clock::Real(), registry);
  {
    const base::testing::ScarceThreads scarce(0);
    EXPECT_THROW((void)recorders.For("operator"), std::system_error);
    LeaseTransitions(recorders).Record({}, "LeaderElection", "became leader");
  }
  recorders.Stop();
}

}  // namespace
}  // namespace kubexx::controller::internal
