#include "oracle/oracle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/reloader/model/digest.h"
#include "oracle/pod_template.h"

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
  void JudgeExactly() { oracle_ = NewOracle(/*exact=*/true); }

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
  struct Workload {
    std::string variable{};  ///< empty: none
    std::string recorded{};  ///< the baseline is of these data
    /// People's part of the template.
    std::string image = "one";
    std::string annotations{};  ///< more of the workload's, each with a comma before it
    std::string restarted_for{};
    bool through = true;  ///< the status is of its generation, or before it
    bool paused = false;
  };
  static std::string TemplateOf(const Workload& put) {
    const std::string env = put.variable.empty() ? ""
                                                 : R"({"name":"STAKATER_S_CONFIGMAP","value":")" +
                                                       put.variable + R"("})";
    return R"({"metadata":{"annotations":{"reloader.kubexx.io/restarted-for":")" +
           put.restarted_for + R"("}},"spec":{"containers":[{"image":")" + put.image +
           R"(","envFrom":[{"configMapRef":{"name":"s"}}],"env":[)" + env + "]}]}}";
  }
  void PutWorkload(const Workload& put) {
    Put(kWorkload,
        R"({"metadata":{"uid":"u","generation":2,"annotations":{"reloader.kubexx.io/baseline":)"
        R"("v1 u configmap/s=)" +
            reloader::DigestOf("key=" + put.recorded).ToString() + '"' + put.annotations +
            R"(}},"status":{"observedGeneration":)" + (put.through ? "2" : "1") +
            R"(},"spec":{"paused":)" + (put.paused ? "true" : "false") + R"(,"template":)" +
            TemplateOf(put) + "}}");
  }
  void PutWorkload(const std::string& variable, const std::string& recorded,
                   const std::string& image = "one") {
    PutWorkload({.variable = variable, .recorded = recorded, .image = image});
  }
  void Undo(const std::string& variable, const std::string& recorded) {
    PutWorkload(
        {.variable = variable, .recorded = recorded, .annotations = R"(,"oracle/by":"undo-1")"});
  }
  /// The storage is lost, and restored from a backup of what is there.
  void RestoreAll() {
    auto restored = *apiserver::storage::NewMemoryStorage({.base_revision = 1000});
    ASSERT_TRUE(storage_->GetList(
        "", {},
        [&restored](apiserver::storage::KeyValue&& item) -> apimachinery::Result<void> {
          return restored->Create(item.key, std::string(*item.value), {})
                     ? apimachinery::Result<void>()
                     : apimachinery::Fail(apimachinery::Reason::kInternalError, item.key);
        },
        {}));
    former_storages_.push_back(std::exchange(storage_, std::move(restored)));
    oracle_->Restart(*storage_, 1000);
    AwaitOracle();
  }
  void Pass(std::chrono::seconds time) { now_ = now_.load() + time; }
  base::TimePoint now() const { return now_; }
  Oracle& oracle() { return *oracle_; }

 private:
  std::unique_ptr<Oracle> NewOracle(bool exact) {
    return std::make_unique<Oracle>(
        *storage_, [](std::string_view, std::string_view) {},
        OracleOptions{.exact = exact, .now = [this] { return now_.load(); }});
  }
  void AwaitOracle() {
    const auto written = storage_->CurrentRevision({});
    ASSERT_TRUE(written);
    KX_AWAIT(oracle_->seen() >= *written);
  }

  std::atomic<base::TimePoint> now_ = base::TimePoint(std::chrono::hours(1));
  std::unique_ptr<apiserver::storage::MemoryStorage> storage_ =
      *apiserver::storage::NewMemoryStorage({.base_revision = 1});
  std::vector<std::unique_ptr<apiserver::storage::MemoryStorage>> former_storages_{};
  std::unique_ptr<Oracle> oracle_ = NewOracle(/*exact=*/false);
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
  Pass(std::chrono::hours(1));
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

// The API server's patches leave members in another order.
TEST_F(OracleTest, TheOrderOfMembersIsNoChangeOfATemplate) {
  const auto put = [this](const std::string& pod) {
    Put(kWorkload, R"({"metadata":{"uid":"u","generation":2},"status":{"observedGeneration":2},)"
                   R"("spec":{"template":{"spec":{"containers":[{)" +
                       pod + "}]}}}}");
  };
  const std::string from = R"("envFrom":[{"configMapRef":{"name":"s"}}])";
  PutConfig("v1");
  put(from + R"(,"image":"one")");
  PutConfig("v2");
  put(R"("image":"one",)" + from);
  EXPECT_NE(oracle().OldPods(), std::nullopt) << "nobody has made new pods";
  put(R"("env":[{"name":"STAKATER_S_CONFIGMAP","value":"v2"}],)" + from + R"(,"image":"one")");
  EXPECT_EQ(oracle().OldPods(), std::nullopt);
  EXPECT_EQ(oracle().counts().rollouts, 1U);
}

TEST_F(OracleTest, ChangesThatWereRolledTogetherAreNoReasonForMoreToAnExactJudge) {
  JudgeExactly();
  PutConfig("v1");
  Pass(std::chrono::hours(1));
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
  Pass(std::chrono::hours(1));
  PutWorkload("v1", "v1");
  EXPECT_EQ(oracle().TooMany(), std::nullopt);
  PutWorkload("v1 again", "v1");
  EXPECT_THAT(oracle().TooMany().value_or(""), HasSubstr("1 times for 0 changes"));
}

