#include "oracle/oracle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/plan/baseline.h"
#include "oracle/oracle_fixture.h"
#include "oracle/pod_template.h"

namespace kubexx::oracle {
namespace {

using ::testing::HasSubstr;

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

// A patch of a whole list of containers that takes others' image back, say.
TEST_F(OracleTest, AnOperatorThatChangesWhatOthersWroteIsWrong) {
  PutConfig("v1");
  PutWorkload("v1", "v1", "two");
  PutConfig("v2");
  PutWorkload({.variable = "v2",
               .recorded = "v2",
               .image = "one",
               .annotations = R"(,"oracle/by":"release-two")"});
  EXPECT_THAT(oracle().Wrong().value_or(""), HasSubstr("changed what others wrote"));
}

// Labels are written all the time; data that were written in the second of the rollout are mostly
// those that it was made for.
TEST_F(OracleTest, AfterAnOperatorsOwnRolloutOnlyDataWrittenSoonAfterItLeaveADoubt) {
  const auto put = [this](const std::string& restarted_for) {
    Put(kWorkload,
        R"({"metadata":{"uid":"u","generation":2,"annotations":{"reloader.kubexx.io/baseline":)"
        R"("v2 u 0 configmap/s=)" +
            reloader::DigestOf("key=v1").ToString() +
            R"(@1"},"managedFields":[{"manager":"ci","time":"1970-01-01T00:03:20Z","fieldsV1":)"
            R"({"f:spec":{"f:template":{}}}},{"manager":"Reloader","time":"1970-01-01T00:05:00Z",)"
            R"("fieldsV1":{"f:spec":{"f:template":{}}}}]},"status":{"observedGeneration":2},)"
            R"("spec":{"template":)" +
            TemplateOf({.variable = "v1", .restarted_for = restarted_for}) + "}}");
  };
  for (const auto& [at, is_doubtful] :
       {std::pair("00:05:00", false), std::pair("00:05:01", true), std::pair("00:15:01", false)}) {
    SCOPED_TRACE(at);
    Put(kConfig, R"({"metadata":{},"data":{"key":"v1"}})");
    Pass(std::chrono::hours(1));
    put("");
    Put(kConfig, R"({"metadata":{"labels":{"a":"b"},"managedFields":[{"manager":"ci","time":)"
                 R"("1970-01-01T)" +
                     std::string(at) + R"(Z","fieldsV1":{"f:data":{}}}]},"data":{"key":"v1"}})");
    EXPECT_EQ(oracle().TooMany(), std::nullopt);
    put(at);
    EXPECT_EQ(oracle().TooMany().has_value(), !is_doubtful);
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

// Seeds 425 and 435 of 400 hours: operators had no right to watch while a workload was replaced by
// a copy of it, with the variable of the last rollout.
TEST_F(OracleTest, ACopyThatIsMadeSoonAfterAChangeMayBeRolledOnceForWhatItsPodsHave) {
  enum class But : std::uint8_t { kNothing, kOldChange, kOldCopy, kRecorded, kStrict };
  for (const But but :
       {But::kNothing, But::kOldChange, But::kOldCopy, But::kRecorded, But::kStrict}) {
    SCOPED_TRACE(static_cast<int>(but));
    oracle().SetStrict(but == But::kStrict);
    const auto put = [&](const std::string& uid, const std::string& restarted_for) {
      Put(kWorkload,
          R"({"metadata":{"uid":"copy","generation":2,"annotations":{"oracle/by":"copy",)"
          R"("reloader.kubexx.io/baseline":"v1 )" +
              uid + " configmap/s=" + reloader::DigestOf("key=v1").ToString() +
              R"("}},"status":{"observedGeneration":2},"spec":{"template":)" +
              TemplateOf({.variable = "v1", .restarted_for = restarted_for}) + "}}");
    };
    PutConfig("v1");
    Pass(std::chrono::minutes(but == But::kOldChange ? 20 : 1));
    put(but == But::kRecorded ? "copy" : "former", "");
    Pass(std::chrono::minutes(but == But::kOldCopy ? 20 : 1));
    put(but == But::kRecorded ? "copy" : "former", "doubt");
    EXPECT_EQ(oracle().Wrong().has_value(), but != But::kNothing);
    Pass(std::chrono::minutes(1));
    put(but == But::kRecorded ? "copy" : "former", "again");
    EXPECT_NE(oracle().Wrong(), std::nullopt) << "an operator has written it";
    Delete(kWorkload);
    Delete(kConfig);
  }
}

