#include "kubexx/events/internal/series_cache.h"

#include <gmock/gmock.h>

#include <chrono>
#include <string>

#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::events {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SeriesCacheTest : public ::testing::Test {
 protected:
  SeriesCache::Event About(const std::string& object) {
    SeriesCache::Event event;
    event.metadata.name = object + "." + std::to_string(++names_);
    event.regarding.name = object;
    event.reason = "Because";
    event.action = "Acting";
    event.type = "Normal";
    return event;
  }

  base::testing::FakeClock clock_;
  SeriesCache cache_{clock_};
  int names_ = 0;
};

TEST_F(SeriesCacheTest, WritesTheFirstAndTheSecondOnly) {
  const auto first = cache_.Observe(About("a"));
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_FALSE(first[0].series);
  const auto second = cache_.Observe(About("a"));
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_EQ(second[0].metadata.name, "a.1");
  ASSERT_TRUE(second[0].series);
  EXPECT_EQ(second[0].series->count, 2);
  EXPECT_EQ(SeriesPatch(second[0]), "{\"series\":{\"count\":2,\"lastObservedTime\":\"" +
                                        apimachinery::MicroTime::From(clock_.Wall()).ToString() +
                                        "\"}}");
  for (int i = 0; i < 5; ++i) {
    EXPECT_THAT(cache_.Observe(About("a")), IsEmpty());
  }
  ASSERT_THAT(cache_.Unwritten(), SizeIs(1));
  EXPECT_EQ(cache_.Unwritten()[0].series->count, 7);
}

TEST_F(SeriesCacheTest, KeepsApartWhatDiffers) {
  const auto event = About("a");
  ASSERT_THAT(cache_.Observe(event), SizeIs(1));
  const auto differs = [&](auto change) {
    auto other = event;
    change(other);
    const auto writes = cache_.Observe(other);
    return writes.size() == 1 && !writes[0].series;
  };
  EXPECT_TRUE(differs([](auto& e) { e.type = "Warning"; }));
  EXPECT_TRUE(differs([](auto& e) { e.action = "x"; }));
  EXPECT_TRUE(differs([](auto& e) { e.reason = "x"; }));
  EXPECT_TRUE(differs([](auto& e) { e.reporting_controller = "x"; }));
  EXPECT_TRUE(differs([](auto& e) { e.reporting_instance = "x"; }));
  EXPECT_TRUE(differs([](auto& e) { e.regarding.uid = "x"; }));
  EXPECT_TRUE(differs([](auto& e) { e.related.emplace().name = "x"; }));
  EXPECT_FALSE(differs([](auto& e) { e.note = "x"; })) << "the note does not count";
}

TEST_F(SeriesCacheTest, GivesSeriesToBeRefreshed) {
  (void)cache_.Observe(About("a"));
  (void)cache_.Observe(About("b"));
  (void)cache_.Observe(About("b"));
  (void)cache_.Observe(About("b"));
  const auto series = cache_.Series();
  ASSERT_THAT(series, SizeIs(1));
  EXPECT_EQ(series[0].series->count, 3);
  EXPECT_THAT(cache_.Unwritten(), IsEmpty());
}

TEST_F(SeriesCacheTest, WhatCouldNotBeWrittenIsWrittenBeforeTheEnd) {
  (void)cache_.Observe(About("a"));
  cache_.NotWritten(cache_.Observe(About("a")).at(0));
  ASSERT_THAT(cache_.Unwritten(), SizeIs(1));
  EXPECT_EQ(cache_.Unwritten()[0].series->count, 2);
  const auto refreshed = cache_.Series();
  EXPECT_THAT(cache_.Unwritten(), IsEmpty());
  cache_.NotWritten(refreshed.at(0));
  EXPECT_THAT(cache_.Unwritten(), SizeIs(1));
}

TEST_F(SeriesCacheTest, ClosesWhatWasIdle) {
  (void)cache_.Observe(About("single"));
  (void)cache_.Observe(About("series"));
  (void)cache_.Observe(About("series"));
  (void)cache_.Observe(About("series"));
  clock_.Advance(6min);
  EXPECT_THAT(cache_.Close(), IsEmpty());
  (void)cache_.Observe(About("busy"));
  clock_.Advance(1s);
  const auto closed = cache_.Close();
  ASSERT_THAT(closed, SizeIs(1));
  EXPECT_EQ(closed[0].series->count, 3);
  EXPECT_EQ(cache_.size(), 1U) << "busy is left";
  EXPECT_FALSE(cache_.Observe(About("series"))[0].series) << "a new one";
}

TEST_F(SeriesCacheTest, ClosesAgainWhatCouldNotBeWritten) {
  (void)cache_.Observe(About("a"));
  (void)cache_.Observe(About("a"));
  clock_.Advance(7min);
  cache_.Restore(cache_.Close().at(0));
  EXPECT_THAT(cache_.Close(), SizeIs(1));
  EXPECT_THAT(cache_.Close(), IsEmpty());
}

TEST_F(SeriesCacheTest, WritesTheCountOfWhatItForgets) {
  SeriesCache small(clock_, 1);
  (void)small.Observe(About("a"));
  (void)small.Observe(About("a"));
  (void)small.Observe(About("a"));
  const auto writes = small.Observe(About("b"));
  ASSERT_THAT(writes, SizeIs(2));
  EXPECT_EQ(writes[0].regarding.name, "b");
  EXPECT_EQ(writes[1].regarding.name, "a");
  EXPECT_EQ(writes[1].series->count, 3);
}

}  // namespace
}  // namespace kubexx::events
