#include "kubexx/reloader/in_place/pod_reload.h"

#include <gmock/gmock.h>

#include <chrono>
#include <string>

#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/reloader/testing/fake_pods.h"

namespace kubexx::reloader {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr ReloadTimes kUsualTimes;
const apimachinery::Status kNoConnection(apimachinery::Reason::kUnavailable, "connection refused");
const apimachinery::Status kDenied(apimachinery::Reason::kForbidden,
                                   "cannot create resource pods/exec", 403);

/// One pod, and the data that it is to have.
class PodReloadTest : public testing::Test {
 protected:
  using Progress = PodReload::Progress;

  PodReloadTest() {
    pods_.SetData("a");
    pods_.Add("web-0", "u0");
    pods_.SetData("b");
  }
  PodReload Reload() {
    return PodReload({.pod = {"ns", "web-0"},
                      .uid = "u0",
                      .action = *ParseReloadAction("signal:HUP"),
                      .container = "app",
                      .checks = {{.container = "app",
                                  .directory = "/config",
                                  .files = {{"key", Sha256Of("b")}},
                                  .names = {"key"}}}});
  }
  PodReload::Outcome Step(PodReload& reload) { return reload.Step(pods_, clock_, {}); }
  void Pass(base::Duration time) { clock_.Advance(time); }
  base::TimePoint Now() const { return clock_.Now(); }
  /// Steps as the outcomes ask for it, until there is no more to do or `time` has passed.
  PodReload::Outcome RunFor(PodReload& reload, base::Duration time) {
    const base::TimePoint end = Now() + time;
    PodReload::Outcome outcome = Step(reload);
    while (outcome.progress == Progress::kAgain && Now() < end) {
      EXPECT_GT(outcome.after, base::Duration(0));
      Pass(outcome.after);
      outcome = Step(reload);
    }
    return outcome;
  }
  /// Steps until there is no more to do.
  PodReload::Outcome RunToEnd(PodReload& reload) {
    return RunFor(reload, std::chrono::minutes(20));
  }
  void Stick(bool is_stuck) {
    pods_.Change("web-0", [is_stuck](FakePods::Pod& pod) { pod.is_stuck = is_stuck; });
  }
  void FailAction(std::optional<apimachinery::Status> status) {
    pods_.Change("web-0", [&status](FakePods::Pod& pod) { pod.action = std::move(status); });
  }
  std::vector<std::string> WhatItRead() { return pods_.pod("web-0").read; }

