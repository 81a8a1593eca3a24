// What an Oracle says of Jobs, of Argo's Rollouts and of SecretProviderClasses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <tuple>

#include "kubexx/reloader/model/digest.h"
#include "oracle/oracle_fixture.h"
#include "oracle/pod_template.h"

namespace kubexx::oracle {
namespace {

using ::testing::HasSubstr;

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

// Seed 745 of ten minutes, where the data had been others when the Job began.
TEST_F(OracleTest, TheRecordOfAJobLeavesADoubtOfDataThatWereWrittenSoonAfterIt) {
  const auto put_config = [this](const std::string& time) {
    Put(kConfig, R"({"metadata":{"managedFields":[{"manager":"ci","time":"1970-01-01T)" + time +
                     R"(Z","fieldsV1":{"f:data":{}}}]},"data":{"key":"v1"}})");
  };
  for (const auto& [written, begins, is_doubt] :
       {std::tuple("00:03:21", "v2 u 0 ", true), std::tuple("00:03:20", "v2 u 0 ", false),
        std::tuple("00:13:21", "v2 u 0 ", false), std::tuple("00:03:21", "v1 u ", false)}) {
    SCOPED_TRACE(std::string(begins) + written);
    JudgeExactly();
    put_config("00:03:19");
    Pass(std::chrono::hours(1));
    const std::string version =
        std::string(begins) == "v1 u " ? "" : "@" + std::to_string(oracle().seen());
    Put("/registry/cronjobs/ns/c",
        R"({"metadata":{"uid":"u","annotations":{"reloader.kubexx.io/baseline":")" +
            std::string(begins) + "configmap/s=" + reloader::DigestOf("key=v1").ToString() +
            version +
            R"("},"managedFields":[{"manager":"Reloader","time":"1970-01-01T00:03:20Z",)"
            R"("fieldsV1":{"f:metadata":{"f:annotations":{"f:kubexx.io/rolled-for":{}}}}}]},)"
            R"("spec":{"jobTemplate":{"spec":{"template":{"spec":)"
            R"({"containers":[{"envFrom":[{"configMapRef":{"name":"s"}}]}]}}}}}})");
    put_config(written);
    const std::string job = "/registry/jobs/ns/c-" + std::string(begins, 2) + written;
    Put(job, R"({"metadata":{"annotations":{"kubexx.io/rolled-for":"v"},)"
             R"("ownerReferences":[{"name":"c","uid":"u"}]}})");
    EXPECT_EQ(oracle().TooMany().has_value(), !is_doubt);
    Delete(job);
    Delete("/registry/cronjobs/ns/c");
  }
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

