#include "oracle/oracle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/model/digest.h"

namespace kubexx::oracle {
namespace {

using ::testing::HasSubstr;

constexpr const char* kConfig = "/registry/configmaps/ns/s";
constexpr const char* kWorkload = "/registry/deployments/ns/d";
constexpr const char* kName = "deployments/ns/d";

/// A store and an oracle that follows it. What is written is what a server would have written.
class OracleTest : public ::testing::Test {
 protected:
  /// Begins anew, with another judge.
  void JudgeExactly() {
    oracle_ = std::make_unique<Oracle>(*storage_, Tell(), OracleOptions{.exact = true});
  }

  void Put(const std::string& key, const std::string& value) {
    const auto now = storage_->Get(key, 0, {});
    const bool done = now ? storage_->CompareAndSwap(key, now->mod_revision, value, {})->done
                          : storage_->Create(key, value, {}).has_value();
    ASSERT_TRUE(done);
    AwaitOracle();
  }
  void Delete(const std::string& key) {
    ASSERT_TRUE(storage_->Delete(key, 0, {}));
    AwaitOracle();
  }
  void PutConfig(const std::string& value, const std::string& annotations = "{}") {
    Put(kConfig,
        R"({"metadata":{"annotations":)" + annotations + R"(},"data":{"key":")" + value + R"("}})");
  }
  static std::string TemplateOf(const std::string& variable, const std::string& image = "one") {
    return R"({"spec":{"containers":[{"image":")" + image +
           R"(","envFrom":[{"configMapRef":{"name":"s"}}],"env":[{"name":)"
           R"("STAKATER_S_CONFIGMAP","value":")" +
           variable + R"("}]}]}})";
  }
  /// With the variable and the baseline of these data, and a status of its generation or before it.
  void PutWorkload(const std::string& variable, const std::string& recorded,
                   const std::string& image = "one", bool through = true) {
    Put(kWorkload, R"({"metadata":{"uid":"u","generation":2,"annotations":{)"
                   R"("reloader.kubexx.io/baseline":"v1 u configmap/s=)" +
                       reloader::DigestOf("key=" + recorded).ToString() +
                       R"("}},"status":{"observedGeneration":)" + (through ? "2" : "1") +
                       R"(},"spec":{"template":)" + TemplateOf(variable, image) + "}}");
  }
  Oracle& oracle() { return *oracle_; }

 private:
  static Oracle::Tell Tell() {
    return [](std::string_view, std::string_view) {};
  }
  void AwaitOracle() {
    const auto written = storage_->CurrentRevision({});
    ASSERT_TRUE(written);
    KX_AWAIT(oracle_->seen() >= *written);
  }

  std::unique_ptr<apiserver::storage::MemoryStorage> storage_ =
      *apiserver::storage::NewMemoryStorage({.base_revision = 1});
  std::unique_ptr<Oracle> oracle_ = std::make_unique<Oracle>(*storage_, Tell());
};

TEST_F(OracleTest, ChangedDataMakeAWorkloadStaleUntilItIsRolled) {
  PutConfig("v1");
  PutWorkload("v1", "v1");
  EXPECT_EQ(oracle().Stale(), std::nullopt);
  PutConfig("v2");
  EXPECT_THAT(oracle().Stale().value_or(""), HasSubstr("deployments/ns/d runs with"));
  PutWorkload("v2", "v2");
  EXPECT_EQ(oracle().Stale(), std::nullopt);
  EXPECT_EQ(oracle().TooMany(), std::nullopt);
  EXPECT_EQ(oracle().counts().rollouts, 1U);
  EXPECT_EQ(oracle().counts().without_news, 0U);
}

TEST_F(OracleTest, ARecordOfOtherDataIsStale) {
  PutConfig("v1");
  PutWorkload("v1", "v0");
  EXPECT_EQ(oracle().OldPods(), std::nullopt);
  EXPECT_THAT(oracle().OldRecord().value_or(""), HasSubstr("has a record of other data"));
}

TEST_F(OracleTest, APausedSourceMakesNothingStale) {
  PutConfig("v1");
  PutWorkload("v1", "v1");
  PutConfig("v2", R"({"reloader.kubexx.io/paused":"true"})");
  EXPECT_EQ(oracle().Stale(), std::nullopt);
  PutConfig("v2");
  EXPECT_NE(oracle().Stale(), std::nullopt);
}

TEST_F(OracleTest, TwoRolloutsForOneChangeAreTooMany) {
  PutConfig("v1");
  PutWorkload("v1", "v1");
  PutConfig("v2");
  PutWorkload("v2", "v2");
  PutWorkload("v2 again", "v2");
  EXPECT_THAT(oracle().TooMany().value_or(""), HasSubstr("2 times for 1 changes"));
  EXPECT_EQ(oracle().TooMany(), std::nullopt) << "it begins anew";
  EXPECT_EQ(oracle().counts().without_news, 1U);
}