  FakePods pods_;
  base::testing::FakeClock clock_;
};

TEST_F(PodReloadTest, AsksTheKubeletAndActsWhenTheFilesAreThere) {
  PodReload reload = Reload();
  const auto first = Step(reload);
  EXPECT_EQ(first.progress, Progress::kAgain);
  EXPECT_THAT(WhatItRead(), ElementsAre("b"));
  EXPECT_EQ(RunToEnd(reload).progress, Progress::kDone);
  EXPECT_THAT(WhatItRead(), ElementsAre("b")) << "it acts once";
}

TEST_F(PodReloadTest, LooksAtManyFilesInParts) {
  MountCheck check{.container = "app", .directory = "/config"};
  KeyHashes files;
  for (int i = 0; i < 600; ++i) {
    const std::string key = "key-" + std::to_string(i);
    files[key] = Sha256Of(key);
    check.names.insert(key);
  }
  check.files.assign(files.begin(), files.end());
  pods_.Change("web-0", [&](FakePods::Pod& pod) {
    pod.is_stuck = true;  // the files are there
    pod.files = files;
  });
  PodReload reload({.pod = {"ns", "web-0"},
                    .uid = "u0",
                    .action = *ParseReloadAction("signal:HUP"),
                    .container = "app",
                    .checks = {check}});
  EXPECT_EQ(RunToEnd(reload).progress, Progress::kDone);
  EXPECT_THAT(WhatItRead(), testing::SizeIs(1));
  EXPECT_LE(pods_.pod("web-0").longest_look, 300U) << "its output would be cut off";
}

TEST_F(PodReloadTest, DoesNotActBeforeTheFilesAreThereAndAsksAgain) {
  pods_.Change("web-0", [](FakePods::Pod& pod) { pod.is_stuck = true; });
  PodReload reload = Reload();
  for (int i = 0; i < 20; ++i) {
    const auto outcome = Step(reload);
    ASSERT_EQ(outcome.progress, Progress::kAgain);
    EXPECT_LE(outcome.after, kUsualTimes.longest_look);
    Pass(outcome.after);
  }
  EXPECT_THAT(WhatItRead(), IsEmpty());
  EXPECT_GT(pods_.pod("web-0").asked, 5);
  pods_.Change("web-0", [](FakePods::Pod& pod) { pod.is_stuck = false; });
  EXPECT_EQ(RunToEnd(reload).progress, Progress::kDone);
  EXPECT_THAT(WhatItRead(), ElementsAre("b"));
}

TEST_F(PodReloadTest, APodThatNeverGetsTheFilesFails) {
  pods_.Change("web-0", [](FakePods::Pod& pod) { pod.is_stuck = true; });
  PodReload reload = Reload();
  const base::TimePoint begin = Now();
  const auto outcome = RunToEnd(reload);
  EXPECT_EQ(outcome.progress, Progress::kFailed);
  EXPECT_THAT(outcome.why, HasSubstr("not written the files in time"));
  EXPECT_LE(Now() - begin, kUsualTimes.files + kUsualTimes.longest_look);
  EXPECT_THAT(WhatItRead(), IsEmpty());
}

// Where many pods wait for their turn, the last ones failed without being looked at.
TEST_F(PodReloadTest, TheTimeForTheFilesBeginsWithTheFirstLook) {
  Stick(true);
  PodReload reload = Reload();
  Pass(kUsualTimes.files + seconds(50));
  EXPECT_EQ(Step(reload).progress, Progress::kAgain);
  Pass(kUsualTimes.files);
  Stick(false);
  EXPECT_EQ(RunToEnd(reload).progress, Progress::kDone) << "it is late, and the files are there";
}

TEST_F(PodReloadTest, WhatALookFailsWithIsTold) {
  pods_.Change("web-0", [](FakePods::Pod& pod) { pod.look_code = 1; });
  PodReload unreadable = Reload();
  EXPECT_EQ(RunToEnd(unreadable).why,
            "sha256sum in container app ends with the exit code 1: a file is not there, or may not "
            "be read");
  pods_.Change("web-0", [](FakePods::Pod& pod) {
    pod.look_code.reset();
    pod.has_endless_directory = true;
  });
  PodReload endless = Reload();
  EXPECT_EQ(RunToEnd(endless).why, "/config in container app has more names than can be read");
}

TEST_F(PodReloadTest, AFileThatIsToGoMustBeGone) {
  pods_.Change("web-0", [](FakePods::Pod& pod) {
    pod.is_stuck = true;
    pod.files = {{"key", Sha256Of("b")}, {"removed", Sha256Of("x")}};
  });
  PodReload reload = Reload();
  EXPECT_EQ(Step(reload).progress, Progress::kAgain);
  EXPECT_THAT(WhatItRead(), IsEmpty());
}

TEST_F(PodReloadTest, APodThatIsGoneOrReplacedNeedsNoReload) {
  PodReload gone = Reload();
  pods_.Delete("web-0");
  EXPECT_EQ(Step(gone).progress, Progress::kGone);
  pods_.Add("web-0", "u1");
  PodReload replaced = Reload();
  EXPECT_EQ(Step(replaced).progress, Progress::kGone);
  pods_.Add("web-0", "u0");
  pods_.Change("web-0",
               [](FakePods::Pod& pod) { pod.object.metadata.deletion_timestamp.emplace(); });
  PodReload leaving = Reload();
  EXPECT_EQ(Step(leaving).progress, Progress::kGone);
}

TEST_F(PodReloadTest, APodThatIsDeletedAfterTheActionNeedsNoMore) {
  PodReload reload = Reload();
  EXPECT_EQ(Step(reload).progress, Progress::kAgain);
  pods_.Delete("web-0");
  Pass(kUsualTimes.settle);
  EXPECT_EQ(Step(reload).progress, Progress::kGone);
}

TEST_F(PodReloadTest, AMissingRightFailsBeforeLongWithTheServersMessage) {
  pods_.Change("web-0", [](FakePods::Pod& pod) { pod.look = kDenied; });
  PodReload reload = Reload();
  const base::TimePoint begin = Now();
  const auto outcome = RunToEnd(reload);
  EXPECT_EQ(outcome.progress, Progress::kFailed);
  EXPECT_THAT(outcome.why, HasSubstr("cannot create resource pods/exec"));
  EXPECT_LE(Now() - begin, kUsualTimes.denied + kUsualTimes.longest_look);
}

// It denies what it allows as long as it has not read all roles.
TEST_F(PodReloadTest, WhatAServerDeniesThatIsBeingStartedIsTriedAgain) {
  pods_.Change("web-0", [](FakePods::Pod& pod) { pod.look = kDenied; });
  PodReload reload = Reload();
  EXPECT_EQ(RunFor(reload, seconds(5)).progress, Progress::kAgain);
  pods_.Change("web-0", [](FakePods::Pod& pod) { pod.look.reset(); });
  EXPECT_EQ(RunToEnd(reload).progress, Progress::kDone);
}

// Restarts of API servers, which take half a minute, were followed by rollouts.
TEST_F(PodReloadTest, TheTimeForWhichTheApiServerIsAwayDoesNotCount) {
  Stick(true);
  PodReload reload = Reload();
  EXPECT_EQ(RunFor(reload, seconds(140)).progress, Progress::kAgain);
  pods_.FailAll(kNoConnection);
  EXPECT_EQ(RunFor(reload, seconds(60)).progress, Progress::kAgain);
  pods_.FailAll(std::nullopt);
  EXPECT_EQ(Step(reload).progress, Progress::kAgain);
  Stick(false);
  EXPECT_EQ(RunToEnd(reload).progress, Progress::kDone);
}

TEST_F(PodReloadTest, AnApiServerThatIsAwayAfterTheActionIsAwaited) {
  Stick(true);
  PodReload reload = Reload();
  EXPECT_EQ(RunFor(reload, seconds(148)).progress, Progress::kAgain);
  Stick(false);
  EXPECT_EQ(RunFor(reload, milliseconds(1)).progress, Progress::kAgain);
  ASSERT_THAT(WhatItRead(), ElementsAre("b"));
  pods_.FailAll(kNoConnection);
  EXPECT_EQ(RunFor(reload, seconds(70)).progress, Progress::kAgain);
  pods_.FailAll(std::nullopt);
  EXPECT_EQ(RunToEnd(reload).progress, Progress::kDone);
}

TEST_F(PodReloadTest, AnApiServerThatStaysAwayFailsIt) {
  pods_.FailAll(kNoConnection);
  PodReload reload = Reload();
  const base::TimePoint begin = Now();
  const auto outcome = RunToEnd(reload);
  EXPECT_EQ(outcome.progress, Progress::kFailed);
  EXPECT_EQ(outcome.why, "the pod cannot be read: connection refused");
  EXPECT_LE(Now() - begin, kUsualTimes.outage + kUsualTimes.longest_look);
}

TEST_F(PodReloadTest, AContainerWithoutTheToolsFailsAtOnce) {
  pods_.Change("web-0", [](FakePods::Pod& pod) { pod.look_code = 127; });
  PodReload reload = Reload();
  const auto outcome = Step(reload);
  EXPECT_EQ(outcome.progress, Progress::kFailed);
  EXPECT_EQ(outcome.why, "container app has no sha256sum");
}

TEST_F(PodReloadTest, ErrorsThatMayPassAreTriedAgainAFewTimes) {
  const auto broken = [](FakePods::Pod& pod) {
    pod.look = apimachinery::Status(apimachinery::Reason::kInternalError, "dialing backend", 500);
  };
  pods_.Change("web-0", broken);
  PodReload passing = Reload();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Step(passing).progress, Progress::kAgain);
  }
  pods_.Change("web-0", [](FakePods::Pod& pod) { pod.look.reset(); });
  EXPECT_EQ(RunToEnd(passing).progress, Progress::kDone);
  pods_.Change("web-0", broken);
  PodReload hopeless = Reload();
  const auto outcome = RunToEnd(hopeless);
  EXPECT_EQ(outcome.progress, Progress::kFailed);
  EXPECT_THAT(outcome.why, HasSubstr("dialing backend"));
}

