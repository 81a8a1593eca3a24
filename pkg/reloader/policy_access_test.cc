#include "kubexx/reloader/policy_access.h"

#include <gmock/gmock.h>

#include <chrono>

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
    const auto listed =
        source_->List({}, [](cache::Object&&) { return apimachinery::Result<void>(); }, {});
    return listed ? Reason::kUnknown : listed.status().reason;
  }
  void Refuse(Reason reason) { inner_->FailLists(Status(reason, "refused"), 1); }

  base::testing::FakeClock clock_;
  std::optional<bool> is_served_;
  PolicyAccess access_{
      {.clock = clock_, .is_served = [this](const std::stop_token&) { return is_served_; }}};
  std::shared_ptr<cache::testing::FakeSource> inner_ =
      std::make_shared<cache::testing::FakeSource>();
  std::shared_ptr<cache::ListerWatcher> source_ = access_.Follow(inner_);
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

TEST_F(PolicyAccessTest, AServerThatDoesNotAnswerInBetweenGrantsNothing) {
  Refuse(Reason::kForbidden);
  List();
  clock_.Advance(seconds(10));
  Refuse(Reason::kServiceUnavailable);
  EXPECT_EQ(List(), Reason::kServiceUnavailable);
  Refuse(Reason::kForbidden);
  EXPECT_EQ(List(), Reason::kForbidden);
}

TEST_F(PolicyAccessTest, WhatIsNotInstalledIsKnownAtOnce) {
  is_served_ = false;
  for (const Reason reason : {Reason::kNotFound, Reason::kForbidden}) {
    Refuse(reason);
    EXPECT_EQ(List(), Reason::kNotFound);
    EXPECT_FALSE(access_.unread());
  }
  is_served_ = true;
  Refuse(Reason::kNotFound);
  EXPECT_EQ(List(), Reason::kServiceUnavailable);
}

TEST_F(PolicyAccessTest, AWatchIsJudgedAsAList) {
  inner_->FailWatches(Status(Reason::kForbidden, "refused"), 1);
  const auto watched =
      source_->Watch({}, [](cache::WatchEvent&&) { return apimachinery::Result<void>(); }, {});
  ASSERT_FALSE(watched);
  EXPECT_EQ(watched.status().reason, Reason::kServiceUnavailable);
}

}  // namespace
}  // namespace kubexx::reloader