TEST_F(OracleTest, AnUndoIsNoRolloutAndLeavesADoubt) {
  PutConfig("v1");
  Pass(std::chrono::hours(1));
  PutWorkload("v1", "v1");
  PutConfig("v2");
  PutWorkload("v2", "v2");
  const auto former = oracle().FormerOf(kName);
  ASSERT_TRUE(former);
  EXPECT_EQ(former->pod_template, TemplateOf({.variable = "v1"}));
  EXPECT_THAT(former->annotations, HasSubstr("baseline"));
  Undo("v1", "v1");
  EXPECT_EQ(oracle().counts().rollouts, 1U);
  EXPECT_EQ(oracle().counts().undone, 1U);
  EXPECT_THAT(oracle().FormerOf(kName).value_or(Oracle::Former{}).pod_template,
              HasSubstr(R"("value":"v2")"));
  EXPECT_EQ(oracle().OldPods(), std::nullopt) << "its pods began with v2, whatever the record says";
  EXPECT_THAT(oracle().OldRecord().value_or(""), HasSubstr("has a record of other data"));
  PutConfig("v1");
  EXPECT_NE(oracle().OldPods(), std::nullopt) << "mended, but its pods have what is bad";
  PutWorkload({.variable = "v1",
               .recorded = "v1",
               .annotations = R"(,"oracle/by":"undo-1")",
               .restarted_for = "v1"});
  EXPECT_EQ(oracle().Stale(), std::nullopt);
  EXPECT_EQ(oracle().TooMany(), std::nullopt);
  EXPECT_EQ(oracle().counts().doubted, 0U);
  EXPECT_EQ(oracle().Wrong(), std::nullopt);
}

TEST_F(OracleTest, WhatWasUndoneIsNotRolledAgain) {
  PutConfig("v1");
  PutWorkload("v1", "v1");
  PutConfig("v2");
  PutWorkload("v2", "v2");
  Pass(std::chrono::hours(1));
  Undo("v1", "v1");
  PutWorkload({.variable = "v2", .recorded = "v2", .annotations = R"(,"oracle/by":"undo-1")"});
  EXPECT_THAT(oracle().Wrong().value_or(""), HasSubstr("though it was undone"));
}

// Seed 9227 of the simulation: of a StatefulSet's undo that takes a variable away nothing tells.
TEST_F(OracleTest, AnUndoThatOnlyTakesAStampAwayTellsAnOperatorThatWasNotThereNothing) {
  PutConfig("v1");
  PutWorkload("", "v1");
  PutConfig("v2");
  PutWorkload("v2", "v2");
  PutConfig("v3");
  Pass(std::chrono::hours(1));
  Undo("", "v2");
  PutWorkload({.variable = "v3", .recorded = "v3", .annotations = R"(,"oracle/by":"undo-1")"});
  EXPECT_EQ(oracle().Wrong(), std::nullopt);
}

TEST_F(OracleTest, AnUndoOfAReleaseAloneTellsAnOperatorThatWasNotThereNothing) {
  PutConfig("v1");
  PutWorkload("v1", "v1", "one");
  PutWorkload("v1", "v1", "two");
  PutConfig("v2");
  Pass(std::chrono::hours(1));
  Undo("v1", "v1");
  PutWorkload({.variable = "v2", .recorded = "v2", .annotations = R"(,"oracle/by":"undo-1")"});
  EXPECT_EQ(oracle().Wrong(), std::nullopt);
}

TEST_F(OracleTest, ARolloutThatOnlyADoubtAllowsIsCounted) {
  PutConfig("v1");
  PutWorkload("v1", "v1");
  Undo("v0", "v0");
  PutWorkload({.variable = "v1", .recorded = "v1", .annotations = R"(,"oracle/by":"undo-1")"});
  EXPECT_EQ(oracle().TooMany(), std::nullopt);
  EXPECT_EQ(oracle().counts().rollouts, 1U);
  EXPECT_EQ(oracle().counts().doubted, 1U);
}

TEST_F(OracleTest, ATemplateThatOthersChangeDuringARolloutMayBeRolledOnce) {
  PutConfig("v1");
  Pass(std::chrono::hours(1));
  PutWorkload({.variable = "v1", .recorded = "v1", .through = false});
  PutWorkload("v1", "v1", "two");
  PutWorkload("v1 again", "v1", "two");
  EXPECT_EQ(oracle().counts().rollouts, 1U);
  EXPECT_EQ(oracle().TooMany(), std::nullopt);
}

