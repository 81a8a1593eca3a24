#include "kubexx/workqueue/internal/settling.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>

#include "kubexx/workqueue/internal/delay_heap.h"

namespace kubexx::workqueue::internal {
namespace {

using std::chrono::milliseconds;

const base::TimePoint kBegin = base::TimePoint() + std::chrono::hours(1);

base::TimePoint At(int ms) { return kBegin + milliseconds(ms); }

/// The debounced adds of one key with their timer, as a queue keeps them.
class SettlingTest : public ::testing::Test {
 protected:
  void Note(int ms, int window = 100, bool puts_off = true) {
    if (const auto due =
            settling_.Note({.window = milliseconds(window), .puts_off = puts_off}, At(ms))) {
      heap_.Set(&settling_.timer, *due);
    }
  }
  void Touch(int ms) { Note(ms, 100, false); }
  bool FallsDue(int ms) {
    if (heap_.NextDue() > At(ms)) {
      return false;
    }
    heap_.Remove(&settling_.timer);
    settling_.FellDue(At(ms));
    return true;
  }

  DelayHeap heap_;
  Settling settling_{nullptr};
};

TEST_F(SettlingTest, FallsDueAtTheTrailingEdge) {
  Note(0);
  Note(60);
  EXPECT_EQ(heap_.NextDue(), At(160));
  EXPECT_TRUE(settling_.WaitsAt(At(159)));
  EXPECT_FALSE(settling_.WaitsAt(At(160)));
  ASSERT_TRUE(FallsDue(160));
  EXPECT_EQ(settling_.Take(), (Settled{.first = At(0), .last = At(60), .due = At(160)}));
  EXPECT_FALSE(settling_.pending());
}

TEST_F(SettlingTest, AStreamWithoutAPauseFallsDueAfterTheMaximum) {
  int acted = 0;
  for (int ms = 0; ms < 5000; ms += 10) {
    Note(ms);
    if (FallsDue(ms)) {
      (void)settling_.Take();
      ++acted;
    }
  }
  EXPECT_EQ(acted, 4);
}

TEST_F(SettlingTest, EachAddHasItsWindowAndTenOfThem) {
  Note(0, 500);
  EXPECT_EQ(heap_.NextDue(), At(500));
  for (int ms = 400; ms <= 6000; ms += 400) {
    Note(ms, 500);
  }
  EXPECT_EQ(heap_.NextDue(), At(5000)) << "ten of its windows";
}

TEST_F(SettlingTest, AnAddWithAShortWindowEndsNoLongerOne) {
  Note(0, 3000);
  Note(50);
  EXPECT_EQ(heap_.NextDue(), At(3000));
  Note(2950, 100);
  EXPECT_EQ(heap_.NextDue(), At(3000)) << "ten windows from the first are over";
}

TEST_F(SettlingTest, AnAddThatPutsNothingOffDoesNot) {
  Touch(0);
  EXPECT_EQ(heap_.NextDue(), At(100));
  Touch(60);
  EXPECT_EQ(heap_.NextDue(), At(100));
  Note(70);
  EXPECT_EQ(heap_.NextDue(), At(170)) << "one that does, does";
  ASSERT_TRUE(FallsDue(170));
  Touch(175);
  EXPECT_EQ(heap_.NextDue(), base::TimePoint::max()) << "it is on its way to a worker";
  EXPECT_EQ(settling_.Take().last, At(70));
  Touch(190);
  EXPECT_EQ(heap_.NextDue(), At(290));
  ASSERT_TRUE(FallsDue(290));
  EXPECT_EQ(settling_.Take().last, std::nullopt) << "nothing has changed";
}

TEST_F(SettlingTest, TheMaximumCountsFromTheFirstAddThatNoWorkerHasActedOn) {
  Note(0);
  ASSERT_TRUE(FallsDue(100));
  for (int ms = 150; ms < 1000; ms += 50) {
    Note(ms);
    EXPECT_TRUE(settling_.WaitsAt(At(ms)));
  }
  EXPECT_EQ(heap_.NextDue(), At(1000));
}

TEST_F(SettlingTest, WhatIsPutBackIsNotActedOn) {
  Note(0);
  Note(50);
  ASSERT_TRUE(FallsDue(150));
  const Settled taken = settling_.Take();
  settling_.PutBack(taken);
  EXPECT_TRUE(settling_.pending());
  Note(950);
  EXPECT_EQ(heap_.NextDue(), At(1000)) << "ten windows from the first";
  ASSERT_TRUE(FallsDue(1000));
  EXPECT_EQ(settling_.Take(), (Settled{.first = At(0), .last = At(950), .due = At(1000)}));
}

TEST_F(SettlingTest, WhatIsPutBackJoinsWhatCameMeanwhile) {
  Note(0);
  ASSERT_TRUE(FallsDue(100));
  const Settled taken = settling_.Take();
  Touch(120);
  settling_.PutBack(taken);
  ASSERT_TRUE(FallsDue(220));
  EXPECT_EQ(settling_.Take(), (Settled{.first = At(0), .last = At(0), .due = At(220)}));
}

TEST_F(SettlingTest, WindowsOfAnyLengthAreTimes) {
  ASSERT_EQ(
      settling_.Note(
          {.window = base::Duration::max(), .max_windows = std::numeric_limits<int>::max()}, At(0)),
      At(0) + std::chrono::hours(24 * 365 * 10));
  Settling other{nullptr};
  EXPECT_EQ(other.Note({.window = milliseconds(-5), .max_windows = -1}, At(0)), At(0));
}

}  // namespace
}  // namespace kubexx::workqueue::internal
