// The operator where pods are reloaded in place of rollouts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/reloader/plan/baseline.h"
#include "kubexx/reloader/testing/fake_pods.h"
#include "kubexx/reloader/testing/operator_fixture.h"

namespace kubexx::reloader {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const SourceId kMountedConfig{SourceType::kConfigMap, {"ns", "config"}};
const SourceId kMoreConfig{SourceType::kConfigMap, {"ns", "more"}};
const SourceId kEnvConfig{SourceType::kConfigMap, {"ns", "env"}};
const std::string kReloadMark(kReloadingInPlace);

/// Admits while `open`, without the changes of sources on hold; counts what it is asked and told.
class DoorGate final : public RolloutGate {
 public:
  base::Subscription Attach(GateHost host) override {
    host_.emplace(std::move(host));
    return {};
  }
  bool WaitForSync(const std::stop_token&) override { return true; }
  bool Admit(const Workload&, std::vector<Change>& changes, AnnotationEdits& annotations) override {
    ++asked;
    const std::vector<Change> all = changes;
    std::erase_if(
        changes, [this](const Change& change) { return IsOnHold(change.causes.front().key.name); });
    if (!open || changes.empty()) {
      changes = all;
      return false;
    }
    annotations["gate"] = "admitted";
    return true;
  }
  void OnWritten(const WorkloadId&, WriteEnd end, std::uint64_t) override {
    rolled += end == WriteEnd::kRolled ? 1 : 0;
    kept += end == WriteEnd::kKept ? 1 : 0;
    taken_back += end == WriteEnd::kNotRolled ? 1 : 0;
  }
  void OnNothing(const WorkloadId&) override { ++nothing; }
  void OnWorkload(const WorkloadId&, const Workload*) override { ++told; }
  std::optional<base::Duration> SettleWindow(const WorkloadId&) override { return std::nullopt; }
  void Wake() { host_->wake(kWeb, base::Duration(0)); }
  /// From now on changes of the ConfigMap wait; empty: none do.
  void PutOnHold(const std::string& config_map) {
    const base::MutexLock lock(mu_);
    on_hold_ = config_map;
  }

  std::atomic<bool> open = true;
  std::atomic<int> asked = 0;
  std::atomic<int> rolled = 0;
  std::atomic<int> kept = 0;
  std::atomic<int> told = 0;
  std::atomic<int> taken_back = 0;
  std::atomic<int> nothing = 0;

 private:
  bool IsOnHold(const std::string& config_map) {
    const base::MutexLock lock(mu_);
    return on_hold_ == config_map;
  }

  std::optional<GateHost> host_;
  base::Mutex mu_;
  std::string on_hold_ KX_GUARDED_BY(mu_);
};

/// Stores reports and notices.
class ReportObserver final : public WriteObserver {
 public:
  void OnWrite(const WriteReport& report) override {
    const base::MutexLock lock(mu_);
    texts_.push_back((report.outcome ? "" : "failed ") + report.in_place);
  }
  void OnNotice(const WorkloadNotice& notice) override {
    const base::MutexLock lock(mu_);
    texts_.push_back(notice.reason + ": " + notice.message);
  }
  std::vector<std::string> texts() {
    const base::MutexLock lock(mu_);
    return texts_;
  }

 private:
  base::Mutex mu_;
  std::vector<std::string> texts_ KX_GUARDED_BY(mu_);
};

class OperatorInPlaceTest : public OperatorTest {
 protected:
  OperatorInPlaceTest() {
    observers_ = {&reports_};
    gate_ = &door_;
    OperatorTest::pods_ = &pods_;
    SetConfig("a");
    pods_.Add("web-0", "u0");
    pods_.Add("web-1", "u1");
  }
  ~OperatorInPlaceTest() override { operator_.reset(); }