// An operator that begins cannot know whether the data of a source that was written after a release
// were others when the release began, unless one that knew has written the baseline anew.
TEST_F(OracleTest, WhatMayHaveComeBackAfterAReleaseMayBeRolledForUnlessTheBaselineTells) {
  const auto put = [this](const std::string& version, const std::string& restarted_for) {
    Put(kWorkload,
        R"({"metadata":{"uid":"u","generation":2,"annotations":{"reloader.kubexx.io/baseline":)"
        R"("v2 u 100 configmap/s=)" +
            reloader::DigestOf("key=v1").ToString() + "@" + version +
            R"("},"managedFields":[{"manager":"ci","time":"1970-01-01T00:03:20Z","fieldsV1":)"
            R"({"f:spec":{"f:template":{}}}}]},"status":{"observedGeneration":2},)"
            R"("spec":{"template":)" +
            TemplateOf({.variable = "v1", .restarted_for = restarted_for}) + "}}");
  };
  for (const bool is_told : {false, true}) {
    PutConfig("v1");
    Pass(std::chrono::hours(1));
    put(is_told ? "1000" : "1", "");
    PutConfig("v1", R"({"a":"label"})");
    EXPECT_EQ(oracle().TooMany(), std::nullopt);
    put(is_told ? "1001" : "1000", "doubt");
    EXPECT_EQ(oracle().Wrong().has_value(), is_told);
    EXPECT_EQ(oracle().TooMany().has_value(), is_told);
    Delete(kWorkload);
  }
}

TEST_F(OracleTest, AWorkloadThatIsMadeSoonAfterAChangeMayBeRolledOnce) {
  for (const bool soon : {true, false}) {
    PutConfig(soon ? "v1" : "v2");
    Pass(std::chrono::hours(soon ? 0 : 1));
    PutWorkload("v0", "v1");
    PutWorkload("v1", "v1");
    EXPECT_EQ(oracle().TooMany().has_value(), !soon);
    Delete(kWorkload);
  }
}

TEST_F(OracleTest, ADeletedWorkloadIsStillJudged) {
  PutConfig("v1");
  Pass(std::chrono::hours(1));
  PutWorkload("v1", "v1");
  PutWorkload("v1 again", "v1");
  Delete(kWorkload);
  EXPECT_THAT(oracle().TooMany().value_or(""), HasSubstr("1 times for 0 changes"));
}

TEST_F(OracleTest, ARolloutForDataThatThePodsHaveIsWrong) {
  PutConfig("v1");
  PutWorkload("v1", "v1");
  PutConfig("v2");
  PutWorkload("v2", "v2");
  EXPECT_EQ(oracle().Wrong(), std::nullopt);
  PutWorkload({.variable = "v2", .recorded = "v2", .restarted_for = "nothing"});
  EXPECT_THAT(oracle().Wrong().value_or(""), HasSubstr("again for data that its pods"));
  EXPECT_EQ(oracle().Wrong(), std::nullopt) << "it begins anew";
}

TEST_F(OracleTest, ARolloutThatNobodyWantsIsWrongUnlessItWasOnItsWay) {
  const std::string opted_out = R"(,"reloader.stakater.com/auto":"false")";
  PutConfig("v1");
  PutWorkload({.variable = "v1", .recorded = "v1", .annotations = opted_out});
  PutConfig("v2");
  EXPECT_EQ(oracle().Stale(), std::nullopt);
  oracle().AllowBlind(kName);
  PutWorkload({.variable = "v2", .recorded = "v2", .annotations = opted_out});
  EXPECT_EQ(oracle().Wrong(), std::nullopt);
  Pass(std::chrono::minutes(2));
  PutWorkload({.variable = "v3", .recorded = "v2", .annotations = opted_out});
  EXPECT_THAT(oracle().Wrong().value_or(""), HasSubstr("opted out"));
}

TEST_F(OracleTest, WithNothingInTheWayOperatorsKnowWhatAReleaseHasBroughtToPods) {
  for (const bool strict : {true, false}) {
    oracle().SetStrict(strict);
    PutConfig("v1");
    PutWorkload("v1", "v1");
    PutConfig("v2");
    Pass(std::chrono::seconds(1));
    PutWorkload("v1", "v1", "two");
    Pass(std::chrono::seconds(1));
    PutWorkload("v2", "v2", "two");
    EXPECT_EQ(oracle().Wrong().has_value(), strict);
    Delete(kWorkload);
  }
}

// Seed 30207 of the simulation: operators ask every minute for an API that people have taken away.
TEST_F(OracleTest, OfARolloutThatIsMadeSoonAfterItsApiIsInstalledOperatorsDoNotKnowTheAge) {
  const std::string definition =
      "/registry/apiextensions.k8s.io/customresourcedefinitions/rollouts.argoproj.io";
  const std::string key = "/registry/argoproj.io/rollouts/ns/r";
  for (const int minutes : {1, 3}) {
    const auto put = [&](const std::string& variable) {
      Put(key, R"({"metadata":{"uid":"u"},"spec":{"template":)" +
                   TemplateOf({.variable = variable}) + "}}");
    };
    oracle().SetStrict(true);
    Put(definition, "{}");
    PutConfig("v" + std::to_string(minutes));
    Pass(std::chrono::minutes(minutes));
    put("");
    Pass(std::chrono::seconds(1));
    put("rolled");
    EXPECT_EQ(oracle().Wrong().has_value(), minutes == 3);
    Delete(key);
    Delete(definition);
  }
}

TEST_F(OracleTest, WhatIsOlderThanAllOperatorsIsNotRolledForNothing) {
  PutConfig("v1");
  PutWorkload({.recorded = "v1"});
  oracle().SetOldestOperator(now() + std::chrono::seconds(20));
  PutWorkload("v1", "v1");
  EXPECT_THAT(oracle().Wrong().value_or(""), HasSubstr("nothing has changed"));
}