// Seed 518 of 400 hours: an operator that was told of a workload by a list minutes after it was
// made recorded the present data, and rolled it when the change from between was passed on to it.
TEST_F(OracleTest, WhatChangedBetweenABeginningAndTheFirstRecordMayBeRolledForOnce) {
  const auto make = [this](const std::string& baseline, const std::string& variable) {
    Put(kWorkload, R"({"metadata":{"uid":"u","generation":2,"annotations":{"oracle/by":"maker")" +
                       baseline + R"(}},"status":{"observedGeneration":2},"spec":{"template":)" +
                       TemplateOf({.variable = variable}) + "}}");
  };
  const std::string baseline = R"(,"reloader.kubexx.io/baseline":"v1 u configmap/s=)" +
                               reloader::DigestOf("key=v2").ToString() + '"';
  for (const bool has_changed : {true, false}) {
    SCOPED_TRACE(has_changed);
    PutConfig(has_changed ? "v1" : "v2");
    Pass(std::chrono::hours(1));
    make("", "");
    PutConfig("v2");
    Pass(std::chrono::minutes(5));
    make(baseline, "");
    EXPECT_EQ(oracle().TooMany(), std::nullopt);
    Pass(std::chrono::minutes(11));
    make(baseline, "v2");
    EXPECT_EQ(oracle().TooMany().has_value(), !has_changed);
    EXPECT_EQ(oracle().Wrong(), std::nullopt);
    Pass(std::chrono::minutes(1));
    make(baseline, "again");
    EXPECT_THAT(oracle().TooMany().value_or(""), HasSubstr("1 times for 0 changes"));
    Delete(kWorkload);
    Delete(kConfig);
  }
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

// Seed 897 of the simulation: the baseline is taken away while no operator runs, and the variable
// is of data from before a release.
TEST_F(OracleTest, WhoBeginsWithoutTheBaselineThatSomebodyTookAwayGoesByTheVariable) {
  JudgeExactly();
  enum class But : std::uint8_t { kNothing, kOlderOperator, kBaseline, kRightVariable, kStrict };
  const std::string before = reloader::DigestOf("key=v1").ToString();
  const std::string now_right = reloader::DigestOf("key=v2").ToString();
  for (const But but :
       {But::kNothing, But::kOlderOperator, But::kBaseline, But::kRightVariable, But::kStrict}) {
    Workload released{.variable = but == But::kRightVariable ? now_right : before,
                      .recorded = "v2",
                      .image = "two"};
    PutConfig("v1");
    PutWorkload(before, "v1");
    Pass(std::chrono::hours(1));
    PutConfig("v2");
    PutWorkload(released);
    EXPECT_EQ(oracle().TooMany(), std::nullopt);
    oracle().SetStrict(but == But::kStrict);
    Pass(std::chrono::hours(1));
    released.has_baseline = but == But::kBaseline;
    PutWorkload(released);
    Pass(std::chrono::seconds(20));
    if (but != But::kOlderOperator) {
      oracle().SetOldestOperator(now());
    }
    PutWorkload({.variable = now_right,
                 .recorded = "v2",
                 .image = "two",
                 .restarted_for = but == But::kRightVariable ? "again" : ""});
    EXPECT_EQ(oracle().TooMany().has_value(), but != But::kNothing) << static_cast<int>(but);
    (void)oracle().Wrong();
    oracle().SetStrict(false);
    Delete(kWorkload);
    (void)oracle().TooMany();
  }
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

TEST_F(OracleTest, PodsThatBeginLaterMayHaveOtherData) {
  PutConfig("v1");
  PutWorkload({.variable = "v1", .recorded = "v1", .through = false});
  oracle().PodBegins("deployments/ns/d");
  EXPECT_EQ(oracle().counts().later_pods, 0U) << "it has the same";
  PutConfig("v2");
  oracle().PodBegins("deployments/ns/d");
  oracle().PodBegins("deployments/ns/d");
  EXPECT_EQ(oracle().counts().later_pods, 1U);
  PutConfig("v1");
  PutWorkload({.variable = "v1", .recorded = "v1"});
  PutConfig("v3");
  oracle().PodBegins("deployments/ns/d");
  EXPECT_EQ(oracle().counts().later_pods, 1U) << "its rollout has ended";
  PutConfig("v1");
  EXPECT_EQ(oracle().OldPods(), std::nullopt) << "nobody can know it";
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(oracle().TooMany(), std::nullopt);
    EXPECT_EQ(oracle().counts().left_behind, 1U);
  }
  PutWorkload({.variable = "v1", .recorded = "v1", .restarted_for = "v1"});
  EXPECT_EQ(oracle().Wrong(), std::nullopt);
  PutWorkload({.variable = "v1", .recorded = "v1", .restarted_for = "v1 again"});
  EXPECT_NE(oracle().Wrong(), std::nullopt) << "the pods are new by now";
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
      replace(R"("annotations":{)", R"("annotations":{"oracle/by":"release-)" + image + R"(",)");
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

/// A workload that `manager` has released at second 200, whose baseline has the time `time`.
/// `written`: the second in which `manager` has written the workload last.
std::string ReleasedWorkload(const std::string& manager, std::int64_t version, int time = 100,
                             const std::string& written = "20") {
  return R"({"metadata":{"uid":"u","annotations":{"reloader.kubexx.io/baseline":"v2 u )" +
         std::to_string(time) + R"( configmap/s=)" + reloader::DigestOf("key=v1").ToString() + "@" +
         std::to_string(version) + R"("},"managedFields":[{"manager":")" + manager +
         R"(","operation":"Update","time":"1970-01-01T00:03:)" + written +
         R"(Z","fieldsV1":{"f:spec":)"
         R"({"f:template":{}}}}]},"spec":{"template":{"spec":{"containers":[{"envFrom":)"
         R"([{"configMapRef":{"name":"s"}}]}]}}}})";
}

TEST_F(OracleTest, ABaselineMustNotLeaveInDoubtWhatOperatorsHaveSeen) {
  PutConfig("v1");
  const auto version = oracle().seen();
  Put(kWorkload, ReleasedWorkload("ci", version));
  EXPECT_THAT(oracle().LeftInDoubt().value_or(""), HasSubstr("leaves in doubt"))
      << "a label that comes while no operator runs is a question for the next one";
  PutConfig("v1", R"({"a":"b"})");
  EXPECT_THAT(oracle().LeftInDoubt().value_or(""), HasSubstr("leaves in doubt"));
  Put(kWorkload, ReleasedWorkload("kubectl-rollout", version));
  EXPECT_EQ(oracle().LeftInDoubt(), std::nullopt) << "who restarts wants the pods as they are";
  Put(kWorkload, ReleasedWorkload("ci", oracle().seen(), 200));
  EXPECT_EQ(oracle().LeftInDoubt(), std::nullopt);
}

// Seed 1380 of ten minutes: an operator that begins doubts the baseline, and reloads in place
// first.
TEST_F(OracleTest, ADoubtLastsFromTheBeginOfAReloadInPlaceToTheRolloutThatFollowsIt) {
  for (const bool in_doubt : {true, false}) {
    PutConfig("v1");
    const auto version = oracle().seen();
    Pass(std::chrono::hours(1));  // its pods are known to have these data
    const auto begun = [](std::string workload) {
      const std::string good = reloader::DigestOf("key=v1").ToString();
      return workload.replace(workload.find(good), good.size(), reloader::UnknownData().ToString());
    };
    const auto with = [&](const std::string& restarted_for) {
      std::string workload = ReleasedWorkload("ci", version, in_doubt ? 100 : 200);
      const std::string spec = R"("spec":{"template":{)";
      return workload.insert(workload.find(spec) + spec.size(),
                             R"("metadata":{"annotations":{"reloader.kubexx.io/restarted-for":")" +
                                 restarted_for + R"("}},)");
    };
    Put(kWorkload, with(""));
    PutConfig("v1", R"({"a":"b"})");
    Put(kWorkload, begun(with("")));
    Put(kWorkload, with("x"));
    EXPECT_EQ(oracle().TooMany().has_value(), !in_doubt);
    Delete(kWorkload);
    Delete(kConfig);
  }
}