  /// Writes the ConfigMap that the pods mount.
  void SetConfig(const std::string& value) {
    pods_.SetData(value);
    PutConfigMap("config", value);
  }
  /// A Deployment that mounts the ConfigMap and is to be reloaded in place.
  static api::apps::v1::Deployment Mounting(const std::string& action = "signal:HUP") {
    auto deployment = Web();
    deployment.metadata.annotations[std::string(kReloadInPlace)] = action;
    api::core::v1::PodSpec& pod = deployment.spec.template_.spec;
    pod.containers[0].env_from.clear();
    pod.volumes.emplace_back().name = "v";
    pod.volumes[0].volume_source.config_map.emplace().local_object_reference.name = "config";
    pod.containers[0].volume_mounts.push_back({.name = "v", .mount_path = "/config"});
    return deployment;
  }
  /// Besides it mounts the ConfigMap "more", and has the ConfigMap "env" in its environment; where
  /// its program refuses data, the pods are to stay.
  static api::apps::v1::Deployment KeepingThree() {
    auto deployment = Mounting("exec:nginx -s reload");
    deployment.metadata.annotations[std::string(kReloadOnRefusal)] = "keep";
    api::core::v1::PodSpec& pod = deployment.spec.template_.spec;
    pod.volumes.emplace_back().name = "w";
    pod.volumes.back().volume_source.config_map.emplace().local_object_reference.name = "more";
    pod.containers[0].volume_mounts.push_back({.name = "w", .mount_path = "/more"});
    pod.containers[0].env_from.emplace_back().config_map_ref.emplace().local_object_reference.name =
        "env";
    return deployment;
  }
  /// All of its pods are there, and of its template.
  static api::apps::v1::Deployment Complete(api::apps::v1::Deployment deployment) {
    deployment.status.replicas = deployment.status.updated_replicas = 1;
    deployment.status.available_replicas = 1;
    return deployment;
  }
  /// The Deployment of StartWithThree as another process leaves it while it is not known what its
  /// pods have of these sources. All of them have the data "b".
  api::apps::v1::Deployment LeftByAnother(const std::vector<SourceId>& unknown) {
    SetConfig("b");
    SetMore("b");
    PutConfigMap("env", "b");
    Baseline baseline{.uid = "uid-web"};
    baseline.Set(kMountedConfig, DigestOf("key=b"), {});
    baseline.Set(kMoreConfig, DigestOf("key=b"), {});
    baseline.Set(kEnvConfig, DigestOf("key=a"), {});
    for (const SourceId& source : unknown) {
      baseline.Set(source, UnknownData(), {});
    }
    return WithBaseline(Complete(KeepingThree()), baseline.ToString());
  }
  void StartWithThree() {
    SetMore("a");
    PutConfigMap("env", "a");
    StartWith(KeepingThree());
  }
  /// The Deployment of StartWithThree gets another replica, which becomes available.
  void BeginMorePods() {
    const int told = door_.told;
    auto deployment = KeepingThree();
    deployment.metadata.generation = 1;
    deployment.spec.replicas = 2;
    Put(*deployments_, deployment);
    KX_AWAIT(door_.told > told);
    deployment.status.observed_generation = 1;
    deployment.status.replicas = deployment.status.updated_replicas = 2;
    deployment.status.available_replicas = 1;
    Put(*deployments_, deployment);
    deployment.status.available_replicas = 2;
    Put(*deployments_, deployment);
    KX_AWAIT(door_.told >= told + 3);  // it is told first, and of this one when the last is handled
  }
  /// Changes the source that only new pods get. `events`: see Edit.
  void EditEnv(const std::string& value, double events) {
    PutConfigMap("env", value);
    AwaitEvents("configmaps", "update", events);
    const double skipped = Count("reloader_reconcile_total", {{"result", "skipped"}});
    Settle();
    AwaitReconciles("skipped", skipped + 1);
  }
  void SetMore(const std::string& value) {
    pods_.SetMore(value);
    PutConfigMap("more", value);
  }
  /// Has the program of one pod refuse its data, or take them again.
  void Refuse(bool refuses) {
    pods_.Change("web-1", [refuses](FakePods::Pod& pod) {
      pod.action.reset();
      if (refuses) {
        pod.action = apimachinery::Status(apimachinery::Reason::kBadRequest, "its exit code is 1");
      }
    });
  }
  /// Whether somebody has the workload looked at again and again meanwhile.
  enum class Wakes : std::uint8_t { kNo, kYes };
  std::vector<std::string> RunToReports(std::size_t n, Wakes wakes = Wakes::kNo) {
    KX_UNTIL(reports_.texts().size() >= n) {
      LetTimePass(wakes);
    }
    return reports_.texts();
  }
  void StartWith(const api::apps::v1::Deployment& deployment) {
    Put(*deployments_, deployment);
    StartOperator();
  }
  void Edit(const std::string& value, double events) {
    SetConfig(value);
    AwaitEvents("configmaps", "update", events);
    Settle();
  }
  /// Lets time pass until there are `n` writes that roll nothing.
  std::vector<FakeWriter::Call> RunToRecords(std::size_t n, Wakes wakes = Wakes::kNo) {
    KX_UNTIL(writer_.AwaitRecords(0).size() >= n) {
      LetTimePass(wakes);
    }
    return writer_.AwaitRecords(n);
  }
  /// Only while somebody waits for it: see InPlaceReloadsTest.
  void LetTimePass(Wakes wakes = Wakes::kNo) {
    if (wakes == Wakes::kYes) {
      door_.Wake();
    }
    if (clock_.Sleepers() > 0) {
      clock_.Advance(milliseconds(200));
    }
  }
  /// Has the workload looked at until the gate has been asked `times` times more.
  void LookAgain(int times) {
    const int until = door_.asked + times;
    KX_UNTIL(door_.asked >= until) {
      door_.Wake();
      LetTimePass();
    }
  }
  std::vector<FakeWriter::Call> RunToRollout(Wakes wakes = Wakes::kNo) {
    KX_UNTIL(!writer_.calls().empty()) {
      LetTimePass(wakes);
    }
    return writer_.calls();
  }
  void Stick(bool is_stuck) {
    pods_.Change("web-1", [&](FakePods::Pod& pod) { pod.is_stuck = is_stuck; });
  }
  /// The mark that an operator leaves while it has the pods reloaded for this value.
  static std::string MarkFor(const std::string& value) {
    return "uid-web 2026-01-01T00:00:00Z " +
           DigestOf("ConfigMap/config=" + DigestText(value) + ";").ToString();
  }
  static Digest RecordedIn(const FakeWriter::Call& call, const SourceId& source = kMountedConfig) {
    const auto baseline = Baseline::Parse(call.baseline, "ns");
    return baseline && baseline->digests.contains(source) ? baseline->digests.at(source)
                                                          : kNoSource;
  }

