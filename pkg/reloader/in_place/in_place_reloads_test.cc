#include "kubexx/reloader/in_place/in_place_reloads.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <string>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/reloader/testing/fake_pods.h"

namespace kubexx::reloader {
namespace {

using std::chrono::milliseconds;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const WorkloadId kReloaded{WorkloadKind::kDeployment, {"ns", "web"}};
const SourceId kReloadSource{SourceType::kConfigMap, {"ns", "config"}};

class InPlaceReloadsTest : public testing::Test {
 protected:
  using State = InPlaceReloads::State;

  InPlaceReloadsTest() {
    pods_.SetData("a");
    pods_.Add("web-0", "u0");
    pods_.Add("web-1", "u1");
    pods_.SetData("b");
    Make({});
  }
  /// Makes the object that is tested anew, with these options.
  void Make(InPlaceReloads::Options options) {
    reloads_.reset();
    reloads_ = std::make_unique<InPlaceReloads>(
        InPlaceReloads::Options{.clock = clock_,
                                .registry = &registry_,
                                .threads = 2,
                                .list_every = options.list_every,
                                .on_end = [this](const WorkloadId&) { ++ends_; }},
        pods_);
  }
  void Start(const std::string& value = "b") {
    reloads_->Start({.workload = kReloaded,
                     .uid = "uid",
                     .action = *ParseReloadAction("signal:HUP"),
                     .data = {{kReloadSource, DigestOf("key=" + value)}}});
  }
  State StateNow() const { return reloads_->Look(kReloaded).state; }
  /// Lets time pass until the reload has ended: only while somebody waits for it, or all patience
  /// would be over before a busy machine lets a thread run.
  State AwaitEnd() {
    KX_UNTIL(StateNow() != State::kRunning) {
      if (clock_.Sleepers() > 0) {
        clock_.Advance(milliseconds(200));
      }
    }
    return StateNow();
  }
  /// Lets time pass in small steps, as long as the reload runs.
  void PassWhileRunning(base::Duration time) {
    const base::TimePoint end = clock_.Now() + time;
    KX_UNTIL(clock_.Now() >= end || StateNow() != State::kRunning) {
      if (clock_.Sleepers() > 0) {
        clock_.Advance(milliseconds(200));
      }
    }
  }
  double Ended(const std::string& result) {
    return registry_.Counter("reloader_in_place_reloads_total", "", {{"result", result}}).Value();
  }