// Seed 20239 of the simulation: a list told an operator of a workload that was made after a change.
// It recorded what was there before, since it could not know the age, and ended.
TEST_F(OracleTest, WhatAnOperatorOfBeforeHasRecordedIsAReasonForTheNextOne) {
  PutConfig("v2");
  PutWorkload({.recorded = "v1"});
  oracle().SetOldestOperator(now() + std::chrono::seconds(20));
  PutWorkload("v2", "v2");
  EXPECT_EQ(oracle().Wrong(), std::nullopt);
}

TEST_F(OracleTest, NobodyEndsAPersonsPause) {
  PutConfig("v1");
  const std::string held = R"(,"oracle/held":"true")";
  PutWorkload({.recorded = "v1", .annotations = held, .paused = true});
  EXPECT_EQ(oracle().Stale(), std::nullopt);
  PutWorkload({.recorded = "v1", .annotations = held});
  EXPECT_THAT(oracle().Wrong().value_or(""), HasSubstr("was resumed, though"));
  PutWorkload({.recorded = "v1", .paused = true});
  EXPECT_THAT(oracle().Stale().value_or(""), HasSubstr("is paused, and nobody holds it"));
}

TEST_F(OracleTest, WhatWasUndoneIsLeftAloneUntilItsDataChange) {
  for (const bool changed : {false, true}) {
    PutConfig("v1");
    PutWorkload("v1", "v1");
    PutConfig("v2");
    PutWorkload("v2", "v2");
    Pass(std::chrono::minutes(1));
    Undo("v1", "v1");
    if (changed) {
      PutConfig("v3");
    }
    PutWorkload({.variable = changed ? "v3" : "v2",
                 .recorded = changed ? "v3" : "v2",
                 .annotations = R"(,"oracle/by":"undo-1")"});
    EXPECT_EQ(oracle().Wrong().has_value(), !changed);
    Delete(kWorkload);
  }
}

TEST_F(OracleTest, PodsOfAPausedDeploymentAreMadeWhenItIsResumed) {
  const std::string held = R"(,"oracle/held":"true")";
  PutConfig("v1");
  PutWorkload({.recorded = "v1", .annotations = held, .paused = true});
  PutConfig("v2");
  PutWorkload({.recorded = "v1", .image = "two", .annotations = held, .paused = true});
  PutConfig("v1");
  PutWorkload({.recorded = "v1", .image = "two"});
  EXPECT_EQ(oracle().Stale(), std::nullopt) << "they never had v2";
  PutConfig("v2");
  EXPECT_NE(oracle().OldPods(), std::nullopt);
}

TEST_F(OracleTest, JobsOfABackupAreNoRollouts) {
  const std::string cron_job = "/registry/cronjobs/ns/c";
  const auto put_job = [this](const std::string& name) {
    Put("/registry/jobs/ns/" + name, R"({"metadata":{"annotations":{"kubexx.io/rolled-for":"v"},)"
                                     R"("ownerReferences":[{"name":"c","uid":"u"}]}})");
  };
  PutConfig("v1");
  Put(cron_job, R"({"metadata":{"uid":"u"},"spec":{"jobTemplate":{"spec":{"template":{"spec":)"
                R"({"containers":[{"envFrom":[{"configMapRef":{"name":"s"}}]}]}}}}}})");
  for (const char* const name : {"c-1", "c-2", "c-3", "c-4"}) {
    PutConfig(name);
    put_job(name);
  }
  EXPECT_EQ(oracle().counts().rollouts, 4U);
  EXPECT_EQ(oracle().TooMany(), std::nullopt);
  RestoreAll();
  EXPECT_EQ(oracle().TooMany(), std::nullopt);
  PutConfig("v6");
  put_job("c-5");
  EXPECT_EQ(oracle().counts().rollouts, 5U);
}

/// A Job of people's, or one that an operator has made of it, as the server stores it.
std::string JobOf(const std::string& uid, const std::string& mark, const std::string& variable) {
  return R"({"metadata":{"uid":")" + uid + R"(","annotations":{"oracle/by":")" + mark +
         R"("}},"spec":{"template":{"spec":{"containers":[{"envFrom":[{"configMapRef":{"name":)"
         R"("s"}}],"env":[{"name":"STAKATER_S_CONFIGMAP","value":")" +
         variable + R"("}]}]}}}})";
}

TEST_F(OracleTest, AJobThatAnOperatorDeletesIsToBeMadeAnew) {
  const std::string job = "/registry/jobs/ns/j";
  PutConfig("v1");
  Pass(std::chrono::hours(1));
  Put(job, JobOf("u1", "made-1", "v1"));
  EXPECT_EQ(oracle().OldPods(), std::nullopt);
  PutConfig("v2");
  EXPECT_THAT(oracle().OldPods().value_or(""), HasSubstr("jobs/ns/j runs with"));
  Delete(job);
  EXPECT_THAT(oracle().OldPods().value_or(""), HasSubstr("deleted by an operator"));
  Put(job, JobOf("u2", "made-1", "v2"));
  EXPECT_EQ(oracle().OldPods(), std::nullopt);
  EXPECT_EQ(oracle().counts().rollouts, 1U);
  EXPECT_EQ(oracle().TooMany(), std::nullopt);
  EXPECT_EQ(oracle().Wrong(), std::nullopt);
  Delete(job);
  Put(job, JobOf("u3", "made-1", "v2"));
  EXPECT_THAT(oracle().Wrong().value_or(""), HasSubstr("again for data that its pods have"));
}

