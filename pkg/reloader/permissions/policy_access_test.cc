#include "kubexx/reloader/permissions/policy_access.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/cache/testing/fake_source.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;
using apimachinery::Status;
using std::chrono::seconds;

class PolicyAccessTest : public testing::Test {
 protected:
  Reason List() {
    brought_ = 0;
    const auto listed = followed_->List({},
                                        [this](cache::Object&&) {
                                          ++brought_;
                                          return apimachinery::Result<void>();
                                        },
                                        {});
    error_ = listed.error();
    return listed ? Reason::kUnknown : error_.reason;
  }
  Reason Watch() {
    const auto watched =
        followed_->Watch({}, [](cache::WatchEvent&&) { return apimachinery::Result<void>(); }, {});
    return watched ? Reason::kUnknown : watched.error().reason;
  }
  void Refuse(Reason reason) { inner_->FailLists(Status(reason, "refused"), 1); }

  base::testing::FakeClock clock_;
  std::optional<bool> is_served_;
  int awaited_ = 0;  ///< the questions whether what was not served is served by now
  bool is_certain_ = false;
  std::vector<std::string> changes_;
  Status error_;     ///< of the last list
  int brought_ = 0;  ///< by the last list
  PolicyAccess access_{{.clock = clock_,
                        .is_served =
                            [this](bool is_awaited, const std::stop_token&) {
                              awaited_ += is_awaited ? 1 : 0;
                              return is_served_;
                            },
                        .is_certain = [this](const std::stop_token&) { return is_certain_; },
                        .on_change =
                            [this](const std::string& namespace_, bool is_refused) {
                              changes_.push_back(namespace_ + (is_refused ? " refused" : " read"));
                            }}};
  std::shared_ptr<cache::testing::FakeSource> inner_ =
      std::make_shared<cache::testing::FakeSource>();
  std::shared_ptr<cache::ListerWatcher> followed_ = access_.Follow(inner_, "shop");
};

TEST_F(PolicyAccessTest, ARefusalCountsWhenItHasLasted) {
  for (const Reason reason : {Reason::kForbidden, Reason::kUnauthorized, Reason::kNotFound}) {
    Refuse(reason);
    EXPECT_EQ(List(), Reason::kServiceUnavailable);
    EXPECT_TRUE(access_.unread());
    clock_.Advance(seconds(9));
    Refuse(reason);
    EXPECT_EQ(List(), Reason::kServiceUnavailable);
    clock_.Advance(seconds(1));
    Refuse(reason);
    EXPECT_EQ(List(), reason);
    EXPECT_TRUE(access_.unread());
    EXPECT_EQ(List(), Reason::kUnknown) << "granted";
    EXPECT_FALSE(access_.unread());
    Refuse(reason);
    EXPECT_EQ(List(), Reason::kServiceUnavailable) << "another refusal";
    List();
  }
}

TEST_F(PolicyAccessTest, WhatIsRefusedIsAGapUntilWhatIsListedIsKnown) {
  Refuse(Reason::kForbidden);
  List();
  EXPECT_FALSE(access_.GapIn("shop")) << "whoever starts waits for the first list anyway";
  clock_.Advance(seconds(10));
  Refuse(Reason::kForbidden);
  List();
  ASSERT_TRUE(access_.GapIn("shop"));
  EXPECT_EQ(access_.GapIn("shop")->listed, "");
  EXPECT_FALSE(access_.GapIn(""));
  EXPECT_FALSE(access_.GapIn("other"));

  inner_->Put({"shop", "gentle"}, "{}");
  EXPECT_EQ(List(), Reason::kUnknown);
  const std::string version = inner_->resource_version();
  ASSERT_TRUE(access_.GapIn("shop")) << "the list is on its way to the enforcer";
  EXPECT_EQ(access_.GapIn("shop")->listed, version);
  access_.Close("shop", "another");
  EXPECT_TRUE(access_.GapIn("shop"));
  access_.Close("shop", version);
  EXPECT_FALSE(access_.GapIn("shop"));
  EXPECT_THAT(changes_, testing::ElementsAre("shop refused", "shop read"));
}

TEST_F(PolicyAccessTest, ARefusalInBetweenKeepsTheGapOpen) {
  Refuse(Reason::kForbidden);
  List();
  clock_.Advance(seconds(10));
  Refuse(Reason::kForbidden);
  List();
  List();
  const std::string version = inner_->resource_version();
  Refuse(Reason::kForbidden);
  List();
  clock_.Advance(seconds(10));
  Refuse(Reason::kForbidden);
  List();
  access_.Close("shop", version);
  EXPECT_TRUE(access_.GapIn("shop")) << "what was listed before is not all that there may be";
}

TEST_F(PolicyAccessTest, ARefusalThatCountsIsEndedByAListAndByNoWatch) {
  Refuse(Reason::kForbidden);
  List();
  clock_.Advance(seconds(10));
  Refuse(Reason::kForbidden);
  List();
  inner_->Put({"shop", "gentle"}, "{}");
  EXPECT_EQ(Watch(), Reason::kExpired) << "it would tell of no change from before";
  EXPECT_TRUE(access_.unread());
  EXPECT_EQ(inner_->watches(), 0);
  List();
  EXPECT_FALSE(access_.unread());
}

TEST_F(PolicyAccessTest, WhatIsNotServedAnyMoreLeavesNoGap) {
  Refuse(Reason::kForbidden);
  List();
  clock_.Advance(seconds(10));
  Refuse(Reason::kForbidden);
  List();
  is_served_ = false;
  Refuse(Reason::kForbidden);
  EXPECT_EQ(List(), Reason::kForbidden);
  EXPECT_TRUE(access_.GapIn("shop")) << "that it is not served may be a mistake";
  clock_.Advance(seconds(10));
  Refuse(Reason::kForbidden);
  EXPECT_EQ(List(), Reason::kNotFound);
  EXPECT_FALSE(access_.GapIn("shop"));
}