TEST_F(PodReloadTest, AnActionThatFailsOrHangsFails) {
  for (const auto reason : {apimachinery::Reason::kBadRequest, apimachinery::Reason::kTimeout}) {
    pods_.Change("web-0", [&](FakePods::Pod& pod) {
      pod.action = apimachinery::Status(reason, "its exit code is 1");
    });
    PodReload reload = Reload();
    const auto outcome = RunToEnd(reload);
    EXPECT_EQ(outcome.progress, Progress::kFailed);
    EXPECT_EQ(outcome.why, "signal:HUP failed: its exit code is 1");
    EXPECT_EQ(outcome.is_refused, reason == apimachinery::Reason::kBadRequest);
  }
}

TEST_F(PodReloadTest, AnActionWithoutAnAnswerIsCarriedOutAgain) {
  FailAction(kNoConnection);
  PodReload reload = Reload();
  EXPECT_EQ(RunFor(reload, seconds(60)).progress, Progress::kAgain);
  FailAction(std::nullopt);
  EXPECT_EQ(RunToEnd(reload).progress, Progress::kDone);
  FailAction(kNoConnection);
  PodReload hopeless = Reload();
  EXPECT_EQ(RunToEnd(hopeless).why, "signal:HUP failed: connection refused");
}

TEST_F(PodReloadTest, AnActionThatFailsWhenThePodCannotBeReadIsCarriedOutAgain) {
  FailAction(apimachinery::Status(apimachinery::Reason::kInvalid, "the answer has the status 404"));
  pods_.Change("web-0", [this](FakePods::Pod& pod) {
    pod.before_action = [this] { pods_.FailGets(kNoConnection); };
  });
  PodReload reload = Reload();
  EXPECT_EQ(Step(reload).progress, Progress::kAgain) << "nobody knows whether it has ended";
  pods_.FailGets(std::nullopt);
  pods_.Change("web-0", [](FakePods::Pod& pod) { pod.before_action = {}; });
  EXPECT_EQ(RunToEnd(reload).progress, Progress::kFailed);
}

