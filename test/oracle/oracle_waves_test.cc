// What an Oracle says of rollouts in waves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/reloader/model/digest.h"
#include "oracle/oracle.h"
#include "oracle/pod_template.h"

namespace kubexx::oracle {
namespace {

using ::testing::HasSubstr;

constexpr std::chrono::seconds kHealthyFor{5};
constexpr const char* kCanary = "deployments/ns/c";
constexpr const char* kOther = "deployments/ns/d";

std::string DigestFor(const std::string& value) {
  return reloader::DigestOf("key=" + value).ToString();
}

/// A namespace with a ConfigMap, a canary and another Deployment, and an oracle that judges waves.
class OracleWavesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    PutConfig("A");
    PutWorkload({.key = kCanary});
    PutWorkload({.key = kOther});
    oracle_.SetWaves({.spaces = {"ns"}, .canary = "c", .healthy_for = kHealthyFor});
  }

  struct Workload {
    std::string key{};
    std::string value = "A";  ///< that it was rolled for, and that is recorded
    std::string failed{};     ///< it has failed in a wave with these data
    std::string annotations{};
    int generation = 1;
    int observed = 1;
    int available = 1;
    std::string image = "one";
  };
  void PutConfig(const std::string& value) {
    Put("/registry/configmaps/ns/s", R"({"metadata":{},"data":{"key":")" + value + R"("}})");
  }
  void PutWorkload(const Workload& put) {
    const std::string rolled = put.failed.empty()
                                   ? ""
                                   : R"(,"reloader.kubexx.io/rolled-data":"failed u ConfigMap/s=)" +
                                         DigestFor(put.failed) + '"';
    Put("/registry/" + put.key,
        R"({"metadata":{"uid":"u","generation":)" + std::to_string(put.generation) +
            R"(,"annotations":{"reloader.kubexx.io/baseline":"v1 u configmap/s=)" +
            DigestFor(put.value) + '"' + put.annotations + rolled +
            R"(}},"status":{"replicas":1,"availableReplicas":)" + std::to_string(put.available) +
            R"(,"observedGeneration":)" + std::to_string(put.observed) +
            R"(},"spec":{"template":{"spec":{"containers":[{"image":")" + put.image +
            R"(","envFrom":[{"configMapRef":{"name":"s"}}],"env":[{"name":)"
            R"("STAKATER_S_CONFIGMAP","value":")" +
            DigestFor(put.value) + R"("}]}]}}}})");
  }
  /// The canary is rolled for the data, and its pods are there, and perhaps available.
  void RollCanary(const std::string& value, int generation, int available = 1) {
    PutWorkload({.key = kCanary, .value = value, .generation = generation, .observed = 1});
    PutWorkload({.key = kCanary,
                 .value = value,
                 .generation = generation,
                 .observed = generation,
                 .available = available});
  }
  void Pass(std::chrono::seconds time) { now_ = now_.load() + time; }
  Oracle& oracle() { return oracle_; }

 private:
  void Put(const std::string& key, const std::string& value) {
    const auto now = storage_->Get(key, 0, {});
    const bool done = now ? storage_->CompareAndSwap(key, now->mod_revision, value, {})->done
                          : storage_->Create(key, value, {}).has_value();
    ASSERT_TRUE(done);
    const auto written = storage_->CurrentRevision({});
    ASSERT_TRUE(written);
    KX_AWAIT(oracle_.seen() >= *written);
  }

  std::atomic<base::TimePoint> now_ = base::TimePoint(std::chrono::hours(1));
  std::unique_ptr<apiserver::storage::MemoryStorage> storage_ =
      *apiserver::storage::NewMemoryStorage({.base_revision = 1});
  Oracle oracle_{*storage_, [](std::string_view, std::string_view) {},
                 OracleOptions{.exact = true, .now = [this] { return now_.load(); }}};
};

