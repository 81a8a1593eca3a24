#include "kubexx/cache/backoff.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/cache/reflector.h"
#include "kubexx/cache/testing/auto_clock.h"
#include "kubexx/cache/testing/map_store.h"

namespace kubexx::cache {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(BackoffTest, DoublesUpToTheCap) {
  base::testing::FakeClock clock;
  Backoff backoff({}, clock, [] { return 0.0; });
  for (const auto expected :
       {milliseconds(800), milliseconds(1600), milliseconds(3200), milliseconds(6400),
        milliseconds(12800), milliseconds(25600), milliseconds(30000), milliseconds(30000)}) {
    EXPECT_EQ(backoff.Next(), expected);
    clock.Advance(expected);
  }
}

TEST(BackoffTest, JitterLengthensByUpToTheDelayItself) {
  base::testing::FakeClock clock;
  double random = 0.5;
  Backoff backoff({}, clock, [&random] { return random; });
  EXPECT_EQ(backoff.Next(), milliseconds(1200));
  random = 0.999;
  EXPECT_LT(backoff.Next(), milliseconds(3200));
}

TEST(BackoffTest, StartsAgainAfterTwoQuietMinutes) {
  base::testing::FakeClock clock;
  Backoff backoff({}, clock, [] { return 0.0; });
  EXPECT_EQ(backoff.Next(), milliseconds(800));
  clock.Advance(milliseconds(800) + minutes(2) - milliseconds(1));
  EXPECT_EQ(backoff.Next(), milliseconds(1600));
  clock.Advance(milliseconds(1600) + minutes(2));
  EXPECT_EQ(backoff.Next(), milliseconds(800));
}

TEST(BackoffTest, StartsAgainWhenWhatItLedToHasWorkedForAsLong) {
  base::testing::FakeClock clock;
  Backoff backoff({}, clock, [] { return 0.0; });
  const auto fails = [&clock, &backoff](milliseconds expected) {
    EXPECT_EQ(backoff.Next(), expected);
    clock.Advance(expected);
  };
  fails(milliseconds(800));
  fails(milliseconds(1600));
  backoff.Worked(milliseconds(1599));
  fails(milliseconds(3200));
  backoff.Worked(milliseconds(3000));
  backoff.Worked(milliseconds(200));
  fails(milliseconds(800));
  EXPECT_EQ(backoff.NextOfAll(), milliseconds(12800)) << "remembers what failed before that";
  backoff.Worked(minutes(1));
  EXPECT_EQ(backoff.NextOfAll(), milliseconds(25600));
  EXPECT_EQ(backoff.Next(), milliseconds(1600));
}

TEST(BackoffTest, DoesNotStartAgainInsideALongOutage) {
  base::testing::FakeClock clock;
  Backoff backoff({}, clock, [] { return 0.99; });
  base::Duration delay{};
  for (int i = 0; i < 100; ++i) {
    delay = backoff.Next();
    clock.Advance(delay + seconds(5));
  }
  EXPECT_GT(delay, seconds(30));
}

// The table of runs in "client-go parsing (3), cache.Reflector". It was measured with jitter 1 and
// a function that takes a second, and gives the seconds from the end of a run to the begin of the
// next.
constexpr std::array<double, 15> kMeasuredRuns = {0,
                                                  1.284438667,
                                                  3.105450176,
                                                  5.330910046,
                                                  9.201774039,
                                                  18.253303837,
                                                  43.22295292,
                                                  31.998912477,
                                                  34.72983897,
                                                  32.941101108,
                                                  39.06361719,
                                                  45.498957001,
                                                  54.462938656,
                                                  36.463043438,
                                                  41.460279724};

// Fails every list after a second, and records when each list began.
class FailingSource final : public ListerWatcher {
 public:
  FailingSource(testing::AutoClock& clock, std::stop_source& stop) : clock_(clock), stop_(stop) {}

  apimachinery::Result<codec::ListMeta> List(const apimachinery::ListOptions&, ObjectSink,
                                             std::stop_token) override {
    gaps.push_back(gaps.empty() ? base::Duration(0) : clock_.Now() - ended_);
    if (gaps.size() == kMeasuredRuns.size()) {
      stop_.request_stop();
    }
    clock_.Advance(seconds(1));
    ended_ = clock_.Now();
    return apimachinery::Fail(apimachinery::Reason::kUnavailable, "connection refused");
  }
  apimachinery::Result<void> Watch(const apimachinery::ListOptions&, EventSink,
                                   std::stop_token) override {
    return {};
  }

  std::vector<base::Duration> gaps{};

 private:
  testing::AutoClock& clock_;
  std::stop_source& stop_;
  base::TimePoint ended_{};
};

std::vector<base::Duration> GapsBetweenRuns(double jitter) {
  testing::AutoClock clock;
  std::stop_source stop;
  const auto source = std::make_shared<FailingSource>(clock, stop);
  testing::MapStore store;
  ReflectorOptions options{.clock = clock, .seed = 1, .use_watch_list = false};
  options.tuning.backoff.jitter = jitter;
  Reflector("things", source, store, std::move(options)).Run(stop.get_token());
  return source->gaps;
}

TEST(BackoffTest, AReflectorsRunsFollowTheTable) {
  const std::vector<base::Duration> expected{
      seconds(0),         milliseconds(800),   milliseconds(1600),  milliseconds(3200),
      milliseconds(6400), milliseconds(12800), milliseconds(25600), seconds(30),
      seconds(30),        seconds(30),         seconds(30),         seconds(30),
      seconds(30),        seconds(30),         seconds(30)};
  EXPECT_EQ(GapsBetweenRuns(0), expected);
  // The measured gaps lie where a jitter of 1 puts them, and so do the gaps of this reflector.
  const auto jittered = GapsBetweenRuns(1);
  for (std::size_t i = 1; i < expected.size(); ++i) {
    const double delay = std::chrono::duration<double>(expected[i]).count();
    EXPECT_GE(kMeasuredRuns[i], delay) << i;
    EXPECT_LT(kMeasuredRuns[i], 2 * delay) << i;
    EXPECT_GE(jittered[i], expected[i]) << i;
    EXPECT_LT(jittered[i], 2 * expected[i]) << i;
  }
}

}  // namespace
}  // namespace kubexx::cache