// Through the API server's proxy a pod that is gone answers as one whose program knows no such
// path.
TEST_F(PodReloadTest, APodThatEndsBeforeItsActionHasNotFailed) {
  pods_.Change("web-0", [](FakePods::Pod& pod) {
    pod.action =
        apimachinery::Status(apimachinery::Reason::kInvalid, "the answer has the status 404");
    pod.ends_in_action = true;
  });
  PodReload reload = Reload();
  EXPECT_EQ(RunToEnd(reload).progress, Progress::kGone);
}

TEST_F(PodReloadTest, APodThatIsNotReadyAfterwardsFails) {
  pods_.Change("web-0", [](FakePods::Pod& pod) { pod.is_unready_after = true; });
  PodReload reload = Reload();
  const auto outcome = RunToEnd(reload);
  EXPECT_EQ(outcome.progress, Progress::kFailed);
  EXPECT_EQ(outcome.why, "the pod is not ready after signal:HUP");
}

TEST_F(PodReloadTest, TheMinuteUntilReadyBeginsAfterTheAction) {
  pods_.Change("web-0", [this](FakePods::Pod& pod) {
    pod.before_action = [this] { Pass(seconds(29)); };
    pod.is_unready_after = true;
  });
  PodReload reload = Reload();
  EXPECT_EQ(Step(reload).progress, Progress::kAgain);
  EXPECT_EQ(RunFor(reload, kUsualTimes.ready - seconds(5)).progress, Progress::kAgain);
}

TEST_F(PodReloadTest, AContainerThatIsBeingStartedIsAwaited) {
  pods_.Change("web-0", [](FakePods::Pod& pod) {
    pod.object.status.container_statuses.front().state.running.reset();
  });
  PodReload reload = Reload();
  EXPECT_EQ(Step(reload).progress, Progress::kAgain);
  EXPECT_THAT(WhatItRead(), IsEmpty());
  pods_.Change("web-0", [](FakePods::Pod& pod) {
    pod.object.status.container_statuses.front().state.running.emplace();
  });
  EXPECT_EQ(RunToEnd(reload).progress, Progress::kDone);
}

TEST(ContainerForTest, IsTheNamedOneOrTheDefault) {
  api::core::v1::Pod pod;
  pod.spec.containers.resize(2);
  pod.spec.containers[0].name = "app";
  pod.spec.containers[1].name = "side";
  ReloadAction action = *ParseReloadAction("signal:HUP");
  EXPECT_EQ(*ContainerFor(pod, action), "app");
  pod.metadata.annotations["kubectl.kubernetes.io/default-container"] = "side";
  EXPECT_EQ(*ContainerFor(pod, action), "side");
  action.container = "app";
  EXPECT_EQ(*ContainerFor(pod, action), "app");
  action.container = "none";
  EXPECT_THAT(ContainerFor(pod, action).error().message, HasSubstr("no container none"));
}

TEST(ContainerForTest, ASignalIsNotSentIntoSharedProcesses) {
  api::core::v1::Pod pod;
  pod.spec.containers.emplace_back().name = "app";
  pod.spec.share_process_namespace = true;
  EXPECT_THAT(ContainerFor(pod, *ParseReloadAction("signal:HUP")).error().message,
              HasSubstr("share their processes"));
  EXPECT_TRUE(ContainerFor(pod, *ParseReloadAction("exec:true")));
  pod.spec.share_process_namespace.reset();
  pod.spec.host_pid = true;
  EXPECT_FALSE(ContainerFor(pod, *ParseReloadAction("signal:HUP")));
}

}  // namespace
}  // namespace kubexx::reloader
