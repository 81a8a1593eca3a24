#include "kubexx/cache/watch/followed_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kubexx::cache {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr base::TimePoint kLookAt = base::TimePoint() + std::chrono::hours(7);

/// What became of a ScriptedWatch.
struct ScriptedWatchNotes {
  bool is_gone = false;
  std::function<void()> tell{};
};

/// Brings one event for each name, one at a time, and then what it is told to, again and again.
class ScriptedWatch final : public OpenWatch {
 public:
  ScriptedWatch(ScriptedWatchNotes& notes, std::deque<std::string> names, Result<Found> last)
      : notes_(notes), names_(std::move(names)), last_(std::move(last)) {}
  ScriptedWatch(const ScriptedWatch&) = delete;
  ScriptedWatch& operator=(const ScriptedWatch&) = delete;
  ~ScriptedWatch() override { notes_.is_gone = true; }

  Result<Found> Read(EventSink sink) override {
    if (names_.empty()) {
      return last_;
    }
    WatchEvent event{.object = {.bytes = "x", .key = {"ns", names_.front()}}};
    names_.pop_front();
    KX_RETURN_IF_ERROR(sink(std::move(event)));
    return Found::kSome;
  }
  void Notify(std::function<void()> tell) override { notes_.tell = std::move(tell); }
  base::TimePoint Arm() override { return kLookAt; }

 private:
  ScriptedWatchNotes& notes_;
  std::deque<std::string> names_;
  const Result<Found> last_;
};

class FollowedWatchTest : public ::testing::Test {
 protected:
  using Found = OpenWatch::Found;

  /// Follows a watch that brings "a" and "b" and then `last`.
  void Follow(Result<Found> last, FollowedWatch::OnEvent on_event = {}) {
    watch_.emplace(std::make_unique<ScriptedWatch>(notes_, std::deque<std::string>{"a", "b"}, last),
                   std::move(on_event), [this](Result<void> result) {
                     inner_was_gone_ = notes_.is_gone;
                     ends_.push_back(result ? "clean" : result.error().message);
                     return instead_ ? *instead_ : std::move(result);
                   });
  }
  Result<Found> Read() {
    return watch_->Read([this](WatchEvent&& event) -> Result<void> {
      if (event.object.key.name == refused_) {
        return Fail(Reason::kConflict, "refused");
      }
      read_.push_back(event.object.key.name);
      return {};
    });
  }
  /// Reads both events.
  void ReadEvents() {
    EXPECT_EQ(Read().value(), Found::kSome);
    EXPECT_EQ(Read().value(), Found::kSome);
    EXPECT_THAT(read_, ElementsAre("a", "b"));
    EXPECT_THAT(ends_, IsEmpty());
  }

  ScriptedWatchNotes notes_;
  std::vector<std::string> read_;
  std::string refused_;
  std::vector<std::string> ends_;  ///< what the owner of the watch was told
  bool inner_was_gone_ = false;
  std::optional<Result<void>> instead_;  ///< what the owner makes of it
  std::optional<FollowedWatch> watch_;
};

TEST_F(FollowedWatchTest, PassesEventsAndWaitsOn) {
  Follow(Found::kNothing);
  ReadEvents();
  EXPECT_EQ(Read().value(), Found::kNothing);
  EXPECT_EQ(Read().value(), Found::kNothing);
  EXPECT_THAT(ends_, IsEmpty()) << "it goes on";
  bool told = false;
  watch_->Notify([&told] { told = true; });
  EXPECT_EQ(watch_->Arm(), kLookAt);
  notes_.tell();
  EXPECT_TRUE(told);
}

TEST_F(FollowedWatchTest, ACleanEndIsToldOnce) {
  Follow(Found::kEnd);
  ReadEvents();
  EXPECT_EQ(Read().value(), Found::kEnd);
  watch_.reset();
  EXPECT_THAT(ends_, ElementsAre("clean"));
}

TEST_F(FollowedWatchTest, AnErrorIsToldOnceAndPassedOn) {
  Follow(Fail(Reason::kExpired, "too old", 410));
  ReadEvents();
  const auto read = Read();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, 410);
  watch_.reset();
  EXPECT_THAT(ends_, ElementsAre("too old"));
}

TEST_F(FollowedWatchTest, TheOwnerMayMakeAnErrorOfACleanEnd) {
  instead_ = Fail(Reason::kForbidden, "no more");
  Follow(Found::kEnd);
  ReadEvents();
  const auto read = Read();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().reason, Reason::kForbidden);
}

TEST_F(FollowedWatchTest, TheOwnerMayMakeACleanEndOfAnError) {
  instead_ = Result<void>();
  Follow(Fail(Reason::kNotFound, "gone", 404));
  ReadEvents();
  EXPECT_EQ(Read().value(), Found::kEnd);
  EXPECT_THAT(ends_, ElementsAre("gone"));
}

TEST_F(FollowedWatchTest, AReaderThatRefusesAnEventEndsIt) {
  Follow(Found::kNothing);
  refused_ = "a";
  const auto read = Read();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().reason, Reason::kConflict);
  watch_.reset();
  EXPECT_THAT(ends_, ElementsAre("refused"));
}

TEST_F(FollowedWatchTest, WhoeverSeesTheEventsMayEndIt) {
  std::vector<std::string> seen;
  Follow(Found::kNothing, [&seen](WatchEvent&& event, OpenWatch::EventSink sink) -> Result<void> {
    seen.push_back(event.object.key.name);
    return seen.size() < 2 ? sink(std::move(event))
                           : Result<void>(Fail(Reason::kInternalError, "seen enough"));
  });
  EXPECT_EQ(Read().value(), Found::kSome);
  const auto read = Read();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "seen enough");
  EXPECT_THAT(seen, ElementsAre("a", "b"));
  EXPECT_THAT(read_, ElementsAre("a"));
  EXPECT_THAT(ends_, ElementsAre("seen enough"));
}

TEST_F(FollowedWatchTest, OneThatIsGivenUpIsOverBeforeItsEndIsTold) {
  Follow(Found::kNothing);
  ReadEvents();
  watch_.reset();
  EXPECT_THAT(ends_, ElementsAre("the watch was given up"));
  EXPECT_TRUE(inner_was_gone_);
}

}  // namespace
}  // namespace kubexx::cache