TEST_F(OracleTest, AJobThatPeopleDeleteIsGone) {
  const std::string job = "/registry/jobs/ns/j";
  PutConfig("v1");
  Put(job, JobOf("u1", "made-1", "v1"));
  PutConfig("v2");
  Put(job, JobOf("u1", "delete-2", "v1"));
  Delete(job);
  EXPECT_EQ(oracle().OldPods(), std::nullopt);
  Put(job, JobOf("u2", "made-3", ""));
  EXPECT_EQ(oracle().OldPods(), std::nullopt);
  EXPECT_EQ(oracle().counts().rollouts, 0U);
}

TEST_F(OracleTest, RolloutsOfArgoAreWorkloadsWhoseStatusTellsOfTheirGenerationAsText) {
  PutConfig("v1");
  const auto put = [this](const std::string& observed) {
    Put("/registry/argoproj.io/rollouts/ns/r",
        R"({"metadata":{"uid":"u","generation":12},"status":{"observedGeneration":")" + observed +
            R"("},"spec":{"template":)" + TemplateOf({.variable = "v1"}) + "}}");
  };
  put("11");
  const auto unfinished = oracle().UnfinishedWorkloads();
  ASSERT_EQ(unfinished.size(), 1U);
  EXPECT_EQ(unfinished.front().plural, "rollouts");
  EXPECT_EQ(unfinished.front().name, "r");
  put("12");
  EXPECT_TRUE(oracle().UnfinishedWorkloads().empty());
  PutConfig("v2");
  EXPECT_THAT(oracle().OldPods().value_or(""), HasSubstr("rollouts/ns/r runs with"));
}

TEST_F(OracleTest, AJobThatHasEndedIsLeftAlone) {
  const std::string job = "/registry/jobs/ns/j";
  PutConfig("v1");
  Put(job, JobOf("u1", "made-1", "v1"));
  PutConfig("v2");
  std::string ended = JobOf("u1", "made-1", "v1");
  ended.insert(1, R"("status":{"conditions":[{"type":"Complete","status":"True"}]},)");
  Put(job, ended);
  EXPECT_EQ(oracle().Stale(), std::nullopt);
  Delete(job);
  EXPECT_THAT(oracle().Wrong().value_or(""), HasSubstr("though it had ended"));
}

/// A workload whose pods mount the class "c", as the server stores it.
std::string MountingWorkload(const std::string& variable, const std::string& recorded) {
  reloader::DigestBuilder digest;
  digest.Add(kObjectId, recorded);
  digest.Add("SecretProviderClassName", "c");
  const std::string baseline =
      recorded.empty() ? "v1 u" : "v1 u secretproviderclass/c=" + digest.Finish().ToString();
  return R"({"metadata":{"uid":"u","generation":2,"annotations":{"reloader.kubexx.io/baseline":")" +
         baseline +
         R"("}},"status":{"observedGeneration":2},"spec":{"template":{"spec":{"volumes":[{"csi":)"
         R"({"volumeAttributes":{"secretProviderClass":"c"}}}],"containers":[{"env":[{"name":)"
         R"("STAKATER_C_SECRETPROVIDERCLASS","value":")" +
         variable + R"("}]}]}}}})";
}

/// What a pod tells of the class "c".
std::string PodStatus(const std::string& version, int generation) {
  return R"({"metadata":{"generation":)" + std::to_string(generation) +
         R"(},"status":{"secretProviderClassName":"c","objects":[{"id":"object","version":")" +
         version + R"("}]}})";
}

constexpr const char* kPodStatus =
    "/registry/secrets-store.csi.x-k8s.io/secretproviderclasspodstatuses/ns/p";

TEST_F(OracleTest, ARotationOfWhichAPodTellsHasToBeRolled) {
  Put(kWorkload, MountingWorkload("", ""));
  Put(kPodStatus, PodStatus("v1", 1));
  EXPECT_THAT(oracle().OldRecord().value_or(""), HasSubstr("has a record of other data"));
  Put(kWorkload, MountingWorkload("", "v1"));
  EXPECT_EQ(oracle().Stale(), std::nullopt);
  Put(kPodStatus, PodStatus("v2", 2));
  EXPECT_THAT(oracle().OldPods().value_or(""), HasSubstr("secretproviderclasses/ns/c v1, which"));
  Put(kWorkload, MountingWorkload("v2", "v2"));
  EXPECT_EQ(oracle().Stale(), std::nullopt);
  EXPECT_EQ(oracle().TooMany(), std::nullopt);
  EXPECT_EQ(oracle().counts().rollouts, 1U);
}