TEST_F(OracleTest, WhatPeopleDoToATemplateIsNoRollout) {
  PutConfig("v1");
  PutWorkload("v1", "v1");
  PutWorkload("v1", "v1", "two");
  EXPECT_EQ(oracle().counts().rollouts, 0U);
  EXPECT_EQ(oracle().TooMany(), std::nullopt);
}

TEST_F(OracleTest, ChangesThatWereRolledTogetherAreNoReasonForMoreToAnExactJudge) {
  JudgeExactly();
  PutConfig("v1");
  PutWorkload("v1", "v1");
  PutConfig("v2");
  PutConfig("v3");
  PutWorkload("v3", "v3");
  EXPECT_EQ(oracle().TooMany(), std::nullopt);
  PutConfig("v4");
  PutConfig("v5");
  PutWorkload("v5", "v5");
  PutWorkload("v5 again", "v5");
  EXPECT_THAT(oracle().TooMany().value_or(""), HasSubstr("1 times for 0 changes"));
}

TEST_F(OracleTest, ARolloutThatRecordsOlderDataMayBeFollowedByOneToAnExactJudge) {
  JudgeExactly();
  PutConfig("v1");
  PutWorkload("v1", "v1");
  PutConfig("v2");
  PutConfig("v3");
  PutWorkload("v2", "v2");
  PutWorkload("v3", "v3");
  EXPECT_EQ(oracle().TooMany(), std::nullopt);
  EXPECT_EQ(oracle().counts().rollouts, 2U);
}

TEST_F(OracleTest, ARestartIsNoReasonToAnExactJudge) {
  JudgeExactly();
  PutConfig("v1");
  PutWorkload("v1", "v1");
  EXPECT_EQ(oracle().TooMany(), std::nullopt);
  PutWorkload("v1 again", "v1");
  EXPECT_THAT(oracle().TooMany().value_or(""), HasSubstr("1 times for 0 changes"));
}

TEST_F(OracleTest, AnUndoIsNoRolloutAndLeavesADoubt) {
  PutConfig("v1");
  PutWorkload("v1", "v1");
  PutConfig("v2");
  PutWorkload("v2", "v2");
  const auto former = oracle().FormerOf(kName);
  ASSERT_TRUE(former);
  EXPECT_EQ(former->pod_template, *codec::JsonTree::Parse(TemplateOf("v1")));
  EXPECT_THAT(former->annotations.ToJson(), HasSubstr("baseline"));
  oracle().ExpectUndo(kName, former->pod_template);
  PutWorkload("v1", "v1");
  EXPECT_EQ(oracle().counts().rollouts, 1U);
  EXPECT_EQ(oracle().counts().undone, 1U);
  EXPECT_EQ(oracle().Stale(), std::nullopt) << "its pods began with v2, whatever the record says";
  PutConfig("v1");
  EXPECT_NE(oracle().OldPods(), std::nullopt) << "mended, but its pods have what is bad";
  PutWorkload("v1 again", "v1");
  EXPECT_EQ(oracle().OldPods(), std::nullopt);
  EXPECT_EQ(oracle().TooMany(), std::nullopt);
  EXPECT_EQ(oracle().counts().doubted, 0U);
}

TEST_F(OracleTest, ARolloutThatOnlyADoubtAllowsIsCounted) {
  PutConfig("v1");
  PutWorkload("v1", "v1");
  oracle().ExpectUndo(kName, *codec::JsonTree::Parse(TemplateOf("v0")));
  PutWorkload("v0", "v0");
  PutWorkload("v1", "v1");
  EXPECT_EQ(oracle().TooMany(), std::nullopt);
  EXPECT_EQ(oracle().counts().doubted, 1U);
}

TEST_F(OracleTest, ATemplateThatOthersChangeDuringARolloutMayBeRolledOnce) {
  PutConfig("v1");
  PutWorkload("v1", "v1", "one", /*through=*/false);
  PutWorkload("v1", "v1", "two");
  PutWorkload("v1 again", "v1", "two");
  EXPECT_EQ(oracle().TooMany(), std::nullopt);
}

TEST_F(OracleTest, ADeletedWorkloadIsStillJudged) {
  PutConfig("v1");
  PutWorkload("v1", "v1");
  PutWorkload("v1 again", "v1");
  Delete(kWorkload);
  EXPECT_THAT(oracle().TooMany().value_or(""), HasSubstr("1 times for 0 changes"));
}

}  // namespace
}  // namespace kubexx::oracle