TEST_F(OracleWavesTest, AWaveBeforeItsCanaryIsWrong) {
  PutConfig("B");
  PutWorkload({.key = kOther, .value = "B", .generation = 2});
  EXPECT_THAT(oracle().Wrong().value_or(""), HasSubstr("of an earlier wave has not been healthy"));
}

TEST_F(OracleWavesTest, AWaveAfterAHealthyCanaryIsRight) {
  PutConfig("B");
  RollCanary("B", 2);
  Pass(kHealthyFor);
  PutWorkload({.key = kOther, .value = "B", .generation = 2});
  EXPECT_EQ(oracle().Wrong(), std::nullopt);
}

TEST_F(OracleWavesTest, AWaveBeforeTheCanaryHasBeenHealthyForLongEnoughIsWrong) {
  PutConfig("B");
  RollCanary("B", 2);
  Pass(kHealthyFor - std::chrono::seconds(1));
  PutWorkload({.key = kOther, .value = "B", .generation = 2});
  EXPECT_THAT(oracle().Wrong().value_or(""), HasSubstr("not been healthy for long enough"));
}

TEST_F(OracleWavesTest, WhereClocksDifferTheTimeDoesNotCount) {
  oracle().IgnoreWaveTimes();
  PutConfig("B");
  RollCanary("B", 2);
  PutWorkload({.key = kOther, .value = "B", .generation = 2});
  EXPECT_EQ(oracle().Wrong(), std::nullopt);
}

TEST_F(OracleWavesTest, AWaveAfterACanaryThatCrashesIsWrong) {
  PutConfig("B");
  RollCanary("B", 2, /*available=*/0);
  Pass(kHealthyFor * 2);
  PutWorkload({.key = kOther, .value = "B", .generation = 2});
  EXPECT_THAT(oracle().Wrong().value_or(""), HasSubstr("not been healthy for long enough"));
}

TEST_F(OracleWavesTest, ACanaryThatHasFailedStaysSoWhenItsPodsRun) {
  PutConfig("B");
  RollCanary("B", 2, /*available=*/0);
  PutWorkload({.key = kCanary, .value = "B", .failed = "B", .generation = 2, .observed = 2});
  Pass(kHealthyFor * 2);
  PutWorkload({.key = kOther, .value = "B", .generation = 2});
  EXPECT_THAT(oracle().Wrong().value_or(""), HasSubstr("with which deployments/ns/c has failed"));
}

TEST_F(OracleWavesTest, ACanaryThatHasFailedWithOtherDataHoldsNothingBack) {
  PutConfig("C");
  RollCanary("C", 2);
  PutWorkload({.key = kCanary, .value = "C", .failed = "B", .generation = 2, .observed = 2});
  Pass(kHealthyFor);
  PutWorkload({.key = kOther, .value = "C", .generation = 2});
  EXPECT_EQ(oracle().Wrong(), std::nullopt);
}

TEST_F(OracleWavesTest, NobodyWaitsForACanaryThatWasReleasedWithTheData) {
  PutConfig("B");
  PutWorkload({.key = kCanary,
               .annotations = R"(,"oracle/by":"release-1")",
               .generation = 2,
               .image = "two"});
  PutWorkload({.key = kOther, .value = "B", .generation = 2});
  EXPECT_EQ(oracle().Wrong(), std::nullopt);
}

TEST_F(OracleWavesTest, NobodyWaitsForACanaryThatHasOptedOut) {
  PutConfig("B");
  PutWorkload({.key = kCanary, .annotations = R"(,"reloader.stakater.com/auto":"false")"});
  PutWorkload({.key = kOther, .value = "B", .generation = 2});
  EXPECT_EQ(oracle().Wrong(), std::nullopt);
}

TEST_F(OracleWavesTest, WithoutPoliciesNobodyWaits) {
  oracle().SetWaves({});
  PutConfig("B");
  PutWorkload({.key = kOther, .value = "B", .generation = 2});
  EXPECT_EQ(oracle().Wrong(), std::nullopt);
}

}  // namespace
}  // namespace kubexx::oracle