// The operator that made it anew ends before it has written the record in the name of the new one.
TEST_F(OracleTest, AJobMadeAnewHasTheRecordThatItWasMadeWith) {
  const std::string job = "/registry/jobs/ns/j";
  const auto put_job = [&](const std::string& uid, const std::string& owner,
                           const std::string& recorded, const std::string& manager) {
    std::string object = JobOf(uid, "made-1", recorded);
    object.insert(object.find(R"("oracle/by")"),
                  R"("reloader.kubexx.io/baseline":"v1 )" + owner +
                      " configmap/s=" + reloader::DigestOf("key=" + recorded).ToString() + R"(",)");
    object.insert(object.find(R"("annotations")"),
                  R"("managedFields":[{"manager":")" + manager +
                      R"(","fieldsV1":{"f:metadata":{"f:annotations":{)"
                      R"("f:reloader.kubexx.io/baseline":{}}},"f:spec":{"f:template":{}}}}],)");
    Put(job, object);
  };
  for (const bool is_own : {true, false}) {
    JudgeExactly();
    PutConfig("v1");
    put_job("u1", "u1", "v1", "ci");
    PutConfig("v2");
    Delete(job);
    put_job("u2", ">u1", "v2", is_own ? "Reloader" : "kubectl-create");
    PutConfig("v3");
    put_job("u2", "u2", "v3", "ci");
    EXPECT_EQ(oracle().OldPods().has_value(), is_own) << "nobody could know of the change";
    Delete(job);
  }
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

/// A workload whose pods mount the class "c", as the server stores it.
std::string MountingWorkload(const std::string& variable, const std::string& recorded) {
  reloader::DigestBuilder digest;
  digest.Add(kObjectId, recorded);
  digest.Add("SecretProviderClassName", "c");
  const std::string baseline =
      recorded.empty() ? "v1 u" : "v1 u secretproviderclass/c=" + digest.Finish().ToString();
  const std::string env =
      variable.empty()
          ? ""
          : R"({"name":"STAKATER_C_SECRETPROVIDERCLASS","value":")" + variable + R"("})";
  return R"({"metadata":{"uid":"u","generation":2,"annotations":{"reloader.kubexx.io/baseline":")" +
         baseline +
         R"("}},"status":{"observedGeneration":2},"spec":{"template":{"spec":{"volumes":[{"csi":)"
         R"({"volumeAttributes":{"secretProviderClass":"c"}}}],"containers":[{"env":[)" +
         env + R"(]}]}}}})";
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

// Seed 471 of 400 hours, and 308: the API of the driver was taken away while the operator's watch
// was half-open, and was installed again.
TEST_F(OracleTest,
       WhoeverWasNotToldOfARotationBeforeNoPodToldOfTheClassMayRecordWhatWasThereBefore) {
  for (const int minutes : {1, 11}) {
    Put(kWorkload, MountingWorkload("", ""));
    Put(kPodStatus, PodStatus("v1", 1));
    Put(kWorkload, MountingWorkload("", "v1"));
    Put(kPodStatus, PodStatus("v2", 2));
    Pass(std::chrono::minutes(minutes));
    Put(kWorkload, MountingWorkload("v2", "v1"));
    EXPECT_THAT(oracle().Stale().value_or(""), HasSubstr("has a record of other data"));
    Delete(kPodStatus);
    Put(std::string(kPodStatus) + "2", PodStatus("v2", 1));
    EXPECT_EQ(oracle().Stale().has_value(), minutes == 11);
    Put(std::string(kPodStatus) + "2", PodStatus("v3", 2));
    Put(kWorkload, MountingWorkload("v3", "v1"));
    EXPECT_THAT(oracle().Stale().value_or(""), HasSubstr("has a record of other data"));
    Delete(std::string(kPodStatus) + "2");
    Delete(kWorkload);
  }
}

constexpr const char* kNextStatus =
    "/registry/secrets-store.csi.x-k8s.io/secretproviderclasspodstatuses/ns/q";

/// The pods of a template are on their way when one of the pods before tells of a rotation.
class OracleRotationTest : public OracleTest {
 protected:
  void RotateAfter(const std::string& workload) {
    Put(kWorkload, MountingWorkload("", ""));
    Put(kPodStatus, PodStatus("v1", 1));
    Put(kWorkload, MountingWorkload("", "v1"));
    Put(kWorkload, workload);
    Put(kNextStatus, PodStatus("v2", 1));
    Put(kPodStatus, PodStatus("v2", 2));
    EXPECT_THAT(oracle().OldPods().value_or(""), HasSubstr("v1, which is v2"));
  }
  /// Of people; the baseline is of this version.
  static std::string Released(const std::string& recorded) {
    std::string workload = MountingWorkload("", recorded);
    workload.insert(workload.find(R"("env")"), R"("image":"two",)");
    workload.insert(workload.find(R"("reloader.kubexx.io)"), R"("oracle/by":"release",)");
    return workload;
  }
};

// Seed 650 of ten minutes: the operator's watch was half-open until the pods before were gone.
TEST_F(OracleRotationTest, NeedsNoRolloutWhereOnlyPodsToldThatAReleaseHasReplaced) {
  RotateAfter(Released("v1"));
  Delete(kPodStatus);
  EXPECT_EQ(oracle().Stale(), std::nullopt);
  Put(kWorkload, Released("v0"));
  EXPECT_THAT(oracle().Stale().value_or(""), HasSubstr("has a record of other data"));
  Put(kWorkload, Released("v1"));
  EXPECT_EQ(oracle().Stale(), std::nullopt);
  Put(kNextStatus, PodStatus("v3", 2));
  EXPECT_THAT(oracle().OldPods().value_or(""), HasSubstr("v1, which is v3"));
  EXPECT_EQ(oracle().Wrong(), std::nullopt);
}

TEST_F(OracleRotationTest, HasToBeRolledWhereAPodHasToldForLongerThanAWatchIsBehind) {
  RotateAfter(Released("v1"));
  Pass(std::chrono::minutes(11));
  Delete(kPodStatus);
  EXPECT_THAT(oracle().OldPods().value_or(""), HasSubstr("v1, which is v2"));
}

TEST_F(OracleRotationTest, HasToBeRolledWhereAnotherPodThatLivesTellsOfIt) {
  const std::string third = std::string(kPodStatus) + "3";
  Put(third, PodStatus("v1", 1));
  RotateAfter(Released("v1"));
  Delete(kPodStatus);
  EXPECT_THAT(oracle().OldPods().value_or(""), HasSubstr("v1, which is v2")) << "it has v1";
  Put(third, PodStatus("v2", 2));
  EXPECT_THAT(oracle().OldPods().value_or(""), HasSubstr("v1, which is v2"));
}

TEST_F(OracleRotationTest, HasToBeRolledWhereThePodsHaveNotToldAllTheTime) {
  RotateAfter(Released("v1"));
  Delete(kPodStatus);
  Delete(kNextStatus);  // as with the API of the driver
  Put(kNextStatus, PodStatus("v2", 1));
  EXPECT_THAT(oracle().OldPods().value_or(""), HasSubstr("v1, which is v2"));
}

TEST_F(OracleRotationTest, HasToBeRolledAgainAfterARolloutOfAnOperatorThatDidNotKnowIt) {
  RotateAfter(MountingWorkload("v1", "v1"));
  Delete(kPodStatus);
  EXPECT_THAT(oracle().OldPods().value_or(""), HasSubstr("v1, which is v2"));
}

/// The status of the first pod of what the oracle calls the present template of the workload.
std::string FirstStatusOf(const std::vector<Oracle::Mount>& mounts) {
  const std::string path = kPodStatus;
  return mounts.size() != 1 ? path : path.substr(0, path.size() - 1) + mounts[0].pods + "-0";
}

// Seed 1409 of ten minutes: the API of the driver was installed, pods told of it, and an operator
// that rolled the workload was killed. The driver told of a rotation first for the pods that the
// rollout made, as they began, and then for those before, which were gone at once.
TEST_F(OracleTest, NeedsNoRolloutWhereAllPodsOfTheTemplateBeganWithTheVersion) {
  Put(kPodStatus, PodStatus("v1", 1));
  Put(kWorkload, MountingWorkload("", ""));
  Put(kWorkload, MountingWorkload("", "v1"));
  Put(kWorkload, MountingWorkload("v1", "v1"));
  const std::string first = FirstStatusOf(oracle().Mounts());
  Put(first, PodStatus("v2", 1));
  Put(kPodStatus, PodStatus("v2", 2));
  EXPECT_EQ(oracle().OldPods(), std::nullopt);
  Put(first + "0", PodStatus("v1", 1));
  Put(first, PodStatus("v3", 2));
  EXPECT_THAT(oracle().OldPods().value_or(""), HasSubstr("v1, which is v3"));
}

TEST_F(OracleTest, HasToBeRolledWhereItsPodsMayHaveBegunBeforeTheyCouldTell) {
  Put(kWorkload, MountingWorkload("", ""));
  Put(kWorkload, MountingWorkload("", "v1"));
  Put(kPodStatus, PodStatus("v1", 1));
  Put(kWorkload, MountingWorkload("v1", "v1"));
  Delete(kPodStatus);  // with the API of the driver
  Pass(std::chrono::minutes(1));
  const std::string first = FirstStatusOf(oracle().Mounts());
  Put(first, PodStatus("v2", 1));
  Put(kPodStatus, PodStatus("v2", 2));
  EXPECT_THAT(oracle().OldPods().value_or(""), HasSubstr("v1, which is v2"));
}

/// The workload gets its baseline before its pods tell of the class, and they tell of a rotation.
class OracleFirstRecordTest : public OracleTest {
 protected:
  /// The oldest operator begins `after` the rotation; then the class is recorded.
  void RotateBefore(std::chrono::seconds after) {
    Put(kPodStatus, PodStatus("v1", 1));
    Delete(kPodStatus);
    Put(kWorkload, MountingWorkload("", ""));
    std::string without = MountingWorkload("", "v1");
    const std::size_t entry = without.find(" secretproviderclass");
    Put(kWorkload, without.erase(entry, without.find('"', entry) - entry));
    Put(kNextStatus, PodStatus("v2", 1));
    Put(kNextStatus, PodStatus("v3", 2));
    oracle().SetOldestOperator(now() + after);
    EXPECT_THAT(oracle().OldPods().value_or(""), HasSubstr("v1, which is v3"));
    Put(kWorkload, MountingWorkload("", "v3"));
  }
};

// Seed 605 of ten minutes: all operators were killed until the rotation was over.
TEST_F(OracleFirstRecordTest, WhoBeganAfterARotationMayTakeItForWhatThePodsHave) {
  RotateBefore(std::chrono::seconds(1));
  EXPECT_EQ(oracle().OldPods(), std::nullopt);
}

TEST_F(OracleFirstRecordTest, WhoWasThereHasToRoll) {
  RotateBefore(std::chrono::seconds(0));
  EXPECT_THAT(oracle().OldPods().value_or(""), HasSubstr("v1, which is v3"));
}

// Seed 1789 of ten minutes: the source was made while no operator ran, a release began pods with
// it, and it changed before the next operator began.
TEST_F(OracleTest, WhoBeganAfterAChangeMayTakeItForWhatPodsHaveOfASourceThatNoBaselineNames) {
  const std::string others = R"(,"reloader.kubexx.io/baseline":"v1 u configmap/other=00")";
  for (const auto& [source, has_begun] : {std::pair("s", true), std::pair("t", false)}) {
    SCOPED_TRACE(has_begun);
    PutWorkload({.image = source, .annotations = others, .has_baseline = false});
    PutConfig("1");
    const std::string released = std::string(source) + "2";
    PutWorkload({.image = released, .annotations = others, .has_baseline = false});
    PutConfig("2");
    oracle().SetOldestOperator(now() + std::chrono::seconds(has_begun ? 1 : 0));
    EXPECT_NE(oracle().OldPods(), std::nullopt);
    PutWorkload({.recorded = "2", .image = released});
    EXPECT_EQ(oracle().OldPods().has_value(), !has_begun);
    Delete(kWorkload);
  }
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

}  // namespace
}  // namespace kubexx::oracle
