#include "kubexx/cache/internal/reflector/reflector_state.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

namespace kubexx::cache {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Status;
using codec::WatchEventType;
using std::chrono::minutes;
using std::chrono::seconds;
using Kind = ReflectorAction::Kind;

const Status kExpiredStatus(Reason::kExpired, "too old", 410);
const Status kRefused(Reason::kUnavailable, "connection refused");
const Status kInternal(Reason::kInternalError, "boom", 500);

Status TooLarge() { return {Reason::kTimeout, "Too large resource version: 9, current: 3", 504}; }

WatchEnded Ended(Status status, bool progress = false, bool was_short = true) {
  return {Fail(std::move(status)), progress, was_short};
}
WatchEnded Closed(bool progress, bool was_short) { return {{}, progress, was_short}; }

const base::TimePoint kStart = base::TimePoint() + std::chrono::hours(1000);
WatchEnded At(base::TimePoint when, WatchEnded ended) {
  ended.when = when;
  return ended;
}

// Returns the watch that begins after a server has answered that its current version is `version`.
ReflectorAction Resumed(ReflectorState& state, const ReflectorAction& asking,
                        const std::string& version = "100") {
  EXPECT_EQ(asking.kind, Kind::kAskVersion);
  return state.Next(VersionAsked{.version = version, .when = kStart});
}

ReflectorState ListingState() {
  return ReflectorState({.page_size = 500, .use_watch_list = false});
}

// Returns a state that has listed at version 100 and now watches.
ReflectorState Watching(bool use_watch_list = false) {
  ReflectorState state({.page_size = 500, .use_watch_list = use_watch_list});
  state.Start();
  if (use_watch_list) {
    state.InitialEventsEnded("100");
    return state;
  }
  state.Next(PageListed{{.resource_version = "100"}});
  EXPECT_EQ(state.Next(Committed{}).kind, Kind::kWatch);
  return state;
}

TEST(ReflectorStateTest, FirstListAsksForAnyVersionInPages) {
  ReflectorState state = ListingState();
  const ReflectorAction action = state.Start();
  EXPECT_EQ(action.kind, Kind::kListPage);
  EXPECT_TRUE(action.restart);
  EXPECT_FALSE(action.backoff);
  EXPECT_EQ(action.options.resource_version, "0");
  EXPECT_EQ(action.options.limit, 500);
}

TEST(ReflectorStateTest, LaterPagesSendTheTokenAndNoVersion) {
  ReflectorState state = ListingState();
  state.Start();
  const ReflectorAction action =
      state.Next(PageListed{{.resource_version = "100", .continue_ = "token"}});
  EXPECT_EQ(action.kind, Kind::kListPage);
  EXPECT_FALSE(action.restart);
  EXPECT_EQ(action.options.continue_, "token");
  EXPECT_EQ(action.options.resource_version, "");
  EXPECT_EQ(action.options.limit, 500);
}

TEST(ReflectorStateTest, TheFirstPagesVersionIsTheLists) {
  ReflectorState state = ListingState();
  state.Start();
  state.Next(PageListed{{.resource_version = "100", .continue_ = "token"}});
  const ReflectorAction commit = state.Next(PageListed{{.resource_version = "101"}});
  EXPECT_EQ(commit.kind, Kind::kCommit);
  EXPECT_EQ(commit.resource_version, "100");
  const ReflectorAction watch = state.Next(Committed{});
  EXPECT_EQ(watch.kind, Kind::kWatch);
  EXPECT_EQ(watch.options.resource_version, "100");
  EXPECT_TRUE(watch.options.allow_watch_bookmarks);
}

TEST(ReflectorStateTest, AnExpiredTokenGivesOneFullListAtTheFirstVersion) {
  ReflectorState state = ListingState();
  state.Start();
  state.Next(PageListed{{.resource_version = "100", .continue_ = "token"}});
  const ReflectorAction full = state.Next(ListFailed{kExpiredStatus});
  EXPECT_EQ(full.kind, Kind::kListPage);
  EXPECT_TRUE(full.restart);
  EXPECT_EQ(full.options.limit, 0);
  EXPECT_EQ(full.options.resource_version, "0");
  EXPECT_EQ(full.options.continue_, "");
}

TEST(ReflectorStateTest, ABrokenPageIsAskedForAgain) {
  ReflectorState state = ListingState();
  state.Start();
  state.Next(PageListed{{.resource_version = "100", .continue_ = "token"}});
  for (int i = 0; i < 3; ++i) {
    const ReflectorAction again = state.Next(ListFailed{kRefused});
    EXPECT_FALSE(again.restart);
    EXPECT_TRUE(again.backoff);
    EXPECT_EQ(again.options.continue_, "token");
  }
  EXPECT_TRUE(state.Next(ListFailed{kRefused}).restart);
}

TEST(ReflectorStateTest, ARelistAsksAtTheLastVersionWithoutLimit) {
  ReflectorState state = Watching();
  state.Applied(WatchEventType::kModified, "120");
  const ReflectorAction list = state.Next(Ended(kExpiredStatus, true, false));
  EXPECT_EQ(list.kind, Kind::kListPage);
  EXPECT_FALSE(list.backoff);
  EXPECT_EQ(list.options.resource_version, "120");
  EXPECT_EQ(list.options.limit, 0);
}

TEST(ReflectorStateTest, PagingStaysOnWhenTheServerHasNoWatchCache) {
  ReflectorState state = ListingState();
  state.Start();
  state.Next(PageListed{{.resource_version = "100", .continue_ = "token"}});
  state.Next(PageListed{{.resource_version = "100"}});
  state.Next(Committed{});
  EXPECT_EQ(state.Next(Ended(kExpiredStatus)).options.limit, 500);
}

TEST(ReflectorStateTest, AnUnusableVersionIsReplacedByTheMostRecentOnceAndAtOnce) {
  for (const Status& status : {kExpiredStatus, TooLarge()}) {
    ReflectorState state = Watching();
    state.Next(Ended(kExpiredStatus));
    const ReflectorAction fresh = state.Next(ListFailed{status});
    EXPECT_EQ(fresh.options.resource_version, "");
    EXPECT_EQ(fresh.options.limit, 500);
    EXPECT_FALSE(fresh.backoff);
    EXPECT_TRUE(fresh.restart);
    const ReflectorAction later = state.Next(ListFailed{status});
    EXPECT_TRUE(later.backoff);
    EXPECT_EQ(later.options.resource_version, "");
  }
}

TEST(ReflectorStateTest, ARefusedVersionIsReplacedByTheMostRecentOnceAndAtOnce) {
  for (const Reason reason : {Reason::kBadRequest, Reason::kInvalid}) {
    const Status status(reason, "invalid resource version", 400);
    ReflectorState state = Watching();
    state.Next(Ended(kExpiredStatus));
    const ReflectorAction fresh = state.Next(ListFailed{status});
    EXPECT_EQ(fresh.options.resource_version, "");
    EXPECT_FALSE(fresh.backoff);
    EXPECT_TRUE(fresh.restart);
    const ReflectorAction later = state.Next(ListFailed{status});
    EXPECT_TRUE(later.backoff) << "it was not the version";
    EXPECT_EQ(later.options.resource_version, "");
    EXPECT_TRUE(state.Next(ListFailed{status}).backoff);
  }
}

TEST(ReflectorStateTest, ACleanlyClosedWatchReopensAtOnceAtTheLastVersion) {
  ReflectorState state = Watching();
  state.Applied(WatchEventType::kAdded, "101");
  const ReflectorAction again = state.Next(Closed(true, false));
  EXPECT_EQ(again.kind, Kind::kWatch);
  EXPECT_EQ(again.options.resource_version, "101");
  EXPECT_FALSE(again.backoff);
}

TEST(ReflectorStateTest, BookmarksMoveTheVersion) {
  ReflectorState state = Watching();
  state.Applied(WatchEventType::kBookmark, "150");
  EXPECT_EQ(state.Next(Closed(true, false)).options.resource_version, "150");
}

TEST(ReflectorStateTest, ABrokenStreamResumesInsteadOfListing) {
  ReflectorState state = Watching();
  state.Applied(WatchEventType::kModified, "101");
  const ReflectorAction again = state.Next(Ended(kRefused, true, false));
  EXPECT_EQ(again.kind, Kind::kWatch);
  EXPECT_EQ(again.options.resource_version, "101");
  EXPECT_FALSE(again.backoff);
}

TEST(ReflectorStateTest, AnOutageBacksOffInPlaceForEver) {
  for (const Reason reason : {Reason::kUnavailable, Reason::kTooManyRequests,
                              Reason::kServiceUnavailable, Reason::kForbidden}) {
    ReflectorState state = Watching();
    for (int i = 0; i < 50; ++i) {
      const ReflectorAction asking = state.Next(Ended({reason, "away"}));
      EXPECT_TRUE(asking.backoff);
      const ReflectorAction again = Resumed(state, asking);
      EXPECT_EQ(again.kind, Kind::kWatch);
      EXPECT_EQ(again.options.resource_version, "100");
      EXPECT_FALSE(again.backoff);
    }
  }
}

TEST(ReflectorStateTest, RetryAfterIsHonoured) {
  ReflectorState state = Watching();
  Status status(Reason::kTooManyRequests, "slow down", 429);
  status.details.retry_after = std::chrono::seconds(7);
  EXPECT_EQ(state.Next(Ended(status)).min_delay, std::chrono::seconds(7));
}

TEST(ReflectorStateTest, RetryAfterIsEnoughSomeTimesInARow) {
  ReflectorState state = Watching();
  Status status(Reason::kTooManyRequests, "slow down", 429);
  status.details.retry_after = std::chrono::seconds(1);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 10; ++i) {
      const ReflectorAction asking = state.Next(Ended(status));
      EXPECT_TRUE(asking.as_told);
      Resumed(state, asking);
    }
    const ReflectorAction overloaded = state.Next(Ended(status));
    EXPECT_TRUE(overloaded.backoff);
    EXPECT_FALSE(overloaded.as_told);
    Resumed(state, overloaded);
    EXPECT_FALSE(state.Next(Closed(true, false)).backoff);
  }
  EXPECT_FALSE(state.Next(Ended(kRefused)).as_told);
}

