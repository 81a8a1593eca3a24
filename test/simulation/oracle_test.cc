#include "oracle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/base/clock.h"
#include "kubexx/reloader/model/digest.h"

namespace kubexx::simulation {
namespace {

using ::testing::HasSubstr;

constexpr const char* kConfig = "/registry/configmaps/ns/s";
constexpr const char* kWorkload = "/registry/deployments/ns/d";

/// A store and an oracle that follows it, within a simulation.
class OracleHarness {
 public:
  explicit OracleHarness(Scheduler& scheduler)
      : timeline_(scheduler, false),
        storage_(*apiserver::storage::NewMemoryStorage({.base_revision = Oracle::kFirst})),
        oracle_(*storage_, timeline_) {}

  void Put(const std::string& key, const std::string& value) {
    const auto now = storage_->Get(key, 0, {});
    const bool done = now ? storage_->CompareAndSwap(key, now->mod_revision, value, {})->done
                          : storage_->Create(key, value, {}).has_value();
    ASSERT_TRUE(done);
    ++written_;
    while (oracle_.events() < written_) {
      base::Clock::Real().SleepFor(std::chrono::milliseconds(1), {});
    }
  }
  void PutConfig(const std::string& value) {
    Put(kConfig, R"({"data":{"key":")" + value + R"("}})");
  }
  struct Workload {
    std::string variable{};     ///< empty: none
    std::string recorded{};     ///< the baseline is of these data
    std::string image = "one";  ///< people's part of the template
    std::string annotations{};  ///< more of the workload's, each with a comma before it
    std::string restarted_for{};
  };
  void PutWorkload(const Workload& put) {
    const std::string env = put.variable.empty() ? ""
                                                 : R"({"name":"STAKATER_S_CONFIGMAP","value":")" +
                                                       put.variable + R"("})";
    Put(kWorkload, R"({"metadata":{"uid":"u","annotations":{"reloader.kubexx.io/baseline":)"
                   R"("v1 u configmap/s=)" +
                       reloader::DigestOf("key=" + put.recorded).ToString() + '"' +
                       put.annotations +
                       R"(}},"spec":{"template":{"metadata":{"annotations":{)"
                       R"("reloader.kubexx.io/restarted-for":")" +
                       put.restarted_for + R"("}},"spec":{"containers":[{"image":")" + put.image +
                       R"(","envFrom":[{"configMapRef":{"name":"s"}}],"env":[)" + env + "]}]}}}}");
  }
  void PutWorkload(const std::string& variable, const std::string& recorded,
                   const std::string& image = "one") {
    PutWorkload({.variable = variable, .recorded = recorded, .image = image});
  }
  Oracle& oracle() { return oracle_; }

 private:
  Timeline timeline_;
  std::unique_ptr<apiserver::storage::MemoryStorage> storage_;
  Oracle oracle_;
  std::uint64_t written_ = 0;
};

void InSimulation(const std::function<void(OracleHarness&)>& what) {
  Scheduler scheduler({.seed = 7});
  scheduler.Run([&] {
    OracleHarness harness(scheduler);
    what(harness);
  });
}

TEST(OracleTest, ChangedDataMakeAWorkloadStaleUntilItIsRolled) {
  InSimulation([](OracleHarness& harness) {
    harness.PutConfig("v1");
    harness.PutWorkload("v1", "v1");
    EXPECT_EQ(harness.oracle().Stale(), std::nullopt);
    harness.PutConfig("v2");
    EXPECT_THAT(harness.oracle().Stale().value_or(""), HasSubstr("deployments/ns/d runs with"));
    harness.PutWorkload("v2", "v2");
    EXPECT_EQ(harness.oracle().Stale(), std::nullopt);
    EXPECT_EQ(harness.oracle().TooMany(), std::nullopt);
    EXPECT_EQ(harness.oracle().rollouts(), 1U);
  });
}

TEST(OracleTest, ARecordOfOtherDataIsStale) {
  InSimulation([](OracleHarness& harness) {
    harness.PutConfig("v1");
    harness.PutWorkload("v1", "v0");
    EXPECT_THAT(harness.oracle().Stale().value_or(""), HasSubstr("has a record of other data"));
  });
}

