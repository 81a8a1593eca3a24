#include "kubexx/reloader/watch/described_list_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string_view>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/cache/shared_informer_base.h"
#include "kubexx/cache/testing/auto_clock.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/testing/new_informer.h"
#include "kubexx/reloader/watch/source_spaces.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;
using apimachinery::Status;

constexpr int kForALongTime = 1'000'000;

class DescribedListWatchTest : public testing::Test {
 protected:
  DescribedListWatchTest() {
    informer_ = NewTestInformer(
        std::make_shared<DescribedListWatch>(source_, fallbacks_, "Certificate", ""),
        {.name = "certificates", .clock = informer_clock_, .use_watch_list = false});
  }
  ~DescribedListWatchTest() override { informer_->Stop(); }

  bool IsMissing(std::string_view verb) const {
    return fallbacks_->IsRefused({.kind = "Certificate", .verb = verb, .namespace_ = ""});
  }

  std::shared_ptr<cache::testing::FakeSource> source_ =
      std::make_shared<cache::testing::FakeSource>();
  base::testing::FakeClock clock_;
  cache::testing::AutoClock informer_clock_;  // does not wait for backoff
  metrics::Registry registry_;
  std::shared_ptr<Fallbacks> fallbacks_ = std::make_shared<Fallbacks>(&registry_, clock_);
  std::shared_ptr<cache::SharedInformerBase> informer_;
};

TEST_F(DescribedListWatchTest, WhatIsNotServedIsNotListedUntilItIs) {
  source_->Put({"ns", "web"}, "1");
  source_->FailLists(Status(Reason::kNotFound, "no such API"), 3);
  informer_->Start();
  source_->AwaitLists(1);
  KX_AWAIT(IsMissing(Fallbacks::kServed) || IsListed(*informer_, ""));
  KX_AWAIT(IsListed(*informer_, ""));
  EXPECT_FALSE(IsMissing(Fallbacks::kServed));
  EXPECT_EQ(informer_->Keys().size(), 1U);
}

TEST_F(DescribedListWatchTest, WhatWasListedIsKeptWhileItIsRefused) {
  source_->Put({"ns", "web"}, "1");
  informer_->Start();
  KX_AWAIT(IsListed(*informer_, ""));
  for (const Reason reason : {Reason::kNotFound, Reason::kForbidden}) {
    source_->FailLists(Status(reason, "no"), kForALongTime);
    source_->FailWatches(Status(reason, "no"), kForALongTime);
    source_->Compact();
    source_->BreakWatches(Status(Reason::kExpired, "too old"));
    KX_AWAIT(IsMissing(reason == Reason::kNotFound ? Fallbacks::kServed : "list"));
    EXPECT_EQ(informer_->Keys().size(), 1U);
  }
  source_->FailWatches(Status(Reason::kNotFound, "no"), 0);
  source_->FailLists(Status(Reason::kNotFound, "no"), 0);
  KX_AWAIT(!IsMissing("list"));
  KX_AWAIT(!IsMissing(Fallbacks::kServed));
  EXPECT_EQ(informer_->Keys().size(), 1U);
}

TEST_F(DescribedListWatchTest, AWatchThatIsRefusedIsTold) {
  source_->FailWatches(Status(Reason::kForbidden, "no"), kForALongTime);
  informer_->Start();
  KX_AWAIT(IsMissing("watch"));
  EXPECT_FALSE(IsMissing("list"));
  source_->FailWatches(Status(Reason::kForbidden, "no"), 0);
  source_->Put({"ns", "web"}, "1");
  KX_AWAIT(informer_->Keys().size() == 1);
  source_->Put({"ns", "web"}, "2");
  source_->AwaitCaughtUp();
  KX_AWAIT(!IsMissing("watch"));
}

}  // namespace
}  // namespace kubexx::reloader