TEST(ReflectorStateTest, ErrorsWithoutProgressEndInAList) {
  ReflectorState state = Watching();
  EXPECT_EQ(Resumed(state, state.Next(Ended(kInternal))).kind, Kind::kWatch);
  EXPECT_EQ(Resumed(state, state.Next(Ended(kInternal))).kind, Kind::kWatch);
  const ReflectorAction list = state.Next(Ended(kInternal));
  EXPECT_EQ(list.kind, Kind::kListPage);
  EXPECT_TRUE(list.backoff);
}

TEST(ReflectorStateTest, ProgressForgivesEarlierErrors) {
  ReflectorState state = Watching();
  for (int i = 0; i < 20; ++i) {
    const ReflectorAction asking = state.Next(Ended(kInternal));
    EXPECT_EQ(Resumed(state, asking, state.last_resource_version()).kind, Kind::kWatch);
    EXPECT_EQ(state.Next(Ended(kInternal, true, false)).kind, Kind::kWatch);
    state.Applied(WatchEventType::kBookmark, std::to_string(101 + i));
  }
}

TEST(ReflectorStateTest, AVeryShortWatchIsDelayed) {
  ReflectorState state = Watching();
  EXPECT_TRUE(state.Next(Closed(false, true)).backoff);
}

TEST(ReflectorStateTest, ShortWatchesWithEventsAreDelayedFromTheSecondOn) {
  ReflectorState state = Watching();
  EXPECT_FALSE(state.Next(Closed(true, true)).backoff);
  EXPECT_TRUE(state.Next(Closed(true, true)).backoff);
  EXPECT_FALSE(state.Next(Closed(true, false)).backoff);
  EXPECT_FALSE(state.Next(Closed(true, true)).backoff);
}

