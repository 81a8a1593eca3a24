#include "kubexx/reloader/operator/settle.h"

#include <gtest/gtest.h>

#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::reloader {
namespace {

using std::chrono::milliseconds;

const workqueue::Key kA{"Deployment", {"ns", "a"}};
const workqueue::Key kB{"Deployment", {"ns", "b"}};
const base::TimePoint kStart = base::TimePoint() + std::chrono::hours(1);

SettleState::Options Options() {
  return {.window = milliseconds(100), .max_delay = milliseconds(1000)};
}

TEST(SettleState, ActsAtTheTrailingEdge) {
  SettleState state(Options());
  state.Note(kA, kStart);
  state.Note(kA, kStart + milliseconds(60));
  EXPECT_EQ(state.NextDue(), kStart + milliseconds(160));
  EXPECT_EQ(state.PopDue(kStart + milliseconds(159)), std::nullopt);
  EXPECT_EQ(state.PopDue(kStart + milliseconds(160)), kA);
  EXPECT_EQ(state.PopDue(kStart + milliseconds(500)), std::nullopt);
  EXPECT_TRUE(state.Take(kA, kStart + milliseconds(500)));
  EXPECT_EQ(state.size(), 0U);
}

TEST(SettleState, AStreamWithoutAPauseIsActedOnAfterTheMaximum) {
  SettleState state(Options());
  int acted = 0;
  for (int ms = 0; ms < 5000; ms += 10) {
    const base::TimePoint now = kStart + milliseconds(ms);
    state.Note(kA, now);
    if (state.PopDue(now)) {
      EXPECT_TRUE(state.Take(kA, now));
      ++acted;
    }
  }
  EXPECT_EQ(acted, 4);
}

TEST(SettleState, AKeyMayHaveAWindowOfItsOwn) {
  SettleState state(Options());
  state.Note(kA, kStart, milliseconds(500));
  state.Note(kB, kStart, milliseconds(10));
  EXPECT_EQ(state.PopDue(kStart + milliseconds(10)), kB);
  EXPECT_EQ(state.NextDue(), kStart + milliseconds(500));
  for (int ms = 400; ms <= 6000; ms += 400) {
    state.Note(kA, kStart + milliseconds(ms), milliseconds(500));
  }
  EXPECT_EQ(state.NextDue(), kStart + milliseconds(5000)) << "ten of its windows";
}

TEST(SettleState, AChangeWithAShortWindowEndsNoLongerOne) {
  SettleState state(Options());
  state.Note(kA, kStart, milliseconds(3000));
  state.Note(kA, kStart + milliseconds(50));
  EXPECT_EQ(state.NextDue(), kStart + milliseconds(3000));
  state.Note(kA, kStart + milliseconds(2950), milliseconds(100));
  EXPECT_EQ(state.NextDue(), kStart + milliseconds(3000)) << "ten windows from the first are over";
}

TEST(SettleState, ATouchPutsNothingOff) {
  SettleState state(Options());
  state.Touch(kA, kStart);
  EXPECT_EQ(state.NextDue(), kStart + milliseconds(100));
  state.Touch(kA, kStart + milliseconds(60));
  EXPECT_EQ(state.NextDue(), kStart + milliseconds(100));
  state.Note(kA, kStart + milliseconds(70));
  EXPECT_EQ(state.NextDue(), kStart + milliseconds(170)) << "a change does";
  EXPECT_EQ(state.PopDue(kStart + milliseconds(170)), kA);
  state.Touch(kA, kStart + milliseconds(175));
  EXPECT_TRUE(state.Take(kA, kStart + milliseconds(180))) << "it is on its way to a worker";
  state.Touch(kA, kStart + milliseconds(190));
  EXPECT_EQ(state.NextDue(), kStart + milliseconds(290));
}

TEST(SettleState, AKeyThatComesAnotherWayWaitsForTheWindow) {
  SettleState state(Options());
  EXPECT_TRUE(state.Take(kA, kStart));  // nothing noted
  state.Note(kA, kStart);
  EXPECT_FALSE(state.Take(kA, kStart + milliseconds(99)));
  EXPECT_EQ(state.PopDue(kStart + milliseconds(100)), kA);  // still falls due
  EXPECT_TRUE(state.Take(kA, kStart + milliseconds(100)));
}

TEST(SettleState, LateWorkersAreNotStarvedByNewChanges) {
  SettleState state(Options());
  state.Note(kA, kStart);
  EXPECT_EQ(state.PopDue(kStart + milliseconds(100)), kA);
  // The worker is late and changes go on; the maximum counts from the first change not acted on.
  for (int ms = 150; ms < 1000; ms += 50) {
    state.Note(kA, kStart + milliseconds(ms));
    EXPECT_FALSE(state.Take(kA, kStart + milliseconds(ms)));
  }
  EXPECT_TRUE(state.Take(kA, kStart + milliseconds(1000)));
}

TEST(SettleState, KeysAreIndependent) {
  SettleState state(Options());
  state.Note(kA, kStart);
  state.Note(kB, kStart + milliseconds(50));
  EXPECT_EQ(state.PopDue(kStart + milliseconds(200)), kA);
  EXPECT_EQ(state.PopDue(kStart + milliseconds(200)), kB);
}

TEST(SettleState, GivesAllThatWait) {
  SettleState state(Options());
  state.Note(kB, kStart);
  state.Note(kA, kStart + milliseconds(50));
  EXPECT_EQ(state.PopAll(), (std::vector{kB, kA}));
  EXPECT_EQ(state.size(), 0U);
  EXPECT_TRUE(state.Take(kA, kStart));
}

TEST(SettleState, ForgetsKeys) {
  SettleState state(Options());
  state.Note(kA, kStart);
  state.Forget(kA);
  EXPECT_EQ(state.NextDue(), base::TimePoint::max());
  EXPECT_EQ(state.size(), 0U);
}

/// Collects keys and lets a test wait for them.
class Sink {
 public:
  void Put(workqueue::Key key) {
    const base::MutexLock lock(mu_);
    keys_.push_back(std::move(key));
    changed_.notify_all();
  }
  std::vector<workqueue::Key> Await(
      std::size_t n, const base::testing::Where& where = base::testing::Where::current()) {
    const base::MutexLock lock(mu_);
    base::testing::Patience patience(base::testing::Shown(n) + " keys", where);
    while (keys_.size() < n) {
      patience.Wait(changed_, mu_, keys_);
    }
    return keys_;
  }

 private:
  base::Mutex mu_;
  base::CondVar changed_;
  std::vector<workqueue::Key> keys_;
};

TEST(Settler, HandsAKeyOnOnceItsWindowIsOver) {
  base::testing::FakeClock clock;
  Sink sink;
  Settler settler(Options(), clock, [&sink](workqueue::Key key) { sink.Put(std::move(key)); });
  settler.Note(kA);
  clock.AwaitSleepers(1);
  EXPECT_FALSE(settler.Take(kA));
  clock.Advance(milliseconds(100));
  EXPECT_EQ(sink.Await(1), std::vector{kA});
  EXPECT_TRUE(settler.Take(kA));
  EXPECT_EQ(settler.size(), 0U);
}

TEST(Settler, StopsWithKeysWaiting) {
  base::testing::FakeClock clock;
  Sink sink;
  Settler settler(Options(), clock, [&sink](workqueue::Key key) { sink.Put(std::move(key)); });
  settler.Note(kA);
}

}  // namespace
}  // namespace kubexx::reloader
