#include "kubexx/controller/consistency_store.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/logging/testing/capture.h"

namespace kubexx::controller {
namespace {

const workqueue::Key kOwner{.object = {"ns", "owner"}};
const workqueue::Key kOther{.object = {"ns", "other"}};

class ConsistencyStoreTest : public ::testing::Test {
 protected:
  void Wrote(const std::string& resource, const std::string& version,
             const workqueue::Key& owner = kOwner) {
    store_.Wrote(owner,
                 {.resource = resource, .version = version, .cached = [this] { return cached_; }});
  }

  base::testing::FakeClock clock_;
  ConsistencyStore store_{clock_};
  std::string cached_ = "10";
};

TEST_F(ConsistencyStoreTest, EachCacheOfAResourceIsWaitedFor) {
  std::string metadata = "10";
  const auto wrote = [&](const std::string& version) {
    const auto write = [&](std::string& cache) {
      return ConsistencyStore::Write{.resource = "v1/pods",
                                     .version = version,
                                     .cached = [&cache] { return cache; },
                                     .cache = &cache};
    };
    store_.Wrote(kOwner, write(cached_));
    store_.Wrote(kOwner, write(metadata));
  };
  wrote("11");
  cached_ = "11";
  EXPECT_TRUE(store_.Check(kOwner)) << "the metadata are behind";
  metadata = "11";
  EXPECT_FALSE(store_.Check(kOwner));
  wrote("12");
  metadata = "12";
  EXPECT_TRUE(store_.Check(kOwner)) << "the objects are behind";
  cached_ = "12";
  EXPECT_FALSE(store_.Check(kOwner));
  EXPECT_EQ(store_.size(), 0U);
}

TEST_F(ConsistencyStoreTest, OwnWriteIsWaitedFor) {
  EXPECT_FALSE(store_.Check(kOwner));
  Wrote("v1/pods", "11");
  const auto stale = store_.Check(kOwner);
  ASSERT_TRUE(stale);
  EXPECT_EQ(stale->resource, "v1/pods");
  EXPECT_EQ(stale->written, "11");
  EXPECT_EQ(stale->cached, "10");
  EXPECT_FALSE(store_.Check(kOther)) << "the others go on";
  cached_ = "11";
  EXPECT_FALSE(store_.Check(kOwner));
  EXPECT_EQ(store_.size(), 0U);
}

TEST_F(ConsistencyStoreTest, NewestOfSeveralWritesCounts) {
  Wrote("v1/pods", "11");
  Wrote("v1/pods", "15");
  Wrote("v1/pods", "12");
  cached_ = "14";
  EXPECT_TRUE(store_.Check(kOwner));
  cached_ = "15";
  EXPECT_FALSE(store_.Check(kOwner));
}

TEST_F(ConsistencyStoreTest, EveryResourceIsWaitedFor) {
  Wrote("v1/pods", "11");
  std::string secrets = "5";
  store_.Wrote(kOwner,
               {.resource = "v1/secrets", .version = "12", .cached = [&] { return secrets; }});
  cached_ = "11";
  EXPECT_EQ(store_.Check(kOwner)->resource, "v1/secrets");
  secrets = "100";
  EXPECT_FALSE(store_.Check(kOwner));
}

TEST_F(ConsistencyStoreTest, CacheWithoutAFirstListIsBehind) {
  Wrote("v1/pods", "1");
  cached_ = "";
  EXPECT_TRUE(store_.Check(kOwner));
  clock_.Advance(ConsistencyStore::kPatience);
  EXPECT_FALSE(store_.Check(kOwner)) << "a namespace that may not be read has none for ever";
}

TEST_F(ConsistencyStoreTest, EveryNamespaceHasAVersionOfItsOwn) {
  std::string quiet = "3";
  const auto wrote = [&](const char* namespace_, const char* version, std::string& cached) {
    store_.Wrote(kOwner, {.resource = "v1/pods",
                          .namespace_ = namespace_,
                          .version = version,
                          .cached = [&cached] { return cached; }});
  };
  wrote("busy", "11", cached_);
  cached_ = "12";
  EXPECT_FALSE(store_.Check(kOwner)) << "whatever the quiet namespace has seen";
  wrote("busy", "14", cached_);
  wrote("quiet", "13", quiet);
  cached_ = "14";
  EXPECT_EQ(store_.Check(kOwner)->written, "13");
  quiet = "13";
  EXPECT_FALSE(store_.Check(kOwner));
}

TEST_F(ConsistencyStoreTest, WhatASelectorMayHideIsWaitedForLessThanASecond) {
  store_.Wrote(kOwner,
               {.resource = "v1/pods", .version = "11", .may_be_unseen = true, .cached = [this] {
                  return cached_;
                }});
  // These are the controller's delays between checks.
  base::Duration waited{0};
  for (base::Duration delay = std::chrono::milliseconds(2); store_.Check(kOwner); delay *= 2) {
    clock_.Advance(delay);
    waited += delay;
  }
  EXPECT_GE(waited, std::chrono::milliseconds(500));
  EXPECT_LE(waited, std::chrono::seconds(1));
  EXPECT_EQ(store_.size(), 0U);
}

TEST_F(ConsistencyStoreTest, ACacheThatDoesNotComeIsGivenUpWithAWarning) {
  const logging::testing::Capture log;
  store_.Wrote(kOwner,
               {.resource = "v1/pods", .namespace_ = "revoked", .version = "11", .cached = [this] {
                  return cached_;
                }});
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(store_.Check(kOwner)) << "after " << i << " s";
    clock_.Advance(std::chrono::seconds(1));
  }
  EXPECT_EQ(log.Count("has not reached a write"), 0U);
  EXPECT_FALSE(store_.Check(kOwner));
  EXPECT_FALSE(store_.Check(kOwner));
  EXPECT_EQ(store_.size(), 0U);
  EXPECT_EQ(log.Count("has not reached a write"), 1U);
  for (const char* part : {"ns/owner", "v1/pods", "revoked"}) {
    EXPECT_EQ(log.Count(part), 1U) << part;
  }
}

TEST_F(ConsistencyStoreTest, WhatCannotBeComparedIsNotWaitedFor) {
  Wrote("v1/pods", "abc");
  store_.Wrote(kOwner, {.resource = "v1/pods", .version = "11"});
  EXPECT_EQ(store_.size(), 0U);
  Wrote("v1/pods", "11");
  cached_ = "abc";
  EXPECT_FALSE(store_.Check(kOwner));
}

TEST_F(ConsistencyStoreTest, KeysThatAreNeverReconciledAgainGoAway) {
  cached_ = "999999";
  for (int i = 0; i < 20'000; ++i) {
    Wrote("v1/pods", std::to_string(1000 + i), {.object = {"ns", std::to_string(i)}});
    ASSERT_LE(store_.size(), 2'100U) << "after " << i << " keys whose writes have all been seen";
  }
}

TEST_F(ConsistencyStoreTest, WhatIsNotSeenIsKeptHoweverMuchThereIs) {
  for (int i = 0; i < 5'000; ++i) {
    Wrote("v1/pods", std::to_string(1000 + i), {.object = {"ns", std::to_string(i)}});
  }
  EXPECT_EQ(store_.size(), 5'000U);
  EXPECT_TRUE(store_.Check({.object = {"ns", "0"}}));
}

TEST_F(ConsistencyStoreTest, AFirstReadIsNotOlderThanWhatWasWrittenBefore) {
  const auto read = [this](std::string_view resource, std::string_view namespace_ = {}) {
    return store_.CheckRead(resource, namespace_, [this](std::string_view) { return cached_; });
  };
  EXPECT_FALSE(read("v1/pods"));
  store_.WroteUncached({.resource = "v1/pods", .namespace_ = "ns", .version = "12"});
  store_.WroteUncached({.resource = "v1/pods", .namespace_ = "ns", .version = "11"});
  EXPECT_FALSE(store_.Check(kOwner)) << "there may never be a cache";
  EXPECT_FALSE(read("v1/secrets"));
  EXPECT_FALSE(read("v1/pods", "other"));
  for (const char* namespace_ : {"", "ns"}) {
    const auto stale = read("v1/pods", namespace_);
    ASSERT_TRUE(stale);
    EXPECT_EQ(stale->written, "12");
    EXPECT_EQ(stale->cached, "10");
  }
  cached_ = "12";
  EXPECT_FALSE(read("v1/pods", "ns"));
  cached_ = "10";
  EXPECT_FALSE(read("v1/pods", "ns")) << "it has been seen";
}

TEST_F(ConsistencyStoreTest, FirstReadsAreTriedAgainForATime) {
  store_.WroteUncached({.resource = "v1/pods", .version = "11"});
  store_.WroteUncached({.resource = "v1/secrets", .version = "11", .may_be_unseen = true});
  const auto read = [this](std::string_view resource) {
    return store_.CheckRead(resource, {}, [this](std::string_view) { return cached_; }).has_value();
  };
  EXPECT_TRUE(read("v1/secrets"));
  clock_.Advance(ConsistencyStore::kPatience);
  EXPECT_FALSE(read("v1/secrets")) << "a selector may hide it";
  EXPECT_TRUE(read("v1/pods"));
  clock_.Advance(ConsistencyStore::kGiveUp);
  EXPECT_FALSE(read("v1/pods"));
}

TEST_F(ConsistencyStoreTest, AServerThatWasStartedEmptyIsNotWaitedFor) {
  cached_ = "1000";
  Wrote("v1/pods", "1001");
  EXPECT_TRUE(store_.Check(kOwner));
  cached_ = "5";
  EXPECT_FALSE(store_.Check(kOwner)) << "would be waited for until its versions have got there";
}

}  // namespace
}  // namespace kubexx::controller