TEST(ReflectorStateTest, AfterA410TheListComesAtOnceTheFirstTimeOnly) {
  ReflectorState state = Watching();
  for (const bool delayed : {false, true, true}) {
    const ReflectorAction list = state.Next(Ended(kExpiredStatus));
    EXPECT_EQ(list.kind, Kind::kListPage);
    EXPECT_EQ(list.backoff, delayed) << "a server that always refuses is not asked without pause";
    state.Next(PageListed{{.resource_version = "12"}});
    EXPECT_EQ(state.Next(Committed{}).kind, Kind::kWatch);
  }
  EXPECT_FALSE(state.Next(At(kStart + minutes(30), Ended(kExpiredStatus))).backoff)
      << "that was long ago";
}

TEST(ReflectorStateTest, WatchesOfUseDoNotMakeListsAfterA410ComeAtOnce) {
  for (const bool slow : {true, false}) {
    ReflectorState state = Watching();
    base::TimePoint now = kStart;
    for (const bool delayed : {false, true, true, true}) {
      now += seconds(10);
      EXPECT_EQ(state.Next(At(now, Closed(true, false))).kind, Kind::kWatch);
      now += seconds(2);
      const ReflectorAction list = state.Next(At(now, Ended(kExpiredStatus, !slow, !slow)));
      EXPECT_EQ(list.kind, Kind::kListPage);
      EXPECT_EQ(list.backoff, delayed) << "a watch cache that is too small for the list's time";
      state.Next(PageListed{{.resource_version = "112"}});
      EXPECT_EQ(state.Next(Committed{}).kind, Kind::kWatch);
    }
  }
}