TEST_F(OracleTest, AVersionThatAPodBeginsWithIsNoRotation) {
  Put(kWorkload, MountingWorkload("", ""));
  Put(kPodStatus, PodStatus("v1", 1));
  Put(kWorkload, MountingWorkload("", "v1"));
  Put(std::string(kPodStatus) + "2", PodStatus("v2", 1));
  EXPECT_EQ(oracle().Stale(), std::nullopt);
  Put(kWorkload, MountingWorkload("", "v2"));
  EXPECT_EQ(oracle().Stale(), std::nullopt) << "both are as good";
  Put(kPodStatus, PodStatus("v2", 2));
  EXPECT_THAT(oracle().OldPods().value_or(""), HasSubstr("v1, which is v2"));
}

TEST_F(OracleTest, OfAClassOfWhichNoPodTellsNobodyKnows) {
  Put(kWorkload, MountingWorkload("", ""));
  Put(kPodStatus, PodStatus("v1", 1));
  Put(kWorkload, MountingWorkload("", "v1"));
  Put(kPodStatus, PodStatus("v2", 2));
  Delete(kPodStatus);
  EXPECT_EQ(oracle().Stale(), std::nullopt);
  const auto mounts = oracle().Mounts();
  ASSERT_EQ(mounts.size(), 1U);
  EXPECT_EQ(mounts[0].provider_class, "c");
  EXPECT_TRUE(mounts[0].is_through);
}

TEST_F(OracleTest, ARolloutThatNamesADeploymentHasItsTemplate) {
  const std::string base = "/registry/deployments/ns/base";
  const auto put_base = [&](const std::string& variable, int generation) {
    Put(base, R"({"metadata":{"generation":)" + std::to_string(generation) +
                  R"(,"annotations":{"oracle/base":"true"}},"spec":{"template":)" +
                  TemplateOf({.variable = variable}) + "}}");
  };
  const auto put = [&](const std::string& recorded, const std::string& of_base) {
    Put("/registry/argoproj.io/rollouts/ns/r",
        R"({"metadata":{"uid":"u","generation":1,"annotations":{"reloader.kubexx.io/baseline":)"
        R"("v1 u configmap/s=)" +
            reloader::DigestOf("key=" + recorded).ToString() +
            R"("}},"status":{"observedGeneration":"1","workloadObservedGeneration":")" + of_base +
            R"("},"spec":{"workloadRef":{"kind":"Deployment","name":"base"}}})");
  };
  PutConfig("v1");
  put_base("v1", 1);
  put("v1", "1");
  EXPECT_EQ(oracle().Stale(), std::nullopt);
  PutConfig("v2");
  EXPECT_THAT(oracle().OldPods().value_or(""), HasSubstr("rollouts/ns/r runs with"));
  put_base("v2", 2);
  const auto unfinished = oracle().UnfinishedWorkloads();
  ASSERT_EQ(unfinished.size(), 1U);
  EXPECT_EQ(unfinished[0].generation, 1);
  EXPECT_EQ(unfinished[0].base_generation, 2);
  EXPECT_THAT(oracle().OldRecord().value_or(""), HasSubstr("has a record of other data"));
  put("v2", "2");
  EXPECT_EQ(oracle().Stale(), std::nullopt);
  EXPECT_TRUE(oracle().UnfinishedWorkloads().empty());
  EXPECT_EQ(oracle().counts().rollouts, 1U);
}

// An operator that ended between its two writes leaves a template that names the version of the
// source for which it was written; of a later version that tells nothing.
TEST_F(OracleTest, WhoBeginsBetweenTheWritesOfARolloutDoubtsWhatWasWrittenSinceThen) {
  const auto put_base = [&](const std::string& variable, const std::string& restarted_for) {
    Put("/registry/deployments/ns/base",
        R"({"metadata":{"annotations":{"oracle/base":"true"}},"spec":{"template":)" +
            TemplateOf({.variable = variable, .restarted_for = restarted_for}) + "}}");
  };
  for (const bool is_written : {false, true}) {
    PutConfig("v1");
    put_base("v1", "");
    Put("/registry/argoproj.io/rollouts/ns/r",
        R"({"metadata":{"uid":"u","annotations":{"reloader.kubexx.io/baseline":)"
        R"("v1 u configmap/s=)" +
            reloader::DigestOf("key=v1").ToString() +
            R"("}},"spec":{"workloadRef":{"kind":"Deployment","name":"base"}}})");
    EXPECT_EQ(oracle().TooMany(), std::nullopt);
    PutConfig("v2");
    put_base("v2", "");
    if (is_written) {
      PutConfig("v2", R"({"a":"label"})");
    }
    put_base("v2", "doubt");
    EXPECT_EQ(oracle().Wrong().has_value(), !is_written);
    EXPECT_EQ(oracle().TooMany().has_value(), !is_written);
    Delete("/registry/argoproj.io/rollouts/ns/r");
    Delete("/registry/deployments/ns/base");
  }
}