TEST_F(PolicyAccessTest, WhereTheServerCannotBeAskedThereMayBePolicies) {
  is_served_ = std::nullopt;
  Refuse(Reason::kForbidden);
  List();
  clock_.Advance(seconds(10));
  Refuse(Reason::kForbidden);
  EXPECT_EQ(List(), Reason::kForbidden);
  EXPECT_TRUE(access_.GapIn("shop"));
}

TEST_F(PolicyAccessTest, AServerThatDoesNotAnswerInBetweenGrantsNothing) {
  Refuse(Reason::kForbidden);
  List();
  clock_.Advance(seconds(10));
  Refuse(Reason::kServiceUnavailable);
  EXPECT_EQ(List(), Reason::kServiceUnavailable);
  Refuse(Reason::kForbidden);
  EXPECT_EQ(List(), Reason::kForbidden);
}

TEST_F(PolicyAccessTest, WhatIsNotInstalledIsKnownWhenItHasBeenSaidForAWhile) {
  is_served_ = false;
  Refuse(Reason::kNotFound);
  EXPECT_EQ(List(), Reason::kServiceUnavailable) << "a proxy may have answered";
  EXPECT_TRUE(PolicyAccess::SeemsUnserved(error_));
  EXPECT_TRUE(access_.unread());
  clock_.Advance(seconds(10));
  for (const Reason reason : {Reason::kNotFound, Reason::kForbidden}) {
    Refuse(reason);
    EXPECT_EQ(List(), Reason::kNotFound);
    EXPECT_FALSE(access_.unread());
  }
  EXPECT_THAT(changes_, testing::IsEmpty());
  is_served_ = true;
  Refuse(Reason::kNotFound);
  EXPECT_EQ(List(), Reason::kServiceUnavailable);
  EXPECT_FALSE(PolicyAccess::SeemsUnserved(error_));
}

TEST_F(PolicyAccessTest, WhatIsCertainlyNotInstalledIsKnownAtOnce) {
  is_certain_ = true;
  is_served_ = false;
  for (const Reason reason : {Reason::kNotFound, Reason::kForbidden}) {
    Refuse(reason);
    EXPECT_EQ(List(), Reason::kNotFound);
    EXPECT_FALSE(access_.unread());
  }
  is_served_ = std::nullopt;
  Refuse(Reason::kNotFound);
  EXPECT_EQ(List(), Reason::kServiceUnavailable);
}

TEST_F(PolicyAccessTest, WhatIsNotInstalledIsNotListedUntilItIs) {
  is_certain_ = true;
  is_served_ = false;
  Refuse(Reason::kNotFound);
  EXPECT_EQ(List(), Reason::kNotFound);
  const std::size_t lists = inner_->list_requests().size();
  for (int i = 1; i <= 100; ++i) {
    EXPECT_EQ(List(), Reason::kNotFound);
    EXPECT_EQ(awaited_, i) << "an answer that others have got before will do";
  }
  EXPECT_EQ(inner_->list_requests().size(), lists);
  EXPECT_FALSE(access_.unread());
  is_served_ = true;
  EXPECT_EQ(List(), Reason::kUnknown);
  EXPECT_EQ(inner_->list_requests().size(), lists + 1);
}

// Seed 9253 of the simulation: the API was removed while the watch was half-open, so there never
// was an event for the policy that was removed with it.
TEST_F(PolicyAccessTest, PoliciesOfAnApiThatIsGoneAreGoneForWhoHasThem) {
  inner_->PutObject({.encoding = codec::Encoding::kJson,
                     .bytes = R"({"metadata":{"namespace":"shop","name":"gentle"}})",
                     .key = {"shop", "gentle"}});
  EXPECT_EQ(List(), Reason::kUnknown);
  is_served_ = false;
  Refuse(Reason::kNotFound);
  EXPECT_EQ(List(), Reason::kServiceUnavailable) << "a proxy may have answered";
  is_certain_ = true;
  Refuse(Reason::kNotFound);
  EXPECT_EQ(List(), Reason::kUnknown) << "a list without any";
  EXPECT_EQ(brought_, 0);
  EXPECT_EQ(List(), Reason::kNotFound) << "once is enough";
  is_served_ = true;
  EXPECT_EQ(List(), Reason::kUnknown);
  EXPECT_EQ(brought_, 1) << "it is there again";
}

TEST_F(PolicyAccessTest, AListBetweenTwoAnswersMakesTheFirstAMistake) {
  is_served_ = false;
  Refuse(Reason::kNotFound);
  List();
  EXPECT_EQ(List(), Reason::kUnknown) << "granted";
  clock_.Advance(seconds(10));
  Refuse(Reason::kNotFound);
  EXPECT_EQ(List(), Reason::kServiceUnavailable);
}

TEST_F(PolicyAccessTest, AskingForTheVersionEndsNoRefusal) {
  inner_->FailWatches(Status(Reason::kForbidden, "refused"), 2);
  EXPECT_EQ(Watch(), Reason::kServiceUnavailable);
  clock_.Advance(seconds(10));
  EXPECT_TRUE(followed_->CurrentVersion({}));
  EXPECT_EQ(Watch(), Reason::kForbidden) << "it has lasted";
}

TEST_F(PolicyAccessTest, AWatchIsJudgedAsAList) {
  inner_->FailWatches(Status(Reason::kForbidden, "refused"), 1);
  EXPECT_EQ(Watch(), Reason::kServiceUnavailable);
}

}  // namespace
}  // namespace kubexx::reloader