TEST(ReflectorStateTest, ASourceWithoutVersionsIsNotListedAtOnceForEver) {
  ReflectorState state = ListingState();
  state.Start();
  base::TimePoint now = kStart;
  for (const bool delayed : {false, true, true}) {
    state.Next(PageListed{{.resource_version = ""}});
    EXPECT_EQ(state.Next(Committed{}).kind, Kind::kWatch);
    now += seconds(3);
    const ReflectorAction list = state.Next(At(now, Closed(true, false)));
    EXPECT_EQ(list.kind, Kind::kListPage);
    EXPECT_EQ(list.backoff, delayed);
  }
}

TEST(ReflectorStateTest, WhatWasMissedIsListedWhenTheWatchEndsAndNeverAtOnce) {
  ReflectorState state = Watching();
  state.Missed();
  EXPECT_EQ(state.Next(Ended(kRefused)).kind, Kind::kAskVersion)
      << "a server that is away has nothing new";
  EXPECT_EQ(state.Next(VersionAsked{.version = "100"}).kind, Kind::kWatch);
  const ReflectorAction list = state.Next(Closed(true, false));
  EXPECT_EQ(list.kind, Kind::kListPage);
  EXPECT_TRUE(list.backoff);
  state.Next(PageListed{{.resource_version = "12"}});
  state.Next(Committed{});
  EXPECT_EQ(state.Next(Closed(true, false)).kind, Kind::kWatch) << "this list missed nothing";
}

TEST(ReflectorStateTest, WhatWasMissedIsListedAlsoWhereWatchesOnlyBreak) {
  for (const auto& [made_progress, was_short] : {std::pair(false, false), std::pair(true, true)}) {
    ReflectorState state = Watching();
    state.Missed();
    const ReflectorAction list = state.Next(Ended(kRefused, made_progress, was_short));
    EXPECT_EQ(list.kind, Kind::kListPage);
    EXPECT_TRUE(list.backoff);
  }
}

TEST(ReflectorStateTest, ARetryAfterOfHoursIsNotWaitedFor) {
  ReflectorState state = Watching();
  Status maintenance = kRefused;
  maintenance.details.retry_after = std::chrono::hours(24);
  EXPECT_EQ(state.Next(Ended(maintenance)).min_delay, std::chrono::minutes(2));
}

