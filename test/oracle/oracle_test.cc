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
  /// With the variable and the baseline of these data.
  void PutWorkload(const std::string& variable, const std::string& recorded,
                   const std::string& image = "one") {
    Put(kWorkload, R"({"metadata":{"uid":"u","annotations":{"reloader.kubexx.io/baseline":)"
                   R"("v1 u configmap/s=)" +
                       reloader::DigestOf("key=" + recorded).ToString() +
                       R"("}},"spec":{"template":{"spec":{"containers":[{"image":")" + image +
                       R"(","envFrom":[{"configMapRef":{"name":"s"}}],"env":[{"name":)"
                       R"("STAKATER_S_CONFIGMAP","value":")" +
                       variable + R"("}]}]}}}})");
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

}  // namespace
}  // namespace kubexx::simulation
