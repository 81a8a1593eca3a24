#include "kubexx/reloader/operator/awaited_templates.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/plan/strategy.h"

namespace kubexx::reloader {
namespace {

using std::chrono::seconds;

/// The workload with this pod template.
Workload AwaitedWorkload(const std::string& digest) {
  Workload workload;
  workload.id = {WorkloadKind::kDaemonSet, {"ns", "web"}};
  workload.uid = "u";
  workload.template_version = {.generation = 1, .digest = digest};
  return workload;
}

class AwaitedTemplatesTest : public testing::Test {
 protected:
  /// The workload was read with the template "new", and the cache has the template `cached`.
  /// `token` belongs to the rollout that only a restart would make.
  bool Await(const std::string& cached, const std::string& token) {
    WorkloadWrite write{.token = token};
    write.template_annotations[std::string(kRestartedFor)] = "x";
    return awaited_.Await(AwaitedWorkload("new"), AwaitedWorkload(cached), Plan{}, write);
  }

  base::testing::FakeClock clock_;
  AwaitedTemplates awaited_{clock_};
};

TEST_F(AwaitedTemplatesTest, TheTimeIsForAllTogetherHoweverOftenTheCacheOrThePlanChanges) {
  EXPECT_TRUE(Await("1", "a"));
  clock_.Advance(seconds(6));
  EXPECT_TRUE(Await("2", "a")) << "one of several events has come";
  EXPECT_TRUE(Await("2", "b")) << "the source has changed";
  clock_.Advance(seconds(4));
  EXPECT_FALSE(Await("2", "b"));
  EXPECT_FALSE(Await("3", "c"));
}

TEST_F(AwaitedTemplatesTest, ALaterRolloutIsPutOffAnew) {
  EXPECT_TRUE(Await("1", "a"));
  clock_.Advance(AwaitedTemplates::kMost + AwaitedTemplates::kPause);
  EXPECT_TRUE(Await("1", "a"));
}

TEST_F(AwaitedTemplatesTest, NothingIsAwaitedWhenTheCacheHasTheTemplate) {
  EXPECT_FALSE(Await("new", "a"));
}

TEST_F(AwaitedTemplatesTest, AnAnnotationThatNamesTheSameRolloutIsInPlaceToo) {
  const SourceId source{SourceType::kSecret, {"ns", "s"}};
  const auto await = [&](const std::string& there, WorkloadWrite write) {
    Workload read = AwaitedWorkload("new");
    read.template_annotations[std::string(kLastReloadedFrom)] =
        LastReloadedFrom(source, DigestOf(there), "main", {});
    write.template_annotations[std::string(kLastReloadedFrom)] =
        LastReloadedFrom(source, DigestOf("b"), "main", base::WallTime(seconds(100)));
    return awaited_.Await(read, AwaitedWorkload("1"), Plan{}, write);
  };
  EXPECT_FALSE(await("a", {}));
  EXPECT_FALSE(await("b", {.restart_at = "now"})) << "that makes pods in any case";
  EXPECT_TRUE(await("b", {})) << "at another time";
}

TEST_F(AwaitedTemplatesTest, WhatAnotherReplicaWorksOnIsForgotten) {
  EXPECT_TRUE(Await("1", "a"));
  clock_.Advance(AwaitedTemplates::kMost);
  EXPECT_FALSE(Await("1", "a"));
  awaited_.Leave([](const std::string& namespace_) { return namespace_ == "other"; });
  EXPECT_FALSE(Await("1", "a"));
  awaited_.Leave([](const std::string& namespace_) { return namespace_ == "ns"; });
  EXPECT_TRUE(Await("1", "a"));
}

}  // namespace
}  // namespace kubexx::reloader
