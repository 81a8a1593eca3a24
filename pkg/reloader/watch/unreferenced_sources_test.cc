#include "kubexx/reloader/watch/unreferenced_sources.h"

#include <gtest/gtest.h>

namespace kubexx::reloader {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const SourceId kLock{SourceType::kConfigMap, {"ns", "lock"}};

TEST(UnreferencedSources, TheFirstChangeIsLookedIntoAtOnceAndLaterOnesLessAndLessOften) {
  UnreferencedSources sources;
  base::TimePoint now{};
  int looks = 0;
  for (int i = 0; i < 600; ++i, now += seconds(1)) {  // a change a second for ten minutes
    if (sources.DueOf(kLock, now) <= now) {
      sources.LookedInto(kLock, now);
      ++looks;
    }
  }
  EXPECT_EQ(looks, 15);  // at 0, 1, 3, 7, 15, 31 and 63 seconds, and then once a minute
  EXPECT_EQ(sources.DueOf({SourceType::kConfigMap, {"ns", "other"}}, now), now);
}

TEST(UnreferencedSources, AfterAQuietTimeItBeginsAnew) {
  UnreferencedSources sources;
  base::TimePoint now{};
  for (int i = 0; i < 10; ++i) {
    sources.LookedInto(kLock, now);
  }
  EXPECT_EQ(sources.DueOf(kLock, now), now + minutes(1));
  now += minutes(10);
  EXPECT_EQ(sources.DueOf(kLock, now), now);
  sources.LookedInto(kLock, now);
  EXPECT_EQ(sources.DueOf(kLock, now), now + seconds(1));
}

TEST(UnreferencedSources, WhatIsUsedIsForgotten) {
  UnreferencedSources sources;
  const base::TimePoint now{};
  sources.LookedInto(kLock, now);
  sources.Forget(kLock);
  EXPECT_EQ(sources.DueOf(kLock, now), now);
}

}  // namespace
}  // namespace kubexx::reloader