// Seed 830 of ten minutes.
TEST_F(OracleTest, ALaterWriteOfWhoeverReleasedHidesThatDataCameBackAfterTheRelease) {
  const auto put = [this](const std::string& value, const std::string& second) {
    Put(kConfig, R"({"metadata":{"managedFields":[{"manager":"ci","operation":"Update",)"
                 R"("time":"1970-01-01T00:03:)" +
                     second + R"(Z","fieldsV1":{"f:data":{"f:key":{}}}}]},"data":{"key":")" +
                     value + R"("}})");
  };
  put("v2", "19");
  Put(kWorkload, ReleasedWorkload("ci", oracle().seen()));
  put("v1", "22");
  oracle().SetOldestOperator(now() + std::chrono::seconds(1));
  EXPECT_NE(oracle().OldPods(), std::nullopt) << "the times tell that the data are younger";
  Put(kWorkload, ReleasedWorkload("ci", oracle().seen(), 100, "24"));
  EXPECT_EQ(oracle().OldPods(), std::nullopt);
  oracle().SetOldestOperator(now());
  EXPECT_NE(oracle().OldPods(), std::nullopt) << "an operator was there";
  oracle().SetOldestOperator(now() + std::chrono::seconds(1));
  put("v3", "25");
  EXPECT_NE(oracle().OldPods(), std::nullopt) << "other data than the baseline's";
}

TEST_F(OracleTest, WhatAPausedSourceLeavesInDoubtMayWait) {
  const std::string paused = R"({"reloader.kubexx.io/paused":"true"})";
  PutConfig("v1");
  Put(kWorkload, ReleasedWorkload("ci", oracle().seen()));
  PutConfig("v1", paused);
  EXPECT_EQ(oracle().LeftInDoubt(), std::nullopt);
  PutConfig("v1");
  EXPECT_NE(oracle().LeftInDoubt(), std::nullopt);
}

// This doubt ends by itself.
TEST_F(OracleTest, ABaselineMayLeaveInDoubtForAWhileWhatAnOperatorHasRolled) {
  PutConfig("v1");
  std::string rolled = ReleasedWorkload("ci", oracle().seen(), 0);
  const std::string fields = R"("managedFields":[)";
  rolled.insert(rolled.find(fields) + fields.size(),
                R"({"manager":"Reloader","operation":"Update","time":"1970-01-01T00:03:20Z",)"
                R"("fieldsV1":{"f:spec":{"f:template":{}}}},)");
  Put(kWorkload, rolled);
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
