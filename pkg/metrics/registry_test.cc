#include "kubexx/metrics/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <semaphore>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/base/subscription.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/logging/testing/capture.h"

namespace kubexx::metrics {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(RegistryTest, SerialisesInOrder) {
  Registry registry;
  registry.Gauge("b_bytes", "Size.").Set(2.5);
  registry.Counter("a_total", "Things.", {{"kind", "y"}}).Increment();
  registry.Counter("a_total", "Things.", {{"kind", "x"}}).Increment(3);
  EXPECT_EQ(registry.Serialize(),
            "# HELP a_total Things.\n"
            "# TYPE a_total counter\n"
            "a_total{kind=\"x\"} 3\n"
            "a_total{kind=\"y\"} 1\n"
            "# HELP b_bytes Size.\n"
            "# TYPE b_bytes gauge\n"
            "b_bytes 2.5\n");
}

TEST(RegistryTest, SerialisesHistograms) {
  Registry registry;
  const Histogram histogram = registry.Histogram("h_seconds", "Time.", {{"n", "q"}}, {0.1, 1});
  histogram.Observe(0.05);
  histogram.Observe(0.5);
  histogram.Observe(5);
  histogram.Observe(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(registry.Serialize(),
            "# HELP h_seconds Time.\n"
            "# TYPE h_seconds histogram\n"
            "h_seconds_count{n=\"q\"} 3\n"
            "h_seconds_sum{n=\"q\"} 5.55\n"
            "h_seconds_bucket{n=\"q\",le=\"0.1\"} 1\n"
            "h_seconds_bucket{n=\"q\",le=\"1\"} 2\n"
            "h_seconds_bucket{n=\"q\",le=\"+Inf\"} 3\n");
}

TEST(RegistryTest, SameNameAndLabelsIsTheSameSeries) {
  Registry registry;
  const Counter a = registry.Counter("c_total", "C.", {{"k", "v"}});
  const Counter b = registry.Counter("c_total", "C.", {{"k", "v"}});
  const Counter other = registry.Counter("c_total", "C.", {{"k", "w"}});
  a.Increment(2);
  EXPECT_EQ(b.Value(), 2);
  EXPECT_EQ(other.Value(), 0);
}

TEST(RegistryTest, CountersDoNotGoDown) {
  Registry registry;
  const Counter counter = registry.Counter("c_total", "C.");
  counter.Increment(2);
  counter.Increment(-1);
  counter.Increment(std::numeric_limits<double>::quiet_NaN());
  counter.Increment(std::numeric_limits<double>::infinity());
  EXPECT_EQ(counter.Value(), 2);
}

TEST(RegistryTest, DefaultHandlesDoNothing) {
  const Counter counter;
  const Gauge gauge;
  const Histogram histogram;
  counter.Increment();
  gauge.Set(1);
  gauge.Add(1);
  histogram.Observe(1);
  EXPECT_EQ(counter.Value(), 0);
  EXPECT_EQ(gauge.Value(), 0);
}

TEST(RegistryTest, TypeClashIsLoggedOnceAndDoesNothing) {
  logging::testing::Capture capture;
  Registry registry;
  registry.Counter("x_total", "X.").Increment();
  for (int i = 0; i < 3; ++i) {
    const Gauge gauge = registry.Gauge("x_total", "X.");
    gauge.Set(7);
    EXPECT_EQ(gauge.Value(), 0);
  }
  EXPECT_EQ(capture.Count("metric=x_total"), 1U);
  EXPECT_THAT(registry.Serialize(), HasSubstr("x_total 1\n"));
}

TEST(RegistryTest, BadNamesAreLoggedAndDoNothing) {
  logging::testing::Capture capture;
  Registry registry;
  registry.Counter("", "h").Increment();
  registry.Counter("0x", "h").Increment();
  registry.Counter("a b", "h").Increment();
  registry.Counter("__a", "h").Increment();
  registry.Counter("ok_total", "h", {{"bad-label", "v"}}).Increment();
  registry.Histogram("le_seconds", "h", {{"le", "v"}}, {1}).Observe(1);
  registry.Histogram("order_seconds", "h", {}, {2, 1}).Observe(1);
  EXPECT_EQ(capture.Count("metric is not recorded"), 7U);
  EXPECT_THAT(registry.Serialize(), Not(HasSubstr(" 1\n")));
}

TEST(RegistryTest, OtherBucketsClash) {
  logging::testing::Capture capture;
  Registry registry;
  registry.Histogram("h_seconds", "h", {}, {1, 2}).Observe(1);
  registry.Histogram("h_seconds", "h", {}, {1, 3}).Observe(1);
  EXPECT_EQ(capture.Count("other buckets"), 1U);
  EXPECT_THAT(registry.Serialize(), HasSubstr("h_seconds_count 1\n"));
}

TEST(RegistryTest, TooManySeriesAreRefused) {
  logging::testing::Capture capture;
  Registry registry;
  for (std::size_t i = 0; i < Registry::kMaxSeries + 5; ++i) {
    registry.Counter("c_total", "C.", {{"i", std::to_string(i)}}).Increment();
  }
  EXPECT_EQ(capture.Count("too many series"), 1U);
  EXPECT_EQ(registry.Counter("c_total", "C.", {{"i", "5"}}).Value(), 1) << "known ones still work";
}

TEST(RegistryTest, ValuesAndHelpAreEscaped) {
  Registry registry;
  registry.Counter("c_total", "One\nline \\ here.", {{"v", "a\"b\\c\nd\xff"}}).Increment();
  EXPECT_EQ(registry.Serialize(),
            "# HELP c_total One\\nline \\\\ here.\n"
            "# TYPE c_total counter\n"
            "c_total{v=\"a\\\"b\\\\c\\nd\xef\xbf\xbd\"} 1\n");
}

TEST(RegistryTest, UpdatesRunAtEachScrapeUntilTheSubscriptionEnds) {
  Registry registry;
  int runs = 0;
  auto subscription =
      registry.OnScrape([&registry, &runs] { registry.Gauge("runs", "Runs.").Set(++runs); });
  EXPECT_THAT(registry.Serialize(), HasSubstr("runs 1\n"));
  EXPECT_THAT(registry.Serialize(), HasSubstr("runs 2\n"));
  subscription.Reset();
  EXPECT_THAT(registry.Serialize(), HasSubstr("runs 2\n"));
}

TEST(RegistryTest, AnUpdateThatThrowsTakesNoOtherMetricAway) {
  const logging::testing::Capture log;
  Registry registry;
  int runs = 0;
  const auto first = registry.OnScrape([] { throw std::runtime_error("the cache is not there"); });
  const auto second =
      registry.OnScrape([&registry, &runs] { registry.Gauge("runs", "Runs.").Set(++runs); });
  const auto third = registry.OnScrape([] { throw 7; });  // NOLINT: not an exception, of all things
  EXPECT_THAT(
      registry.Serialize(),
      ::testing::AllOf(HasSubstr("runs 1\n"), HasSubstr("\nmetrics_update_exceptions_total 2\n")));
  EXPECT_EQ(log.Count("the cache is not there"), 1U);
  for (int i = 0; i < 10; ++i) {
    registry.Serialize();
  }
  EXPECT_THAT(registry.Serialize(), HasSubstr("metrics_update_exceptions_total 24\n"));
  EXPECT_EQ(log.Count("OnScrape"), 5U) << "a line for each would fill the log";
}

// A queue or an informer, for example, which has an update of its own.
TEST(RegistryTest, AnUpdateMayMakeAndEndWhatHasAnUpdate) {
  Registry registry;
  int runs = 0;
  base::Subscription made;
  const auto maker = registry.OnScrape([&] {
    made.Reset();
    made = registry.OnScrape([&runs] { ++runs; });
  });
  registry.Serialize();
  registry.Serialize();
  EXPECT_EQ(runs, 0) << "each was ended before its turn came";
  made.Reset();
}

TEST(RegistryTest, TheEndOfASubscriptionWaitsForItsCall) {
  Registry registry;
  std::binary_semaphore called(0);
  std::binary_semaphore go_on(0);
  std::atomic<bool> ended = false;
  auto subscription = registry.OnScrape([&] {
    called.release();
    KX_AWAIT(go_on.try_acquire());
    EXPECT_FALSE(ended);
  });
  const std::jthread scrape([&registry] { registry.Serialize(); });
  KX_AWAIT(called.try_acquire());
  std::jthread ender([&] {
    subscription.Reset();
    ended = true;
  });
  for (int i = 0; i < 100; ++i) {
    base::testing::LetOthersRun();
  }
  go_on.release();
  ender.join();
}

TEST(RegistryTest, ThreadsMayRecordCreateAndScrapeAtOnce) {
  Registry registry;
  constexpr int kThreads = 4;
  constexpr int kAdds = 500;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&registry, t] {
        for (int i = 0; i < kAdds; ++i) {
          registry.Counter("all_total", "All.").Increment();
          registry.Gauge("one", "One.", {{"t", std::to_string(t)}}).Set(i);
          registry.Histogram("h", "H.", {}, {1}).Observe(i);
          if (i % 100 == 0) {
            EXPECT_THAT(registry.Serialize(), HasSubstr("all_total"));
          }
        }
      });
    }
  }
  EXPECT_EQ(registry.Counter("all_total", "All.").Value(), kThreads * kAdds);
}

}  // namespace
}  // namespace kubexx::metrics