  base::testing::FakeClock clock_;
  metrics::Registry registry_;
  FakePods pods_;
  std::atomic<int> ends_ = 0;
  std::unique_ptr<InPlaceReloads> reloads_;
};

TEST_F(InPlaceReloadsTest, EveryPodIsReloadedOnce) {
  EXPECT_EQ(StateNow(), State::kNone);
  Start();
  EXPECT_EQ(AwaitEnd(), State::kDone);
  EXPECT_THAT(pods_.pod("web-0").read, ElementsAre("b"));
  EXPECT_THAT(pods_.pod("web-1").read, ElementsAre("b"));
  EXPECT_EQ(reloads_->Look(kReloaded).pods, 2U);
  KX_AWAIT(ends_ == 1);
  EXPECT_EQ(Ended("success"), 1);
  reloads_->Forget(kReloaded);
  EXPECT_EQ(StateNow(), State::kNone);
}

TEST_F(InPlaceReloadsTest, APodThatBeginsMeanwhileIsReloadedToo) {
  pods_.Change("web-1", [](FakePods::Pod& pod) { pod.is_stuck = true; });
  Start();
  pods_.AwaitReads("web-0", 1);
  pods_.Add("web-2", "u2");
  pods_.Change("web-1", [](FakePods::Pod& pod) { pod.is_stuck = false; });
  EXPECT_EQ(AwaitEnd(), State::kDone);
  EXPECT_THAT(pods_.pod("web-2").read, ElementsAre("b"));
  EXPECT_THAT(pods_.pod("web-0").read, ElementsAre("b"));
}

TEST_F(InPlaceReloadsTest, APodThatIsDeletedMeanwhileIsLeftOut) {
  pods_.Change("web-1", [](FakePods::Pod& pod) { pod.is_stuck = true; });
  Start();
  pods_.AwaitReads("web-0", 1);
  pods_.AwaitAsked("web-1", 1);
  pods_.Delete("web-1");
  EXPECT_EQ(AwaitEnd(), State::kDone);
  EXPECT_EQ(reloads_->Look(kReloaded).pods, 1U);
}

TEST_F(InPlaceReloadsTest, APodOfTheSameNameThatFollowsIsReloaded) {
  pods_.Change("web-1", [](FakePods::Pod& pod) { pod.is_stuck = true; });
  Start();
  pods_.AwaitAsked("web-1", 1);
  pods_.Add("web-1", "u1-anew");
  EXPECT_EQ(AwaitEnd(), State::kDone);
  // The request that was stuck may reach the pod that has the name now, which then is asked twice.
  EXPECT_THAT(pods_.pod("web-1").read, AnyOf(ElementsAre("b"), ElementsAre("b", "b")));
}

// It hung for ever: the one step that both shared was of the pod that is gone.
TEST_F(InPlaceReloadsTest, APodThatFollowsOneInTheQueueIsReloaded) {
  Make({.list_every = base::Duration(0)});
  pods_.Change("web-1", [](FakePods::Pod& pod) { pod.is_stuck = true; });
  std::atomic<int> lists = 0;
  pods_.OnList([&] {
    if (++lists == 2) {
      clock_.Advance(std::chrono::seconds(3));
      KX_AWAIT(registry_.Gauge("workqueue_depth", "", {{"name", "in_place"}}).Value() >= 1);
      pods_.Add("web-1", "a-before-u1");
    }
  });
  Start();
  EXPECT_EQ(AwaitEnd(), State::kDone);
  EXPECT_THAT(pods_.pod("web-1").read, ElementsAre("b"));
}

// A DaemonSet of 2000 pods was listed 2000 times.
TEST_F(InPlaceReloadsTest, ManyPodsAreListedAFewTimes) {
  for (int i = 2; i < 40; ++i) {
    pods_.Add("web-" + std::to_string(i), "u" + std::to_string(i));
  }
  Start();
  EXPECT_EQ(AwaitEnd(), State::kDone);
  EXPECT_EQ(reloads_->Look(kReloaded).pods, 40U);
  EXPECT_LE(pods_.lists(), 6);
}

TEST_F(InPlaceReloadsTest, APodThatDoesNotUseTheSourceIsLeftAlone) {
  pods_.Change("web-1", [](FakePods::Pod& pod) {
    auto& spec = pod.object.spec;
    std::erase_if(spec.volumes, [](const auto& volume) { return volume.name == "v"; });
    std::erase_if(spec.containers.front().volume_mounts,
                  [](const auto& mount) { return mount.name == "v"; });
  });
  Start();
  EXPECT_EQ(AwaitEnd(), State::kDone) << reloads_->Look(kReloaded).why;
  EXPECT_THAT(pods_.pod("web-0").read, ElementsAre("b"));
  EXPECT_THAT(pods_.pod("web-1").read, IsEmpty());
}

/// Two pods, of which one cannot be reloaded as it is of an earlier template.
class InPlaceReleaseTest : public InPlaceReloadsTest {
 protected:
  InPlaceReleaseTest() {
    pods_.Change("web-0", [](FakePods::Pod& pod) {
      pod.object.metadata.labels["pod-template-hash"] = "new";
    });
    pods_.Change("web-1", [](FakePods::Pod& pod) {
      pod.object.metadata.labels["pod-template-hash"] = "old";
      pod.object.spec.containers.front().volume_mounts.front().sub_path = "key";
    });
  }
};

TEST_F(InPlaceReleaseTest, APodOfAnEarlierTemplateIsAwaitedToGo) {
  Start();
  pods_.AwaitReads("web-0", 1);
  PassWhileRunning(std::chrono::seconds(60));
  EXPECT_EQ(StateNow(), State::kRunning) << reloads_->Look(kReloaded).why;
  pods_.Delete("web-1");
  EXPECT_EQ(AwaitEnd(), State::kDone);
}

TEST_F(InPlaceReleaseTest, APodOfAnEarlierTemplateThatStaysFailsTheReload) {
  Start();
  EXPECT_EQ(AwaitEnd(), State::kFailed);
  EXPECT_THAT(reloads_->Look(kReloaded).why, HasSubstr("pod web-1: container app mounts volume v"));
}

TEST_F(InPlaceReleaseTest, ANewPodThatCannotBeReloadedFailsItWhenTheOldOnesAreGone) {
  pods_.Delete("web-0");
  Start();
  EXPECT_EQ(AwaitEnd(), State::kFailed);
  EXPECT_LE(reloads_->Look(kReloaded).duration, std::chrono::seconds(1));
}

// A Secret beside the source in a projected volume is no reason for a reload, and changes too.
TEST_F(InPlaceReloadsTest, ANeighbourThatChangesMeanwhileIsReadAgain) {
  pods_.Delete("web-0");
  pods_.SetMore("old");
  pods_.Change("web-1", [](FakePods::Pod& pod) {
    pod.is_stuck = true;
    pod.files = {{"key", Sha256Of("b")}, {"more", Sha256Of("new")}};
    auto& source = pod.object.spec.volumes.front().volume_source;
    source.config_map.reset();
    auto& projected = source.projected.emplace().sources;
    projected.emplace_back().config_map.emplace().local_object_reference.name = "config";
    auto& more = projected.emplace_back().config_map.emplace();
    more.local_object_reference.name = "more";
    more.items.push_back({.key = "key", .path = "more"});
  });
  Start();
  PassWhileRunning(std::chrono::seconds(2));
  EXPECT_THAT(pods_.pod("web-1").read, IsEmpty());
  pods_.SetMore("new");
  EXPECT_EQ(AwaitEnd(), State::kDone) << reloads_->Look(kReloaded).why;
}

TEST_F(InPlaceReloadsTest, AStuckPodHoldsUpNoOtherWorkload) {
  for (const char* name : {"web-0", "web-1"}) {
    pods_.Change(name, [](FakePods::Pod& pod) { pod.is_stuck = true; });
  }
  Start();
  pods_.AwaitAsked("web-0", 1);
  pods_.AwaitAsked("web-1", 1);
  // Both threads are free: this one lists the pods, and fails by its own fault.
  const WorkloadId other{WorkloadKind::kDeployment, {"ns", "other"}};
  pods_.FailLists(apimachinery::Status(apimachinery::Reason::kForbidden, "may not list", 403));
  reloads_->Start({.workload = other,
                   .uid = "uid",
                   .action = *ParseReloadAction("exec:true"),
                   .data = {{kReloadSource, DigestOf("x")}}});
  KX_UNTIL(reloads_->Look(other).state == State::kFailed) {
    if (clock_.Sleepers() > 0) {
      clock_.Advance(milliseconds(200));
    }
  }
  EXPECT_EQ(reloads_->Look(other).why, "may not list");
  EXPECT_EQ(StateNow(), State::kRunning);
}

// The pods of other namespaces were rolled, as their time was over before anybody looked at them.
TEST_F(InPlaceReloadsTest, PodsThatHangHoldUpNoOtherNamespace) {
  std::atomic<bool> is_released = false;
  std::atomic<int> hanging = 0;
  for (const char* name : {"web-0", "web-1"}) {
    pods_.Change(name, [&](FakePods::Pod& pod) {
      pod.before_action = [&] {
        ++hanging;
        KX_AWAIT(is_released);
      };
    });
  }
  Start();
  KX_AWAIT(hanging >= 1);
  pods_.Add("calm-0", "c0", "calm");
  const WorkloadId calm{WorkloadKind::kDeployment, {"calm", "calm"}};
  reloads_->Start({.workload = calm,
                   .uid = "uid",
                   .action = *ParseReloadAction("exec:true"),
                   .data = {{{SourceType::kConfigMap, {"calm", "config"}}, DigestOf("key=b")}}});
  KX_UNTIL(reloads_->Look(calm).state == State::kDone) {
    if (clock_.Sleepers() > 0) {
      clock_.Advance(milliseconds(200));
    }
  }
  EXPECT_EQ(StateNow(), State::kRunning);
  is_released = true;
  EXPECT_EQ(AwaitEnd(), State::kDone);
}

TEST_F(InPlaceReloadsTest, APodThatCannotBeReloadedFailsTheReload) {
  pods_.Change("web-1", [](FakePods::Pod& pod) {
    pod.action = apimachinery::Status(apimachinery::Reason::kBadRequest, "its exit code is 2");
  });
  Start();
  EXPECT_EQ(AwaitEnd(), State::kFailed);
  EXPECT_EQ(reloads_->Look(kReloaded).why, "pod web-1: signal:HUP failed: its exit code is 2");
  EXPECT_EQ(Ended("failed"), 1);
}

TEST_F(InPlaceReloadsTest, WhatWasRefusedIsRememberedWhenTheReloadIsForgotten) {
  const auto fail_with = [this](apimachinery::Reason reason) {
    pods_.Change("web-1", [reason](FakePods::Pod& pod) {
      pod.action = apimachinery::Status(reason, "its exit code is 2");
    });
  };
  fail_with(apimachinery::Reason::kInvalid);
  Start();
  EXPECT_EQ(AwaitEnd(), State::kFailed);
  EXPECT_THAT(reloads_->Refused(kReloaded), IsEmpty()) << "it is no refusal";
  fail_with(apimachinery::Reason::kBadRequest);
  Start();
  EXPECT_EQ(AwaitEnd(), State::kFailed);
  reloads_->Forget(kReloaded);
  EXPECT_EQ(reloads_->Refused(kReloaded), (ReloadedData{{kReloadSource, DigestOf("key=b")}}));
  pods_.SetData("c");
  Start("c");
  EXPECT_EQ(AwaitEnd(), State::kFailed);
  EXPECT_EQ(reloads_->Refused(kReloaded), (ReloadedData{{kReloadSource, DigestOf("key=c")}}));
  reloads_->ForgetRefused(kReloaded);
  EXPECT_THAT(reloads_->Refused(kReloaded), IsEmpty());
  Start("c");
  EXPECT_EQ(AwaitEnd(), State::kFailed);
  reloads_->Leave([](const std::string& namespace_) { return namespace_ == "ns"; });
  EXPECT_THAT(reloads_->Refused(kReloaded), IsEmpty());
}

TEST_F(InPlaceReloadsTest, ASubPathFailsTheReloadWithoutAnAction) {
  pods_.Change("web-1", [](FakePods::Pod& pod) {
    pod.object.spec.containers.front().volume_mounts.front().sub_path = "key";
  });
  Start();
  EXPECT_EQ(AwaitEnd(), State::kFailed);
  EXPECT_THAT(reloads_->Look(kReloaded).why,
              HasSubstr("pod web-1: container app mounts volume v by subPath"));
}

TEST_F(InPlaceReloadsTest, ListsThatFailAreTriedAgain) {
  pods_.FailLists(apimachinery::Status(apimachinery::Reason::kUnavailable, "no connection"));
  Start();
  clock_.AwaitSleepers(1);
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(StateNow(), State::kRunning);
  pods_.FailLists(std::nullopt);
  EXPECT_EQ(AwaitEnd(), State::kDone);
}

TEST_F(InPlaceReloadsTest, TheTimeForWhichTheApiServerIsAwayIsBorne) {
  pods_.FailAll(apimachinery::Status(apimachinery::Reason::kUnavailable, "no connection"));
  Start();
  PassWhileRunning(std::chrono::seconds(70));
  EXPECT_EQ(StateNow(), State::kRunning);
  pods_.FailAll(std::nullopt);
  EXPECT_EQ(AwaitEnd(), State::kDone);
}

TEST_F(InPlaceReloadsTest, ListsThatKeepFailingEndIt) {
  pods_.FailLists(apimachinery::Status(apimachinery::Reason::kUnavailable, "no connection"));
  Start();
  EXPECT_EQ(AwaitEnd(), State::kFailed);
  EXPECT_EQ(reloads_->Look(kReloaded).why, "no connection");
}

TEST_F(InPlaceReloadsTest, ANewStartTakesThePlaceOfTheOld) {
  pods_.Change("web-1", [](FakePods::Pod& pod) { pod.is_stuck = true; });
  Start();
  pods_.AwaitAsked("web-1", 1);
  pods_.SetData("c");
  Start("c");
  pods_.Change("web-1", [](FakePods::Pod& pod) { pod.is_stuck = false; });
  EXPECT_EQ(AwaitEnd(), State::kDone);
  EXPECT_EQ(pods_.pod("web-0").read.back(), "c");
  EXPECT_THAT(pods_.pod("web-1").read, ElementsAre("c"));
  EXPECT_EQ(reloads_->Look(kReloaded).data.at(kReloadSource), DigestOf("key=c"));
  EXPECT_EQ(registry_.Gauge("reloader_in_place_running", "").Value(), 0);
}

TEST_F(InPlaceReloadsTest, AWorkloadThatIsLeftIsNoLongerReloaded) {
  for (const char* name : {"web-0", "web-1"}) {
    pods_.Change(name, [](FakePods::Pod& pod) { pod.is_stuck = true; });
  }
  Start();
  pods_.AwaitAsked("web-0", 1);
  reloads_->Leave([](const std::string& namespace_) { return namespace_ == "ns"; });
  EXPECT_EQ(StateNow(), State::kNone);
  EXPECT_EQ(registry_.Gauge("reloader_in_place_running", "").Value(), 0);
  reloads_->Stop();
  EXPECT_THAT(pods_.pod("web-0").read, IsEmpty());
  EXPECT_EQ(ends_, 0);
}

TEST_F(InPlaceReloadsTest, AWorkloadWithoutPodsIsDone) {
  pods_.Delete("web-0");
  pods_.Delete("web-1");
  Start();
  EXPECT_EQ(AwaitEnd(), State::kDone);
  EXPECT_EQ(reloads_->Look(kReloaded).pods, 0U);
}

}  // namespace
}  // namespace kubexx::reloader