TEST(ReflectorStateTest, AnEventFromBeforeWhatIsKnownIsListedForAfresh) {
  ReflectorState state = Watching();
  const std::string known = state.last_resource_version();
  EXPECT_FALSE(state.GoesBack(known, {}));
  EXPECT_FALSE(state.GoesBack(known + "0", {}));
  EXPECT_FALSE(state.GoesBack("", {})) << "an event without a version tells nothing";
  EXPECT_FALSE(state.GoesBack("a1", {}));
  ASSERT_TRUE(state.GoesBack("1", {}));
  const ReflectorAction list = state.Next(Ended(kExpiredStatus, true, true));
  EXPECT_EQ(list.kind, Kind::kListPage);
  EXPECT_EQ(list.options.resource_version, "") << "the version is of another history";
  EXPECT_FALSE(list.backoff);
  state.Next(PageListed{{.resource_version = "3"}});
  EXPECT_EQ(state.Next(Committed{}).options.resource_version, "3");
  EXPECT_TRUE(state.GoesBack("2", {})) << "it may happen again";
}

TEST(ReflectorStateTest, ASourceThatDoesNotOrderItsVersionsIsListedForThatSeldom) {
  ReflectorState state = Watching();
  ASSERT_TRUE(state.GoesBack("1", kStart));
  state.Next(Ended(kExpiredStatus, true, true));
  state.Next(PageListed{{.resource_version = "1000"}});
  state.Next(Committed{});
  EXPECT_FALSE(state.GoesBack("1", kStart + minutes(1)));
  EXPECT_TRUE(state.GoesBack("1", kStart + minutes(60)))
      << "it may have been a restore whose list came late";
}

TEST(ReflectorStateTest, ASourceWhoseListsAreOlderThanItsEventsIsNotListedForThemInALoop) {
  ReflectorState state = ListingState();
  state.Start();
  state.Next(PageListed{{.resource_version = "1"}});
  state.Next(Committed{});
  state.Applied(WatchEventType::kModified, "5");
  ASSERT_TRUE(state.GoesBack("3", kStart));
  state.Next(At(kStart, Ended(kExpiredStatus, true, true)));
  state.Next(PageListed{{.resource_version = "1"}});
  state.Next(Committed{});
  state.Applied(WatchEventType::kModified, "5");
  EXPECT_FALSE(state.GoesBack("3", kStart + minutes(1)))
      << "an API server's list is not older than an event before it";
}

TEST(ReflectorStateTest, AServerThatWasAwayIsAskedForItsVersionBeforeTheWatchGoesOn) {
  ReflectorState state = Watching();
  const ReflectorAction asking = state.Next(Ended(kRefused));
  EXPECT_EQ(asking.kind, Kind::kAskVersion);
  EXPECT_FALSE(asking.restart) << "what has been read so far is not touched";
  const ReflectorAction watch = state.Next(VersionAsked{.version = "104"});
  EXPECT_EQ(watch.kind, Kind::kWatch);
  EXPECT_EQ(watch.options.resource_version, "100");
  EXPECT_FALSE(watch.on_trial);
  EXPECT_EQ(state.Next(Closed(false, false)).kind, Kind::kWatch) << "an ordinary renewal";
}

TEST(ReflectorStateTest, ARestoredServerThatSaysNothingIsListedAfresh) {
  ReflectorState state = Watching();
  state.Next(Ended(kRefused));
  const ReflectorAction list = state.Next(VersionAsked{.version = "90", .when = kStart});
  EXPECT_EQ(list.kind, Kind::kListPage);
  EXPECT_TRUE(list.restart);
  EXPECT_EQ(list.options.resource_version, "") << "the version is of another history";
  state.Next(PageListed{{.resource_version = "92"}});
  EXPECT_EQ(state.Next(Committed{}).options.resource_version, "92");
}

TEST(ReflectorStateTest, AfterABrokenWatchTheNextBeginsAtOnceOnTrial) {
  ReflectorState state = Watching();
  const ReflectorAction watch = state.Next(Ended(kRefused, true, false));
  EXPECT_EQ(watch.kind, Kind::kWatch);
  EXPECT_TRUE(watch.on_trial);
  state.Applied(WatchEventType::kBookmark, "100");
  const ReflectorAction asking = state.Next(Closed(true, false));
  EXPECT_EQ(asking.kind, Kind::kAskVersion) << "it has shown nothing that is newer";
  EXPECT_FALSE(asking.backoff);
  EXPECT_FALSE(Resumed(state, asking, "100").on_trial);
}