// Seed 41 of a campaign: the people of a Rollout opt out in the moment in which the template of its
// Deployment is written, for which the version of the Rollout does not count.
TEST_F(OracleTest, ARolloutOfADeploymentsTemplateMayBeOnItsWayWhenItsPeopleOptOut) {
  const auto put_base = [&](const std::string& variable) {
    Put("/registry/deployments/ns/base",
        R"({"metadata":{"annotations":{"oracle/base":"true"}},"spec":{"template":)" +
            TemplateOf({.variable = variable}) + "}}");
  };
  const auto put = [&](const std::string& annotation) {
    Put("/registry/argoproj.io/rollouts/ns/r",
        R"({"metadata":{"uid":"u","annotations":{)" + annotation +
            R"(}},"spec":{"workloadRef":{"kind":"Deployment","name":"base"}}})");
  };
  for (const char* const annotation :
       {R"("reloader.stakater.com/auto":"false")", R"("reloader.kubexx.io/paused":"true")"}) {
    for (const int seconds : {1, 100}) {
      PutConfig("v1");
      put_base("v1");
      put("");
      PutConfig("v2");
      put(annotation);
      Pass(std::chrono::seconds(seconds));
      put_base("v2");
      EXPECT_EQ(oracle().Wrong().has_value(), seconds == 100);
      Delete("/registry/argoproj.io/rollouts/ns/r");
      Delete("/registry/deployments/ns/base");
    }
  }
}

/// A workload of whose source only the key "key" counts, which it uses, as the server stores it.
std::string KeyedWorkload(const std::string& variable, const std::string& recorded) {
  reloader::DigestBuilder digest;
  const std::string value = reloader::DigestOf(recorded).ToString();
  digest.Add("key", value);
  return R"({"metadata":{"uid":"u","annotations":{"reloader.kubexx.io/keys":"Referenced",)"
         R"("reloader.kubexx.io/baseline":"v1 u configmap/s=)" +
         digest.Finish().ToString() +
         R"(:key"}},"spec":{"template":{"spec":{"containers":[{"env":[{"name":"A","valueFrom":)"
         R"({"configMapKeyRef":{"name":"s","key":"key"}}},{"name":"STAKATER_S_CONFIGMAP",)"
         R"("value":")" +
         variable + R"("}]}]}}}})";
}

TEST_F(OracleTest, AKeyThatAWorkloadDoesNotUseIsNoReasonToRollIt) {
  const auto put = [this](const std::string& key, const std::string& other) {
    Put(kConfig, R"({"metadata":{},"data":{"key":")" + key + R"(","other":")" + other + R"("}})");
  };
  JudgeExactly();
  put("v1", "o1");
  Put(kWorkload, KeyedWorkload("v1", "v1"));
  EXPECT_EQ(oracle().Stale(), std::nullopt);
  put("v1", "o2");
  EXPECT_EQ(oracle().Stale(), std::nullopt);
  put("v2", "o2");
  EXPECT_THAT(oracle().OldPods().value_or(""), HasSubstr(R"(runs with configmaps/ns/s#key)"));
  Put(kWorkload, KeyedWorkload("v2", "v2"));
  EXPECT_EQ(oracle().Stale(), std::nullopt);
  EXPECT_EQ(oracle().TooMany(), std::nullopt);
  put("v2", "o3");
  Put(kWorkload, KeyedWorkload("v2 for o3", "v2"));
  EXPECT_THAT(oracle().TooMany().value_or(""), HasSubstr("1 times for 0 changes"));
}

// Seed 30249 of the simulation: who begins to lead has seen that the source was edited, but not of
// which key, and the variable may be of an undo.
TEST_F(OracleTest, AnEditOfAnotherKeyLeavesADoubtOfARolloutWithoutBaselineToWhoBeginsToLead) {
  enum class But : std::uint8_t { kNothing, kSameLeader, kNoRelease, kRecorded, kDeployment };
  for (const But but :
       {But::kNothing, But::kSameLeader, But::kNoRelease, But::kRecorded, But::kDeployment}) {
    const std::string key =
        but == But::kDeployment ? kWorkload : "/registry/argoproj.io/rollouts/ns/r";
    const auto put = [&](const std::string& data, const std::string& image,
                         const std::string& restarted_for) {
      std::string workload = KeyedWorkload(data, data);
      const auto replace = [&workload](std::string_view what, const std::string& by) {
        workload.replace(workload.find(what), what.size(), by);
      };
      replace(R"({"env":)", R"({"image":")" + image + R"(","env":)");
      replace(R"("template":{)",
              R"("template":{"metadata":{"annotations":{"reloader.kubexx.io/restarted-for":")" +
                  restarted_for + R"("}},)");
      if (but != But::kRecorded) {
        replace("reloader.kubexx.io/baseline", "none");
      }
      Put(key, workload);
    };
    const std::string image = but == But::kNoRelease ? "one" : "two";
    PutConfig("v1");
    put("v1", "one", "");
    PutConfig("v2");
    Pass(std::chrono::hours(1));
    put("v2", image, "");
    EXPECT_EQ(oracle().Wrong(), std::nullopt);
    EXPECT_EQ(oracle().TooMany(), std::nullopt);
    Pass(std::chrono::hours(1));
    Put(kConfig, R"({"metadata":{},"data":{"key":"v2","other":"new"}})");
    Pass(std::chrono::hours(1));
    if (but != But::kSameLeader) {
      const std::string holder = "operator-" + std::to_string(static_cast<int>(but));
      Put("/registry/leases/operators/lock",
          R"({"metadata":{},"spec":{"holderIdentity":")" + holder + R"("}})");
    }
    put("v2", image, "doubt");
    EXPECT_EQ(oracle().Wrong().has_value(), but != But::kNothing) << static_cast<int>(but);
    EXPECT_EQ(oracle().TooMany().has_value(), but != But::kNothing) << static_cast<int>(but);
    Delete(key);
    Delete(kConfig);
  }
}