  FakePods pods_;
  DoorGate door_;
  ReportObserver reports_;
};

TEST_F(OperatorInPlaceTest, AnEditReloadsThePodsAndMakesNoRollout) {
  StartWith(Mounting());
  Edit("b", 1);
  const auto records = RunToRecords(2);
  EXPECT_THAT(pods_.pod("web-0").read, ElementsAre("b"));
  EXPECT_THAT(pods_.pod("web-1").read, ElementsAre("b"));
  EXPECT_EQ(RecordedIn(records[0]), UnknownData()) << "until all pods have the data";
  EXPECT_THAT(records[0].patch, HasSubstr(kReloadMark + "\":\"uid-web "));
  EXPECT_THAT(records[0].patch, HasSubstr("\"gate\":\"admitted\""));
  EXPECT_EQ(RecordedIn(records[1]), DigestOf("key=b"));
  EXPECT_THAT(records[1].patch, HasSubstr(kReloadMark + "\":null"));
  EXPECT_THAT(writer_.calls(), IsEmpty());
  EXPECT_EQ(door_.asked, 1);
  EXPECT_EQ(door_.rolled, 1);
  KX_AWAIT_EQ(reports_.texts(), std::vector<std::string>{"signal:HUP"});
}

TEST_F(OperatorInPlaceTest, AFailedActionIsFollowedByARollout) {
  pods_.Change("web-1", [](FakePods::Pod& pod) {
    pod.action = apimachinery::Status(apimachinery::Reason::kBadRequest, "its exit code is 1");
  });
  StartWith(Mounting());
  Edit("b", 1);
  const auto calls = RunToRollout();
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(RecordedIn(calls[0]), DigestOf("key=b"));
  EXPECT_THAT(calls[0].patch, HasSubstr(kReloadMark + "\":null"));
  EXPECT_THAT(calls[0].patch, HasSubstr(DigestText("b")));
  EXPECT_EQ(door_.asked, 2) << "people may have put rollouts on hold since";
  KX_AWAIT_EQ(reports_.texts().size(), 2U);
  EXPECT_THAT(reports_.texts(),
              testing::Contains("ReloadInPlaceFailed: The pods cannot be reloaded in place by "
                                "signal:HUP: pod web-1: signal:HUP failed: its exit code is 1. "
                                "The workload is rolled instead"));
}

// Seed 172 of 400 hours of the simulation: it was rolled though on hold.
TEST_F(OperatorInPlaceTest, WhereTheGateHasClosedSinceAFailedActionIsFollowedByNothing) {
  Stick(true);
  StartWith(Mounting());
  Edit("b", 1);
  pods_.AwaitAsked("web-1", 1);
  door_.open = false;
  pods_.Change("web-1", [](FakePods::Pod& pod) {
    pod.action = apimachinery::Status(apimachinery::Reason::kBadRequest, "its exit code is 1");
    pod.is_stuck = false;
  });
  const auto left = RunToRecords(2);
  EXPECT_THAT(left[1].patch, HasSubstr(kReloadMark + "\":null"));
  EXPECT_FALSE(left[1].names_baseline) << "it still says that the pods may have anything";
  KX_AWAIT(door_.kept == 1);
  EXPECT_THAT(writer_.calls(), IsEmpty());
}

// A rollout would replace pods that work by pods that do not start.
TEST_F(OperatorInPlaceTest, PodsWhoseProgramRefusesTheDataStayWhereThatIsAskedFor) {
  Refuse(true);
  auto deployment = Mounting("exec:nginx -s reload");
  deployment.metadata.annotations[std::string(kReloadOnRefusal)] = "keep";
  StartWith(deployment);
  Edit("b", 1);
  const auto count = [&] { return reports_.texts().size(); };
  KX_UNTIL(count() == 1) {
    clock_.Advance(milliseconds(200));
  }
  EXPECT_EQ(reports_.texts()[0],
            "ReloadInPlaceRefused: The program refuses its new data: pod web-1: exec:nginx -s "
            "reload failed: its exit code is 1. The pods stay as they are until the data change");
  door_.Wake();
  clock_.Advance(std::chrono::minutes(1));
  EXPECT_EQ(count(), 1U) << "it is told once";
  EXPECT_THAT(writer_.calls(), IsEmpty());
  Refuse(false);
  Edit("c", 2);
  const auto records = RunToRecords(3);
  EXPECT_EQ(RecordedIn(records[2]), DigestOf("key=c"));
  EXPECT_EQ(pods_.pod("web-1").read.back(), "c");
  EXPECT_THAT(writer_.calls(), IsEmpty());
}

// A source whose data changed after a refusal was never told to the pods, nor rolled, nor recorded.
TEST_F(OperatorInPlaceTest, AnotherSourceThatChangesAfterARefusalHasTheProgramAskedAgain) {
  Refuse(true);
  StartWithThree();
  Edit("b", 1);
  RunToReports(1);
  Refuse(false);
  SetMore("b");
  AwaitEvents("configmaps", "update", 2);
  Settle();
  const auto records = RunToRecords(3);
  EXPECT_EQ(RecordedIn(records[2]), DigestOf("key=b"));
  EXPECT_EQ(RecordedIn(records[2], kMoreConfig), DigestOf("key=b"));
  EXPECT_EQ(pods_.pod("web-1").read.back(), "b");
  EXPECT_EQ(pods_.pod("web-1").read_more.back(), "b");
  EXPECT_THAT(writer_.calls(), IsEmpty());
}

TEST_F(OperatorInPlaceTest, AfterARefusalAnotherProcessAsksAgainForBothSources) {
  Refuse(true);
  SetMore("b");
  PutConfigMap("env", "a");
  Baseline baseline{.uid = "uid-web"};
  baseline.Set(kMountedConfig, UnknownData(), {});
  baseline.Set(kMoreConfig, DigestOf("key=a"), {});
  auto deployment = WithBaseline(KeepingThree(), baseline.ToString());
  deployment.metadata.annotations[kReloadMark] = MarkFor("a");
  StartWith(deployment);
  const auto begun = RunToRecords(1);
  EXPECT_EQ(RecordedIn(begun[0], kMoreConfig), UnknownData());
  Refuse(false);
  SetMore("c");
  const auto records = RunToRecords(3);
  EXPECT_EQ(RecordedIn(records[2]), DigestOf("key=a"));
  EXPECT_EQ(RecordedIn(records[2], kMoreConfig), DigestOf("key=c"));
  EXPECT_THAT(writer_.calls(), IsEmpty());
}

TEST_F(OperatorInPlaceTest, AnotherSourceThatChangesMeanwhileIsReloadedAfterwards) {
  Stick(true);
  StartWithThree();
  Edit("b", 1);
  pods_.AwaitAsked("web-1", 1);
  SetMore("b");
  AwaitEvents("configmaps", "update", 2);
  Settle();
  Stick(false);
  const auto records = RunToRecords(4);
  EXPECT_EQ(RecordedIn(records[3]), DigestOf("key=b"));
  EXPECT_EQ(RecordedIn(records[3], kMoreConfig), DigestOf("key=b"));
  EXPECT_EQ(pods_.pod("web-1").read_more.back(), "b");
  EXPECT_THAT(writer_.calls(), IsEmpty());
}

// It was begun again and again for the refused data alone, at once and without an end.
TEST_F(OperatorInPlaceTest, AfterARefusalASourceThatIsOnHoldHasNobodyAskedAgain) {
  Refuse(true);
  StartWithThree();
  Edit("b", 1);
  RunToReports(1);
  door_.PutOnHold("more");
  SetMore("b");
  AwaitEvents("configmaps", "update", 2);
  Settle();
  LookAgain(5);
  EXPECT_THAT(writer_.AwaitRecords(0), SizeIs(1));
  EXPECT_GE(door_.taken_back, 4) << "or it would count as begun anew";
  EXPECT_THAT(reports_.texts(), SizeIs(1));
  Refuse(false);
  door_.PutOnHold("");
  const auto records = RunToRecords(3, Wakes::kYes);
  EXPECT_EQ(RecordedIn(records[2]), DigestOf("key=b"));
  EXPECT_EQ(RecordedIn(records[2], kMoreConfig), DigestOf("key=b"));
  EXPECT_THAT(writer_.calls(), IsEmpty());
}

TEST_F(OperatorInPlaceTest, ARefusedSourceThatIsPutOnHoldHasNobodyAskedAgain) {
  Refuse(true);
  StartWithThree();
  Edit("b", 1);
  RunToReports(1);
  door_.PutOnHold("config");
  SetMore("b");
  AwaitEvents("configmaps", "update", 2);
  Settle();
  RunToReports(2);
  EXPECT_THAT(writer_.AwaitRecords(0), SizeIs(2)) << "the program is asked once with both";
  LookAgain(5);
  EXPECT_THAT(writer_.AwaitRecords(0), SizeIs(2));
  EXPECT_THAT(writer_.calls(), IsEmpty());
}

// Nobody but the mark knew that the data were refused, and it goes while newer ones are held back.
TEST_F(OperatorInPlaceTest, RefusedDataThatComeBackWhileTheGateIsClosedAreRolledForNoOtherSource) {
  Refuse(true);
  StartWithThree();
  Edit("b", 1);
  RunToReports(1);
  door_.open = false;
  Edit("c", 2);
  KX_AWAIT(door_.kept == 1);
  EditEnv("b", 3);
  Edit("b", 4);
  LookAgain(1);
  door_.open = true;
  EXPECT_THAT(RunToReports(2, Wakes::kYes)[1], HasSubstr("New data of ConfigMap env wait as well"));
  EXPECT_THAT(writer_.calls(), IsEmpty());
  Refuse(false);
  SetMore("c");
  AwaitEvents("configmaps", "update", 5);
  Settle();
  const auto calls = RunToRollout();
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(RecordedIn(calls[0], kEnvConfig), DigestOf("key=b"));
}

// The mark counted as pods that begin, so that the data in between counted as those of some pods.
TEST_F(OperatorInPlaceTest, AMarkBeginsNoPods) {
  Refuse(true);
  SetMore("a");
  PutConfigMap("env", "a");
  StartWith(Complete(KeepingThree()));
  Edit("b", 1);
  RunToReports(1);
  const int told = door_.told;
  auto marked = WithBaseline(Complete(KeepingThree()), writer_.AwaitRecords(1)[0].baseline);
  marked.metadata.annotations[kReloadMark] = MarkFor("b");
  Put(*deployments_, marked);
  KX_AWAIT(door_.told > told);
  EditEnv("b", 2);
  RunToReports(2);
  EditEnv("a", 3);
  Refuse(false);
  Edit("c", 4);
  const auto records = RunToRecords(3);
  EXPECT_EQ(RecordedIn(records[2]), DigestOf("key=c"));
  EXPECT_EQ(RecordedIn(records[2], kEnvConfig), DigestOf("key=a"));
  EXPECT_THAT(writer_.calls(), IsEmpty());
}

// The mark was not for both, so it said nothing, and the refused data were rolled.
TEST_F(OperatorInPlaceTest, AnotherProcessAsksFirstWhereMoreIsUnknownThanTheMarkIsFor) {
  Refuse(true);
  door_.PutOnHold("more");
  auto deployment = LeftByAnother({kMountedConfig, kMoreConfig});
  deployment.metadata.annotations[kReloadMark] = MarkFor("b");
  StartWith(deployment);
  EXPECT_THAT(RunToReports(1)[0], HasSubstr("New data of ConfigMap env wait as well"));
  EXPECT_THAT(writer_.calls(), IsEmpty());
  Refuse(false);
  door_.PutOnHold("");
  const auto calls = RunToRollout(Wakes::kYes);
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(RecordedIn(calls[0], kEnvConfig), DigestOf("key=b"));
}

// Only the memory of the process that had taken the mark away knew of the refusal.
TEST_F(OperatorInPlaceTest, AnotherProcessAsksFirstWhereTheMarkIsGone) {
  Refuse(true);
  StartWith(LeftByAnother({kMountedConfig}));
  EXPECT_THAT(RunToReports(1)[0], HasSubstr("New data of ConfigMap env wait as well"));
  EXPECT_THAT(writer_.calls(), IsEmpty());
  Refuse(false);
  SetMore("c");
  AwaitEvents("configmaps", "update", 1);
  Settle();
  const auto calls = RunToRollout();
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(RecordedIn(calls[0]), DigestOf("key=b"));
  EXPECT_EQ(RecordedIn(calls[0], kEnvConfig), DigestOf("key=b"));
}

TEST_F(OperatorInPlaceTest, DataThatAreKnownAreRolledAtOnceByAnotherProcess) {
  StartWith(LeftByAnother({}));
  const auto calls = RunToRollout();
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(RecordedIn(calls[0], kEnvConfig), DigestOf("key=b"));
  EXPECT_THAT(pods_.pod("web-0").read, IsEmpty());
}

// What waited was left out of the rollout's record, and had another one made.
TEST_F(OperatorInPlaceTest, WhereNoMarkCanBeWrittenTheRolloutIsForWhatWaitsAsWell) {
  writer_.FailBaselines(apimachinery::Status(apimachinery::Reason::kInvalid, "too large", 422));
  StartWith(LeftByAnother({kMountedConfig}));
  KX_UNTIL(writer_.calls().size() >= 2) {
    LetTimePass();
  }
  EXPECT_THAT(writer_.calls()[1].patch, HasSubstr("STAKATER_ENV_CONFIGMAP"));
  EXPECT_THAT(pods_.pod("web-0").read, IsEmpty());
}

TEST_F(OperatorInPlaceTest, RefusedDataForWhichNoMarkCanBeWrittenAreNotRolled) {
  Refuse(true);
  StartWithThree();
  Edit("b", 1);
  RunToReports(1);
  writer_.FailBaselines(apimachinery::Status(apimachinery::Reason::kInvalid, "too large", 422));
  SetMore("b");
  AwaitEvents("configmaps", "update", 2);
  Settle();
  KX_UNTIL(Count("reloader_reconcile_total", {{"result", "error"}}) >= 2) {
    LetTimePass();
  }
  EXPECT_THAT(writer_.calls(), IsEmpty());
  EXPECT_GE(door_.taken_back, 2);
  EXPECT_EQ(reports_.texts()[1], "failed ");
}

TEST_F(OperatorInPlaceTest, AHistoryThatCannotBeWrittenHindersNoReload) {
  history_ = 5;
  writer_.FailHistories(apimachinery::Status(apimachinery::Reason::kInvalid, "too large", 422));
  StartWith(Mounting());
  Edit("b", 1);
  const auto records = RunToRecords(3);
  EXPECT_THAT(records[1].patch, HasSubstr("inPlace"));
  EXPECT_THAT(records[2].patch, Not(HasSubstr("inPlace")));
  EXPECT_EQ(RecordedIn(records[2]), DigestOf("key=b"));
  EXPECT_THAT(writer_.calls(), IsEmpty());
}

// A place that was reserved for a second attempt was kept for as long as the data were refused.
TEST_F(OperatorInPlaceTest, WhileNothingIsAskedForNoPlaceIsReserved) {
  Refuse(true);
  StartWithThree();
  Edit("b", 1);
  RunToReports(1);
  const int nothing = door_.nothing;
  door_.Wake();
  KX_UNTIL(door_.nothing > nothing) {
    LetTimePass();
  }
}

// The report went with the mark, so the program was asked for the same data again.
TEST_F(OperatorInPlaceTest, WhereTheGateClosesAfterARefusalNobodyIsAskedAgain) {
  Refuse(true);
  StartWithThree();
  Edit("b", 1);
  RunToReports(1);
  door_.PutOnHold("more");
  door_.open = false;
  SetMore("b");
  AwaitEvents("configmaps", "update", 2);
  Settle();
  LookAgain(2);
  door_.open = true;
  LookAgain(3);
  EXPECT_EQ(door_.kept, 0);
  EXPECT_THAT(writer_.AwaitRecords(0), SizeIs(1));
  EXPECT_THAT(reports_.texts(), SizeIs(1));
  door_.PutOnHold("");
  EXPECT_THAT(RunToReports(2, Wakes::kYes), SizeIs(2)) << "asked for both";
}

// The half that had not changed was rolled.
TEST_F(OperatorInPlaceTest, WhereHalfOfTheRefusedDataChangeTheProgramIsAskedAgain) {
  Refuse(true);
  StartWithThree();
  SetMore("b");
  AwaitEvents("configmaps", "update", 1);
  Edit("b", 2);
  RunToReports(1);
  EditEnv("b", 3);
  RunToReports(2);
  SetMore("c");
  AwaitEvents("configmaps", "update", 4);
  Settle();
  EXPECT_THAT(RunToReports(3)[2], HasSubstr("New data of ConfigMap env wait as well"));
  EXPECT_THAT(writer_.calls(), IsEmpty());
  SetMore("d");
  Edit("c", 6);
  const auto calls = RunToRollout();
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(RecordedIn(calls[0]), DigestOf("key=c")) << "nobody has refused any of these yet";
}

// The new pods kept the data of in between.
TEST_F(OperatorInPlaceTest, PodsThatBeginWhileASourceWaitsForARefusalAreRolledAfterIt) {
  Refuse(true);
  StartWithThree();
  Edit("b", 1);
  RunToReports(1);
  EditEnv("b", 2);
  RunToReports(2);
  BeginMorePods();
  EditEnv("a", 3);
  Edit("c", 4);
  const auto calls = RunToRollout();
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(RecordedIn(calls[0], kEnvConfig), DigestOf("key=a"));
}

TEST_F(OperatorInPlaceTest, PodsThatBeginWhileASourceWaitsForAReloadAreRolledAfterIt) {
  Stick(true);
  StartWithThree();
  Edit("b", 1);
  pods_.AwaitAsked("web-1", 1);
  EditEnv("b", 2);
  BeginMorePods();
  EditEnv("a", 3);
  Stick(false);
  const auto calls = RunToRollout();
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(RecordedIn(calls[0], kEnvConfig), DigestOf("key=a"));
}

// A rollout for the one would have given the other's bad data to all pods, without a word.
TEST_F(OperatorInPlaceTest, ASourceThatOnlyNewPodsGetWaitsWhileOtherDataAreRefused) {
  Refuse(true);
  StartWithThree();
  Edit("b", 1);
  RunToReports(1);
  EditEnv("b", 2);
  EXPECT_EQ(RunToReports(2)[1],
            "ReloadInPlaceRefused: The program refuses its new data: pod web-1: exec:nginx -s "
            "reload failed: its exit code is 1. The pods stay as they are until the data change. "
            "New data of ConfigMap env wait as well: only new pods get them, and these would begin "
            "with the data that are refused");
  door_.Wake();
  EXPECT_THAT(writer_.calls(), IsEmpty());
  Edit("c", 3);
  const auto calls = RunToRollout();
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(RecordedIn(calls[0]), DigestOf("key=c")) << "nobody has refused these yet";
}

TEST_F(OperatorInPlaceTest, ASourceThatOnlyNewPodsGetIsRolledWhenTheOtherIsReloaded) {
  Stick(true);
  StartWithThree();
  Edit("b", 1);
  pods_.AwaitAsked("web-1", 1);
  EditEnv("b", 2);
  Stick(false);
  EXPECT_EQ(RecordedIn(RunToRecords(2)[1]), DigestOf("key=b"));
  const auto calls = RunToRollout();
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(RecordedIn(calls[0], kEnvConfig), DigestOf("key=b"));
}

TEST_F(OperatorInPlaceTest, ARefusedExecIsFollowedByARollout) {
  for (const char* name : {"web-0", "web-1"}) {
    pods_.Change(name, [](FakePods::Pod& pod) {
      pod.look = apimachinery::Status(apimachinery::Reason::kForbidden, "no pods/exec", 403);
    });
  }
  StartWith(Mounting());
  Edit("b", 1);
  EXPECT_THAT(RunToRollout(), SizeIs(1));
  EXPECT_THAT(pods_.pod("web-0").read, IsEmpty());
}

TEST_F(OperatorInPlaceTest, OfTwoEditsInARowAllPodsGetTheLast) {
  Stick(true);
  StartWith(Mounting());
  Edit("b", 1);
  pods_.AwaitAsked("web-1", 1);
  pods_.AwaitReads("web-0", 1);
  Edit("c", 2);
  Stick(false);
  const auto records = RunToRecords(3);
  EXPECT_EQ(RecordedIn(records.back()), DigestOf("key=c"));
  EXPECT_THAT(pods_.pod("web-1").read, ElementsAre("c"));
  EXPECT_EQ(pods_.pod("web-0").read.back(), "c");
  EXPECT_THAT(writer_.calls(), IsEmpty());
  EXPECT_EQ(door_.asked, 2) << "nobody has said yet that these pods may get the newest data";
}

// A workload of a later wave got newer data before the canary.
TEST_F(OperatorInPlaceTest, NewerDataWaitForTheGateAndUntilThenNoPodIsReloaded) {
  Stick(true);
  StartWith(Mounting());
  Edit("b", 1);
  pods_.AwaitAsked("web-1", 1);
  pods_.AwaitReads("web-0", 1);
  door_.open = false;
  Edit("c", 2);
  Stick(false);
  const auto left = RunToRecords(2);
  EXPECT_THAT(left[1].patch, HasSubstr(kReloadMark + "\":null"));
  EXPECT_FALSE(left[1].names_baseline) << "it still says that the pods may have anything";
  KX_AWAIT(door_.kept == 1);
  clock_.Advance(std::chrono::minutes(1));
  EXPECT_THAT(pods_.pod("web-0").read, ElementsAre("b"));
  EXPECT_THAT(pods_.pod("web-1").read, IsEmpty());
  Baseline baseline{.uid = "uid-web"};
  baseline.Set(kMountedConfig, UnknownData(), {});
  const int told = door_.told;
  Put(*deployments_, WithBaseline(Mounting(), baseline.ToString()));
  KX_AWAIT(door_.told > told);
  door_.open = true;
  door_.Wake();
  const auto records = RunToRecords(4);
  EXPECT_EQ(RecordedIn(records[3]), DigestOf("key=c"));
  EXPECT_THAT(pods_.pod("web-0").read, ElementsAre("b", "c"));
  EXPECT_THAT(pods_.pod("web-1").read, ElementsAre("c"));
}

// The data change while no operator runs.
TEST_F(OperatorInPlaceTest, AnotherProcessAsksForDataThatAreNewerThanTheMark) {
  door_.open = false;
  Baseline baseline{.uid = "uid-web"};
  baseline.Set(kMountedConfig, UnknownData(), {});
  auto deployment = WithBaseline(Mounting(), baseline.ToString());
  deployment.metadata.annotations[kReloadMark] = MarkFor("b");
  Put(*deployments_, deployment);
  StartOperator();
  EXPECT_THAT(RunToRecords(1)[0].patch, HasSubstr(kReloadMark + "\":null"));
  EXPECT_EQ(door_.asked, 1);
  EXPECT_THAT(pods_.pod("web-0").read, IsEmpty());
}

TEST_F(OperatorInPlaceTest, DataThatComeBackMeanwhileAreGivenToAllPodsAgain) {
  Stick(true);
  StartWith(Mounting());
  Edit("b", 1);
  pods_.AwaitReads("web-0", 1);
  Edit("a", 2);
  Stick(false);
  const auto records = RunToRecords(3);
  EXPECT_EQ(RecordedIn(records.back()), DigestOf("key=a"));
  EXPECT_EQ(pods_.pod("web-0").read, (std::vector<std::string>{"b", "a"}));
}

TEST_F(OperatorInPlaceTest, AnotherProcessFinishesWhatIsUnderWay) {
  Baseline baseline{.uid = "uid-web"};
  baseline.Set(kMountedConfig, UnknownData(), {});
  auto deployment = WithBaseline(Mounting(), baseline.ToString());
  deployment.metadata.annotations[kReloadMark] = MarkFor("a");
  Put(*deployments_, deployment);
  StartOperator();
  const auto records = RunToRecords(1);
  EXPECT_EQ(RecordedIn(records[0]), DigestOf("key=a"));
  EXPECT_THAT(records[0].patch, HasSubstr(kReloadMark + "\":null"));
  EXPECT_THAT(pods_.pod("web-0").read, ElementsAre("a"));
  EXPECT_THAT(pods_.pod("web-1").read, ElementsAre("a"));
  EXPECT_EQ(door_.asked, 0) << "it was let go when it began";
}

TEST_F(OperatorInPlaceTest, AnOperatorWithoutReloadsInPlaceRollsWhatIsUnderWay) {
  OperatorTest::pods_ = nullptr;
  Baseline baseline{.uid = "uid-web"};
  baseline.Set(kMountedConfig, UnknownData(), {});
  auto deployment = WithBaseline(Mounting(), baseline.ToString());
  deployment.metadata.annotations[kReloadMark] = "uid-web 2026-01-01T00:00:00Z";
  Put(*deployments_, deployment);
  StartOperator();
  const auto calls = RunToRollout();
  EXPECT_THAT(calls[0].patch, HasSubstr(kReloadMark + "\":null"));
  EXPECT_EQ(RecordedIn(calls[0]), DigestOf("key=a"));
}

TEST_F(OperatorInPlaceTest, AMarkThatIsLeftIsTakenAway) {
  auto deployment = Mounting();
  deployment.metadata.annotations[kReloadMark] = "uid-of-another 2026-01-01T00:00:00Z";
  Put(*deployments_, deployment);
  StartOperator();
  const auto records = RunToRecords(1);
  EXPECT_THAT(records[0].patch, HasSubstr(kReloadMark + "\":null"));
  EXPECT_THAT(pods_.pod("web-0").read, IsEmpty());
}

TEST_F(OperatorInPlaceTest, ASourceInTheEnvironmentIsRolledAtOnce) {
  auto deployment = Mounting();
  deployment.spec.template_.spec.containers[0]
      .env_from.emplace_back()
      .config_map_ref.emplace()
      .local_object_reference.name = "config";
  StartWith(deployment);
  Edit("b", 1);
  EXPECT_THAT(writer_.Await(1)[0].patch, Not(HasSubstr(kReloadMark)));
  EXPECT_THAT(pods_.pod("web-0").read, IsEmpty());
}

TEST_F(OperatorInPlaceTest, AnActionThatCannotBeReadIsARollout) {
  StartWith(Mounting("signal:KILL"));
  Edit("b", 1);
  writer_.Await(1);
  EXPECT_THAT(pods_.pod("web-0").read, IsEmpty());
  ASSERT_THAT(reports_.texts(), Not(IsEmpty()));
  EXPECT_EQ(reports_.texts()[0],
            "InvalidAnnotation: reloader.kubexx.io/reload-in-place: the signal must be one of HUP, "
            "USR1, USR2 and WINCH; the workload is rolled instead");
}

TEST_F(OperatorInPlaceTest, AGateHoldsItBackAsARollout) {
  door_.open = false;
  StartWith(Mounting());
  Edit("b", 1);
  KX_AWAIT_EQ(door_.asked, 1);
  EXPECT_THAT(writer_.AwaitRecords(0), IsEmpty());
  EXPECT_THAT(pods_.pod("web-0").read, IsEmpty());
  door_.open = true;
  door_.Wake();
  EXPECT_EQ(RecordedIn(RunToRecords(2)[1]), DigestOf("key=b"));
}

TEST_F(OperatorInPlaceTest, AnotherEditIsAnotherReload) {
  StartWith(Mounting());
  Edit("b", 1);
  RunToRecords(2);
  Edit("c", 2);
  const auto records = RunToRecords(4);
  EXPECT_EQ(RecordedIn(records[3]), DigestOf("key=c"));
  EXPECT_THAT(pods_.pod("web-0").read, ElementsAre("b", "c"));
  EXPECT_EQ(door_.asked, 2);
}

TEST_F(OperatorInPlaceTest, AMarkThatCannotBeWrittenIsFollowedByARollout) {
  writer_.FailBaselines(apimachinery::Status(apimachinery::Reason::kInvalid, "too large", 422));
  StartWith(Mounting());
  Edit("b", 1);
  const auto calls = RunToRollout();
  EXPECT_THAT(pods_.pod("web-0").read, IsEmpty());
  EXPECT_THAT(calls.back().patch, HasSubstr(DigestText("b")));
}

TEST_F(OperatorInPlaceTest, TheHistoryTellsOfIt) {
  history_ = 5;
  StartWith(Mounting());
  Edit("b", 1);
  const auto records = RunToRecords(2);
  EXPECT_THAT(records[1].patch, HasSubstr(R"(\"outcome\":\"done\")"));
  EXPECT_THAT(records[1].patch, HasSubstr(R"(\"inPlace\":\"signal:HUP\")"));
}

TEST_F(OperatorInPlaceTest, AWorkloadThatIsBeingReloadedCountsAsUnderWay) {
  auto deployment = Complete(Mounting());
  deployment.metadata.annotations[kReloadMark] = "uid-web 2026-01-01T00:00:00Z";
  cache::Object object{
      .encoding = codec::Encoding::kJson, .bytes = codec::EncodeJson(deployment), .key = kWeb.key};
  ASSERT_TRUE(ProjectWorkload(WorkloadKind::kDeployment, {}, object));
  const auto workload = WorkloadFrom(WorkloadKind::kDeployment, object);
  ASSERT_TRUE(workload);
  EXPECT_EQ(workload->phase, reloadpolicy::Phase::kUpdating);
  EXPECT_TRUE(AllPodsAreReplaced(*workload)) << "all pods are of the present template";
  EXPECT_FALSE(BeginsPods(*workload));
}

}  // namespace
}  // namespace kubexx::reloader
