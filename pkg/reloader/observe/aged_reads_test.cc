#include "kubexx/reloader/observe/aged_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

/// A server with one value for all keys.
class AgedReadsTest : public testing::Test {
 protected:
  using Reads = AgedReads<std::string, int>;

  Reads::Options Options() {
    return {.read = [this](const std::string&, const std::stop_token&) -> Result<int> {
              ++reads_;
              return answer_;
            },
            .clock = clock_,
            .max = 3};
  }
  static bool All(const std::string&) { return true; }

  base::testing::FakeClock clock_;
  int reads_ = 0;
  Result<int> answer_ = 1;
  Reads reading_{Options()};
};

TEST_F(AgedReadsTest, AnAnswerIsReadAgainWhenItIsOld) {
  EXPECT_EQ(reading_.Get("a", {}).value(), 1);
  answer_ = 2;
  clock_.Advance(seconds(9));
  EXPECT_EQ(reading_.Get("a", {}).value(), 1);
  EXPECT_EQ(reads_, 1);
  clock_.Advance(seconds(1));
  EXPECT_EQ(reading_.Get("a", {}).value(), 2);
}

TEST_F(AgedReadsTest, AnErrorIsNotAnAnswerAndPasses) {
  answer_ = Fail(Reason::kTimeout, "late");
  EXPECT_FALSE(reading_.Get("a", {}));
  answer_ = 1;
  EXPECT_FALSE(reading_.Get("a", {})) << "all who ask would wait";
  clock_.Advance(seconds(2));
  EXPECT_EQ(reading_.Get("a", {}).value(), 1);
}

TEST_F(AgedReadsTest, WhoHasGotAnErrorIsToldWhenThereIsAnAnswer) {
  EXPECT_TRUE(reading_.Get("a", {}));
  const auto answer = std::exchange(answer_, Fail(Reason::kTimeout, "late"));
  clock_.Advance(seconds(10));
  EXPECT_FALSE(reading_.Get("a", {}));
  answer_ = answer;
  clock_.Advance(seconds(2));
  reading_.Refresh(1, All, {});
  EXPECT_THAT(reading_.TakeChanged(), ElementsAre("a")) << "although it is what it was";
}

TEST_F(AgedReadsTest, TellsOnceWhichAnswersHaveChanged) {
  EXPECT_TRUE(reading_.Get("a", {}));
  EXPECT_TRUE(reading_.Get("b", {}));
  clock_.Advance(seconds(10));
  answer_ = Fail(Reason::kTimeout, "late");
  EXPECT_FALSE(reading_.Get("a", {}));
  EXPECT_THAT(reading_.TakeChanged(), IsEmpty()) << "nothing is known of it";
  clock_.Advance(seconds(2));
  answer_ = 2;
  reading_.Refresh(1, All, {});
  EXPECT_THAT(reading_.TakeChanged(), ElementsAre("b")) << "the oldest";
  reading_.Refresh(2, All, {});
  EXPECT_THAT(reading_.TakeChanged(), ElementsAre("a"));
  EXPECT_THAT(reading_.TakeChanged(), IsEmpty());
}

TEST_F(AgedReadsTest, ReadsNothingAgainThatNobodyNeeds) {
  EXPECT_TRUE(reading_.Get("a", {}));
  EXPECT_TRUE(reading_.Get("b", {}));
  clock_.Advance(seconds(10));
  reading_.Refresh(9, [](const std::string& key) { return key == "b"; }, {});
  EXPECT_EQ(reads_, 3);
  clock_.Advance(seconds(10));
  reading_.Refresh(9, All, {});
  EXPECT_EQ(reads_, 4) << "the other one is forgotten";
}

TEST_F(AgedReadsTest, ARefreshEndsAtAnError) {
  EXPECT_TRUE(reading_.Get("a", {}));
  EXPECT_TRUE(reading_.Get("b", {}));
  clock_.Advance(seconds(10));
  answer_ = Fail(Reason::kTimeout, "late");
  reading_.Refresh(9, All, {});
  EXPECT_EQ(reads_, 3) << "each would wait";
}

TEST_F(AgedReadsTest, KeepsABoundedNumber) {
  for (const char* key : {"a", "b", "c", "d"}) {
    EXPECT_TRUE(reading_.Get(key, {}));
    clock_.Advance(seconds(1));
  }
  EXPECT_TRUE(reading_.Get("b", {}));
  EXPECT_EQ(reads_, 4);
  EXPECT_TRUE(reading_.Get("a", {}));
  EXPECT_EQ(reads_, 5) << "it was the oldest";
}

// The second one was told that there is nothing.
TEST(AgedReads, WhoAsksAmidTheFirstReadGetsAnAnswer) {
  std::atomic<int> reads = 0;
  AgedReads<std::string, int> reading(
      {.read = [&](const std::string&, const std::stop_token&) -> Result<int> {
        ++reads;
        KX_AWAIT(reads == 2);
        return 7;
      }});
  Result<int> other = 0;
  std::jthread asks([&] { other = reading.Get("a", {}); });
  EXPECT_EQ(reading.Get("a", {}).value(), 7);
  asks.join();
  EXPECT_EQ(other.value(), 7);
}

}  // namespace
}  // namespace kubexx::reloader