TEST_F(OracleTest, AViewOfAPausedSourceIsPausedAndGoesWithItAndWhoUsesAllOfASourceHasNone) {
  PutConfig("v1");
  PutWorkload("v1", "v1");
  Put(kConfig, R"({"metadata":{},"data":{"key":"v1","other":"o1"}})");
  EXPECT_THAT(oracle().OldPods().value_or(""), HasSubstr("runs with configmaps/ns/s "));
  PutConfig("v1");
  Put(kWorkload, KeyedWorkload("v1", "v1"));
  PutConfig("v2", R"({"reloader.kubexx.io/paused":"true"})");
  EXPECT_EQ(oracle().Stale(), std::nullopt);
  PutConfig("v2");
  EXPECT_NE(oracle().OldPods(), std::nullopt);
  Delete(kConfig);
  EXPECT_EQ(oracle().OldPods(), std::nullopt);
}

TEST_F(OracleTest, WhileAWorkloadIsOnHoldNothingIsStaleAndNothingMayBeRolled) {
  const std::string hold = R"(,"reloader.kubexx.io/paused":"true")";
  PutConfig("v1");
  PutWorkload({.variable = "v1", .recorded = "v1", .annotations = hold});
  PutConfig("v2");
  EXPECT_EQ(oracle().Stale(), std::nullopt);
  PutWorkload({.variable = "v2", .recorded = "v2", .annotations = hold});
  EXPECT_THAT(oracle().Wrong().value_or(""), HasSubstr("its people have put rollouts on hold"));
  PutConfig("v3");
  PutWorkload("v2", "v2");
  EXPECT_NE(oracle().OldPods(), std::nullopt) << "nobody holds it any more";
}

/// A workload that `manager` has released at second 200, whose baseline is of second 100.
std::string ReleasedWorkload(const std::string& manager, std::int64_t version) {
  return R"({"metadata":{"uid":"u","annotations":{"reloader.kubexx.io/baseline":"v2 u 100 )"
         R"(configmap/s=)" +
         reloader::DigestOf("key=v1").ToString() + "@" + std::to_string(version) +
         R"("},"managedFields":[{"manager":")" + manager +
         R"(","operation":"Update","time":"1970-01-01T00:03:20Z","fieldsV1":{"f:spec":)"
         R"({"f:template":{}}}}]},"spec":{"template":{"spec":{"containers":[{"envFrom":)"
         R"([{"configMapRef":{"name":"s"}}]}]}}}})";
}

TEST_F(OracleTest, ABaselineMustNotLeaveInDoubtWhatOperatorsHaveSeen) {
  PutConfig("v1");
  Put(kWorkload, ReleasedWorkload("ci", oracle().seen()));
  EXPECT_EQ(oracle().LeftInDoubt(), std::nullopt) << "the source was not written since";
  const auto version = oracle().seen();
  PutConfig("v1", R"({"a":"b"})");
  EXPECT_THAT(oracle().LeftInDoubt().value_or(""), HasSubstr("leaves in doubt"));
  Put(kWorkload, ReleasedWorkload("kubectl-rollout", version));
  EXPECT_EQ(oracle().LeftInDoubt(), std::nullopt) << "who restarts wants the pods as they are";
  Put(kWorkload, ReleasedWorkload("ci", oracle().seen()));
  EXPECT_EQ(oracle().LeftInDoubt(), std::nullopt);
}

TEST_F(OracleTest, PodsThatHaveReadTheirFilesAnewAreNotOld) {
  PutConfig("A");
  PutWorkload("", "A");
  const auto running = oracle().RunningOf(kName);
  ASSERT_TRUE(running);
  PutConfig("B");
  PutWorkload("", "B");
  const std::string data = *oracle().PresentData("configmaps/ns/s");
  oracle().Reloaded(kName, "other-pods", "configmaps/ns/s", data);
  EXPECT_THAT(oracle().OldPods().value_or(""), HasSubstr("runs with configmaps/ns/s"));
  oracle().Reloaded(kName, running->pods, "configmaps/ns/s", data);
  EXPECT_EQ(oracle().OldPods(), std::nullopt);
  EXPECT_EQ(oracle().counts().reloaded, 1U);
}

TEST_F(OracleTest, OfWorkloadsWithoutABaselineItKnowsWhereOperatorsSeeEverything) {
  const auto put = [this](const std::string& variable) {
    PutWorkload({.variable = variable,
                 .recorded = variable,
                 .annotations = R"(,"reloader.kubexx.io/record-baseline":"false")"});
  };
  PutConfig("A");
  put("A");
  PutConfig("B");
  EXPECT_EQ(oracle().OldPods(), std::nullopt);
  oracle().SetWatched(true);
  EXPECT_THAT(oracle().OldPods().value_or(""), HasSubstr("runs with configmaps/ns/s"));
  put("B");
  EXPECT_EQ(oracle().OldPods(), std::nullopt);
}

}  // namespace
}  // namespace kubexx::oracle