TEST(ReflectorStateTest, ANewerEventOrBookmarkSparesTheQuestion) {
  for (const WatchEventType type :
       {WatchEventType::kBookmark, WatchEventType::kModified, WatchEventType::kDeleted}) {
    ReflectorState state = Watching();
    EXPECT_TRUE(state.Next(Ended(kRefused, true, false)).on_trial);
    state.Applied(type, "101");
    const ReflectorAction watch = state.Next(Closed(true, false));
    EXPECT_EQ(watch.kind, Kind::kWatch);
    EXPECT_FALSE(watch.on_trial);
  }
}

TEST(ReflectorStateTest, AServerThatIsStillAwayIsAskedAgainAfterABackoffAndNowAndThenWatched) {
  ReflectorState state = Watching();
  state.Next(Ended(kRefused));
  for (int i = 0; i < 20; ++i) {
    for (int asked = 0; asked < 2; ++asked) {
      const ReflectorAction again = state.Next(VersionAsked{.version = Fail(kRefused)});
      EXPECT_EQ(again.kind, Kind::kAskVersion);
      EXPECT_TRUE(again.backoff);
    }
    const ReflectorAction watch = state.Next(VersionAsked{.version = Fail(kRefused)});
    EXPECT_EQ(watch.kind, Kind::kWatch) << "its list may be what does not come through";
    EXPECT_TRUE(watch.backoff);
    EXPECT_TRUE(watch.on_trial);
    EXPECT_EQ(state.Next(Ended(kRefused)).kind, Kind::kAskVersion);
  }
}

TEST(ReflectorStateTest, WhoMayNotListWatchesAllTheSame) {
  ReflectorState state = Watching();
  state.Next(Ended(kRefused));
  const VersionAsked denied{.version = Fail(Reason::kForbidden, "no list", 403)};
  const ReflectorAction first = state.Next(denied);
  EXPECT_EQ(first.kind, Kind::kWatch);
  EXPECT_FALSE(first.backoff);
  EXPECT_TRUE(first.on_trial) << "a server that is starting says so, too";
  EXPECT_EQ(state.Next(Closed(false, false)).kind, Kind::kAskVersion);
  const ReflectorAction watch = state.Next(denied);
  EXPECT_EQ(watch.kind, Kind::kWatch);
  EXPECT_FALSE(watch.on_trial) << "it would be refused again";
}

TEST(ReflectorStateTest, AQuestionThatIsPutOffIsAskedAfterTheNextWatch) {
  Status busy(Reason::kTooManyRequests, "slow down", 429);
  busy.details.retry_after = seconds(7);
  for (const Status& status : {busy, kInternal}) {
    ReflectorState state = Watching();
    state.Next(Ended(kRefused));
    const ReflectorAction watch = state.Next(VersionAsked{.version = Fail(status)});
    EXPECT_EQ(watch.kind, Kind::kWatch);
    EXPECT_TRUE(watch.backoff);
    EXPECT_EQ(watch.min_delay, status.details.retry_after);
    EXPECT_TRUE(watch.on_trial);
    EXPECT_EQ(state.Next(Closed(false, false)).kind, Kind::kAskVersion);
  }
}

TEST(ReflectorStateTest, AnAnswerThatIsNoNumberTellsNothing) {
  ReflectorState state = Watching();
  for (const char* version : {"", "a1"}) {
    EXPECT_EQ(Resumed(state, state.Next(Ended(kRefused)), version).kind, Kind::kWatch);
  }
}

TEST(ReflectorStateTest, AServerOlderThanUsIsListedAfresh) {
  ReflectorState state = Watching();
  const ReflectorAction list = state.Next(Ended(TooLarge()));
  EXPECT_EQ(list.kind, Kind::kListPage);
  EXPECT_EQ(list.options.resource_version, "");
}