TEST(OracleTest, TwoRolloutsForOneChangeAreTooMany) {
  InSimulation([](OracleHarness& harness) {
    harness.PutConfig("v1");
    // Of a workload that is made soon after a change not all know which of the two came first.
    base::Clock::Real().SleepFor(std::chrono::hours(1), {});
    harness.PutWorkload("v1", "v1");
    harness.PutConfig("v2");
    harness.PutWorkload("v2", "v2");
    harness.PutWorkload("v2 again", "v2");
    EXPECT_THAT(harness.oracle().TooMany().value_or(""), HasSubstr("2 times for 1 changes"));
  });
}

TEST(OracleTest, WhatPeopleDoToATemplateIsNoRollout) {
  InSimulation([](OracleHarness& harness) {
    harness.PutConfig("v1");
    harness.PutWorkload("v1", "v1");
    harness.PutWorkload("v1", "v1", "two");
    EXPECT_EQ(harness.oracle().rollouts(), 0U);
    EXPECT_EQ(harness.oracle().TooMany(), std::nullopt);
  });
}

TEST(OracleTest, ARolloutForDataThatThePodsHaveIsWrong) {
  InSimulation([](OracleHarness& harness) {
    harness.PutConfig("v1");
    harness.PutWorkload("v1", "v1");
    harness.PutConfig("v2");
    harness.PutWorkload("v2", "v2");
    EXPECT_EQ(harness.oracle().Wrong(), std::nullopt);
    harness.PutWorkload({.variable = "v2", .recorded = "v2", .restarted_for = "nothing"});
    EXPECT_THAT(harness.oracle().Wrong().value_or(""), HasSubstr("again for data that its pods"));
  });
}

TEST(OracleTest, ARolloutThatNobodyWantsIsWrongUnlessItWasOnItsWay) {
  for (const bool blind : {false, true}) {
    InSimulation([blind](OracleHarness& harness) {
      const std::string opted_out = R"(,"reloader.stakater.com/auto":"false")";
      harness.PutConfig("v1");
      harness.PutWorkload({.variable = "v1", .recorded = "v1", .annotations = opted_out});
      harness.PutConfig("v2");
      EXPECT_EQ(harness.oracle().Stale(), std::nullopt);
      if (blind) {
        harness.oracle().AllowBlind("deployments/ns/d");
      }
      harness.PutWorkload({.variable = "v2", .recorded = "v2", .annotations = opted_out});
      EXPECT_EQ(harness.oracle().Wrong().has_value(), !blind);
    });
  }
}

TEST(OracleTest, WithNothingInTheWayOperatorsKnowWhatAReleaseHasBroughtToPods) {
  for (const bool strict : {true, false}) {
    InSimulation([strict](OracleHarness& harness) {
      harness.oracle().SetStrict(strict);
      harness.PutConfig("v1");
      harness.PutWorkload("v1", "v1");
      harness.PutConfig("v2");
      harness.PutWorkload("v1", "v1", "two");
      base::Clock::Real().SleepFor(std::chrono::seconds(1), {});
      harness.PutWorkload("v2", "v2", "two");
      EXPECT_EQ(harness.oracle().Wrong().has_value(), strict);
    });
  }
}

TEST(OracleTest, WhatIsOlderThanAllOperatorsIsNotRolledForNothing) {
  InSimulation([](OracleHarness& harness) {
    harness.PutConfig("v1");
    harness.PutWorkload({.recorded = "v1"});
    harness.oracle().SetOldestOperator(2000 * kSecond);
    harness.PutWorkload("v1", "v1");
    EXPECT_THAT(harness.oracle().Wrong().value_or(""), HasSubstr("nothing has changed"));
  });
}

TEST(OracleTest, AnUndoIsKnownByItsMark) {
  InSimulation([](OracleHarness& harness) {
    harness.PutConfig("v1");
    harness.PutWorkload("v1", "v1");
    harness.PutConfig("v2");
    harness.PutWorkload("v2", "v2");
    harness.PutWorkload(
        {.variable = "v1", .recorded = "v1", .annotations = R"(,"simulation/by":"undo-1")"});
    EXPECT_EQ(harness.oracle().rollouts(), 1U);
    const auto former = harness.oracle().FormerOf("deployments/ns/d");
    EXPECT_THAT(former.value_or(Oracle::Former{}).pod_template, HasSubstr(R"("value":"v2")"));
  });
}

}  // namespace
}  // namespace kubexx::simulation
