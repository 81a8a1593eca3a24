// Tests the messages of this package's fakes when an event that a test waits for does not come.
#include <gtest/gtest.h>

#include <chrono>

#include "kubexx/base/testing/await.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/cache/testing/map_store.h"
#include "kubexx/cache/testing/recorder.h"

namespace kubexx::cache::testing {
namespace {

class FakesDeathTest : public ::testing::Test {
 protected:
  FakesDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  static void LosePatience() {
    base::testing::Patience::SetLimitForTest(std::chrono::milliseconds(20));
  }
};

TEST_F(FakesDeathTest, ASourceTellsWhatIsNotAsked) {
  FakeSource source;
  source.Put({"ns", "a"}, "x");
  EXPECT_DEATH(
      {
        LosePatience();
        source.AwaitWatches(1);
      },
      "fakes_test\\.cc:.* for: 1 requests to watch\n  it saw: 0\n");
  EXPECT_DEATH(
      {
        LosePatience();
        source.AwaitLists(2);
      },
      "fakes_test\\.cc:.* for: 2 requests to list\n  it saw: 0\n");
  EXPECT_DEATH(
      {
        LosePatience();
        source.AwaitCaughtUp();
      },
      "fakes_test\\.cc:.* for: a watch at version [0-9]+\n  it saw: \\[\\]\n");
}

TEST_F(FakesDeathTest, AStoreTellsWhatItHas) {
  MapStore store;
  ASSERT_TRUE(store.Add({.bytes = "x", .key = {"ns", "a"}}));
  EXPECT_DEATH(
      {
        LosePatience();
        store.AwaitContent({});
      },
      "fakes_test\\.cc:.* for: the content \\[\\]\n  it saw: \\[ns/a: \"x\"\\]\n");
  EXPECT_DEATH(
      {
        LosePatience();
        store.AwaitReplaces(1);
      },
      "fakes_test\\.cc:.* for: 1 replacements of the whole content\n  it saw: 0\n");
}

TEST_F(FakesDeathTest, ARecorderTellsWhatItWasTold) {
  const Recorder recorder;
  EXPECT_DEATH(
      {
        LosePatience();
        recorder.AwaitEvents(1);
      },
      "fakes_test\\.cc:.* for: 1 events\n  it saw: \\[\\]\n");
}

TEST_F(FakesDeathTest, AGateTellsThatNobodyOpensIt) {
  Gate gate;
  EXPECT_DEATH(
      {
        LosePatience();
        gate.Wait();
      },
      "fakes_test\\.cc:.* for: a gate to be opened\n");
}

}  // namespace
}  // namespace kubexx::cache::testing