TEST(ReflectorStateTest, AStoresRefusalGivesAFullState) {
  ReflectorState state = Watching();
  const ReflectorAction list = state.Next(StoreFailed{kInternal});
  EXPECT_EQ(list.kind, Kind::kListPage);
  EXPECT_TRUE(list.restart);
  EXPECT_TRUE(list.backoff);
}

TEST(ReflectorStateTest, WithoutAVersionTheAddedRunDoesNotMoveIt) {
  ReflectorState state = ListingState();
  state.Start();
  state.Next(PageListed{{.resource_version = ""}});
  EXPECT_EQ(state.Next(Committed{}).options.resource_version, "");
  state.Applied(WatchEventType::kAdded, "90");
  EXPECT_EQ(state.last_resource_version(), "");
  state.Applied(WatchEventType::kModified, "91");
  state.Applied(WatchEventType::kAdded, "92");
  EXPECT_EQ(state.last_resource_version(), "92");
}

TEST(ReflectorStateTest, WatchListBeginsWithAConsistentSnapshot) {
  ReflectorState state({});
  const ReflectorAction action = state.Start();
  EXPECT_EQ(action.kind, Kind::kWatchList);
  EXPECT_EQ(action.options.resource_version, "");
  EXPECT_EQ(action.options.resource_version_match, "NotOlderThan");
  EXPECT_EQ(action.options.send_initial_events, true);
  EXPECT_TRUE(action.options.allow_watch_bookmarks);
  EXPECT_TRUE(state.in_initial_events());
  state.InitialEventsEnded("100");
  EXPECT_FALSE(state.in_initial_events());
  const ReflectorAction watch = state.Next(Closed(true, false));
  EXPECT_EQ(watch.kind, Kind::kWatch);
  EXPECT_EQ(watch.options.resource_version, "100");
  EXPECT_FALSE(watch.options.send_initial_events.has_value());
}

TEST(ReflectorStateTest, ARelistByWatchListAsksNotOlderThanTheLastVersion) {
  ReflectorState state = Watching(true);
  state.Applied(WatchEventType::kModified, "120");
  const ReflectorAction action = state.Next(Ended(kExpiredStatus, true, false));
  EXPECT_EQ(action.kind, Kind::kWatchList);
  EXPECT_EQ(action.options.resource_version, "120");
  const ReflectorAction fresh = state.Next(Ended(TooLarge()));
  EXPECT_EQ(fresh.kind, Kind::kWatchList);
  EXPECT_EQ(fresh.options.resource_version, "");
  EXPECT_FALSE(fresh.backoff);
}

TEST(ReflectorStateTest, AServerWithoutWatchListIsNotAskedAgain) {
  ReflectorState state({});
  state.Start();
  const ReflectorAction list = state.Next(Ended({Reason::kInvalid, "forbidden", 422}));
  EXPECT_EQ(list.kind, Kind::kListPage);
  EXPECT_FALSE(list.backoff);
  EXPECT_EQ(list.options.resource_version, "0");
  state.Next(PageListed{{.resource_version = "100"}});
  state.Next(Committed{});
  EXPECT_EQ(state.Next(Ended(kExpiredStatus)).kind, Kind::kListPage);
}

TEST(ReflectorStateTest, AWatchListInAnOutageIsAskedAgain) {
  ReflectorState state({});
  state.Start();
  const ReflectorAction again = state.Next(Ended(kRefused));
  EXPECT_EQ(again.kind, Kind::kWatchList);
  EXPECT_TRUE(again.backoff);
  EXPECT_TRUE(again.restart);
}

TEST(ReflectorStateTest, AWatchListThatNeverEndsItsInitialEventsFallsBackToList) {
  ReflectorState state({});
  state.Start();
  EXPECT_EQ(state.Next(Closed(true, false)).kind, Kind::kWatchList);
  EXPECT_EQ(state.Next(Closed(true, false)).kind, Kind::kListPage);
}

}  // namespace
}  // namespace kubexx::cache
