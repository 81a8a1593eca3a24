// Tests rollouts that are planned from a cache that is behind the API server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/api/apps/v1/schema.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/codec/codec.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/operator/awaited_templates.h"
#include "kubexx/reloader/operator/held_up_plans.h"
#include "kubexx/reloader/operator/operator.h"
#include "kubexx/reloader/plan/rollout_gate.h"
#include "kubexx/reloader/testing/new_informer.h"
#include "kubexx/reloader/watch/source_absences.h"

namespace kubexx::reloader {
namespace {

namespace core = api::core::v1;
namespace apps = api::apps::v1;
using apimachinery::Reason;
using apimachinery::Result;

const WorkloadId kStaleWeb{WorkloadKind::kDeployment, {"ns", "web"}};

std::string DigestOfKey(const std::string& value) { return DigestOf("key=" + value).ToString(); }

apps::Deployment WebWithEnv(const std::string& variable, const std::string& baseline) {
  apps::Deployment web;
  web.metadata.namespace_ = "ns";
  web.metadata.name = "web";
  web.metadata.uid = "uid-web";
  web.metadata.annotations["reloader.stakater.com/auto"] = "true";
  if (!baseline.empty()) {
    web.metadata.annotations[std::string(kBaselineAnnotation)] =
        "v1 uid-web configmap/config=" + DigestOfKey(baseline);
  }
  core::Container& container = web.spec.template_.spec.containers.emplace_back();
  container.name = "app";
  container.env_from.emplace_back().config_map_ref.emplace().local_object_reference.name = "config";
  if (!variable.empty()) {
    container.env.push_back({.name = "STAKATER_CONFIG_CONFIGMAP", .value = DigestOfKey(variable)});
  }
  return web;
}

/// Returns a Deployment whose owners do not allow a baseline.
apps::Deployment UnrecordedWeb(const std::string& variable) {
  apps::Deployment web = WebWithEnv(variable, "");
  web.metadata.annotations[std::string(kRecordBaseline)] = "false";
  return web;
}

/// Returns the Deployment as if `manager` had written the variable.
apps::Deployment StampedBy(const std::string& manager, apps::Deployment web) {
  web.metadata.managed_fields.push_back(
      {.manager = manager,
       .operation = "Update",
       .time = apimachinery::Time{.seconds = 100},
       .fields_v1 = apimachinery::FieldsV1{
           R"({"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{"f:env":{)"
           R"("k:{\"name\":\"STAKATER_CONFIG_CONFIGMAP\"}":{".":{},"f:name":{},"f:value":{}}}}}}}}})"}});
  return web;
}

/// Returns a Deployment without a record, as another process of the operator has rolled it.
apps::Deployment RolledWeb(const std::string& variable) {
  return StampedBy("Reloader", UnrecordedWeb(variable));
}

/// Returns the Deployment with another ConfigMap.
apps::Deployment WithAnother(apps::Deployment web, const std::string& name) {
  core::Container& container = web.spec.template_.spec.containers[0];
  container.env_from.emplace_back().config_map_ref.emplace().local_object_reference.name = name;
  return web;
}

constexpr std::uint64_t kBeyondTheCache = 1000;
constexpr std::int64_t kGeneration = 7;

/// An API server that has a newer Deployment than the cache. Thread-safe.
class NewerServer final : public WorkloadWriter, public WriteObserver {
 public:
  void Put(const apps::Deployment& web) {
    cache::Object object{
        .encoding = codec::Encoding::kJson, .bytes = codec::EncodeJson(web), .key = {"ns", "web"}};
    ASSERT_TRUE(ProjectWorkload(WorkloadKind::kDeployment, {}, object));
    const base::MutexLock lock(mu_);
    web_ = *WorkloadFrom(WorkloadKind::kDeployment, object);
    web_.resource_version = std::to_string(++version_);
  }
  /// Refuses every write that names a version.
  void RefuseVersions() {
    const base::MutexLock lock(mu_);
    refuses_versions_ = true;
  }
  /// Refuses to return the Deployment.
  void RefuseReads() {
    const base::MutexLock lock(mu_);
    refuses_reads_ = true;
  }
  Result<std::optional<Workload>> Read() {
    const base::MutexLock lock(mu_);
    ++reads_;
    if (refuses_reads_) {
      return apimachinery::Fail(Reason::kForbidden, "no right to get");
    }
    return std::optional(web_);
  }
  Result<WriteOutcome> Write(const WorkloadId&, const WorkloadWrite& write,
                             std::stop_token) override {
    const base::MutexLock lock(mu_);
    const std::string& version = write.resource_version;
    if (!version.empty() && (version != web_.resource_version || refuses_versions_)) {
      ++overtaken_;
      return apimachinery::Fail(Reason::kConflict, "the object has been modified");
    }
    writes_.push_back(write);
    web_.resource_version = std::to_string(++version_);
    return WriteOutcome{.rolled = write.Rolls(), .version = version_};
  }
  void OnWrite(const WriteReport& report) override {
    const base::MutexLock lock(mu_);
    reported_ += report.outcome ? 1 : 0;
    failed_ += report.outcome ? 0 : 1;
  }
  std::vector<WorkloadWrite> writes() const {
    const base::MutexLock lock(mu_);
    return writes_;
  }
  int reads() const {
    const base::MutexLock lock(mu_);
    return reads_;
  }
  /// Returns the number of writes to a version that was not the present one.
  int overtaken() const {
    const base::MutexLock lock(mu_);
    return overtaken_;
  }
  int reported() const {
    const base::MutexLock lock(mu_);
    return reported_;
  }
  int failed() const {
    const base::MutexLock lock(mu_);
    return failed_;
  }

 private:
  mutable base::Mutex mu_;
  Workload web_ KX_GUARDED_BY(mu_);
  std::uint64_t version_ KX_GUARDED_BY(mu_) = kBeyondTheCache;
  bool refuses_versions_ KX_GUARDED_BY(mu_) = false;
  bool refuses_reads_ KX_GUARDED_BY(mu_) = false;
  int reads_ KX_GUARDED_BY(mu_) = 0;
  int overtaken_ KX_GUARDED_BY(mu_) = 0;
  int reported_ KX_GUARDED_BY(mu_) = 0;
  int failed_ KX_GUARDED_BY(mu_) = 0;
  std::vector<WorkloadWrite> writes_ KX_GUARDED_BY(mu_);
};

/// A gate that admits everything, and counts how often a workload gives its place up. Thread-safe.
class CountingGate final : public RolloutGate {
 public:
  base::Subscription Attach(GateHost) override { return {}; }
  bool WaitForSync(const std::stop_token&) override { return true; }
  bool Admit(const Workload&, std::vector<reloader::Change>&, AnnotationEdits&) override {
    return true;
  }
  void OnWritten(const WorkloadId&, WriteEnd, std::uint64_t) override {}
  void OnNothing(const WorkloadId&) override { ++given_up; }
  void OnWorkload(const WorkloadId&, const Workload*) override {}
  std::optional<base::Duration> SettleWindow(const WorkloadId&) override { return std::nullopt; }

  std::atomic<int> given_up = 0;
};

class StaleCacheTest : public testing::Test {
 protected:
  /// The cache has a Deployment that runs with "old", and "config" changes to "new". `then` runs
  /// before "config" changes once more, to "newer".
  void Run(const std::function<void()>& then = {}) {
    PutConfig("old");
    Put(*deployments_, WebWithEnv("", "old"));
    const auto reloader = Start();
    Change("new", 1);
    KX_AWAIT(server_.reads() != 0 || !server_.writes().empty());
    if (then) {
      KX_AWAIT_NE(server_.reported(), 0);
      then();
      const int reads = server_.reads();
      Change("newer", 2);
      KX_AWAIT_NE(server_.reads(), reads);
    }
    reloader->Stop();
  }
  /// Starts an operator that knows the present content of the caches.
  std::unique_ptr<Operator> Start(ValueDigestReader::Fetch fetch_values = {}) {
    InformerSet set;
    set.sources[SourceType::kConfigMap] = NewTestInformer(
        config_maps_,
        cache::InformerOptions{.transform = TransformFor(SourceType::kConfigMap, {})});
    set.workloads[WorkloadKind::kDeployment] = NewTestInformer(
        deployments_,
        cache::InformerOptions{.transform = TransformFor(WorkloadKind::kDeployment, {})});
    const auto sources = set.sources[SourceType::kConfigMap];
    Operator::Options options{
        .strategy = strategy_,
        .clock = clock_,
        .registry = &registry_,
        .observers = {&server_},
        .read_workload = [this](const WorkloadId&,
                                const std::stop_token&) { return server_.Read(); },
        .fetch_values = std::move(fetch_values),
        .source_exists = source_exists_,
        .selects_sources = selects_sources_,
        .rollout_gate = &gate_};
    options.rules.reload_on_create = selects_sources_;
    auto reloader =
        std::make_unique<Operator>(std::move(options), std::vector{std::move(set)}, server_);
    reloader->Start();
    AwaitOperatorSync(*sources);
    KX_AWAIT(reloader->Ready());
    return reloader;
  }
  /// Changes the data, which leads to the first and only rollout.
  void RollOnlyForAChange(Operator& reloader) {
    Change("newer", is_written_again_ ? 3 : 2);
    KX_UNTIL(!Rollouts().empty()) {
      if (clock_.Sleepers() > 0) {
        clock_.Advance(std::chrono::milliseconds(10));
      }
    }
    reloader.Stop();
    const auto rollouts = Rollouts();
    ASSERT_EQ(rollouts.size(), 1U);
    EXPECT_EQ(rollouts[0].variables.at(0).value, DigestOfKey("newer"));
  }
  /// Starts an operator that has planned for "old" without a baseline, and has found that the
  /// server's Deployment was rolled for "new", which the cache does not have yet.
  std::unique_ptr<Operator> StartBehind() {
    PutConfig("old");
    apps::Deployment other;
    other.metadata.namespace_ = "ns";
    other.metadata.name = "other";
    // Later versions of Deployments are later than those of ConfigMaps.
    for (int i = 0; i < 10; ++i) {
      Put(*deployments_, other);
    }
    Put(*deployments_, At(kGeneration, UnrecordedWeb("")));
    server_.Put(Rolled());
    auto reloader = Start();
    clock_.AdvanceToSleeper(std::chrono::milliseconds(100));
    KX_AWAIT_GE(registry_.Counter("reloader_reconcile_total", "", {{"result", "skipped"}}).Value(),
                1);
    if (is_written_again_) {
      PutConfig("new");
    }
    Change("new", is_written_again_ ? 2 : 1);
    KX_AWAIT_NE(server_.reads(), 0);
    return reloader;
  }
  /// Checks that an operator that is behind does not roll for "new", and rolls for "newer".
  void ExpectNoRolloutWithoutEvent() {
    const auto reloader = StartBehind();
    constexpr auto kStep = std::chrono::milliseconds(100);
    for (base::Duration passed{0}; passed < AwaitedTemplates::kMost * 2; passed += kStep) {
      clock_.Advance(kStep);
    }
    EXPECT_THAT(Rollouts(), testing::IsEmpty());
    RollOnlyForAChange(*reloader);
  }
  static apps::Deployment At(std::int64_t generation, apps::Deployment web) {
    web.metadata.generation = generation;
    return web;
  }
  /// Returns the Deployment as another process has rolled it for "new" since the cache got it.
  apps::Deployment Rolled() const { return At(kGeneration + writes_since_, RolledWeb("new")); }
  std::vector<WorkloadWrite> Rollouts() const {
    std::vector<WorkloadWrite> rollouts;
    const auto writes = server_.writes();
    std::ranges::copy_if(writes, std::back_inserter(rollouts), &WorkloadWrite::Rolls);
    return rollouts;
  }
  /// Edits the data, and waits until the window of the edit is over.
  void Change(const std::string& value, double edits) {
    PutConfig(value);
    const metrics::Counter updates = registry_.Counter(
        "reloader_events_processed_total", "",
        {{"event_type", "update"}, {"resource_type", "configmaps"}, {"result", "success"}});
    KX_AWAIT_GE(updates.Value(), edits);
    clock_.AwaitSleepers(1);
    clock_.Advance(std::chrono::milliseconds(100));
  }
  /// Lets time pass until there is a write.
  void AdvanceToWrite() {
    KX_UNTIL(!server_.writes().empty()) {
      if (clock_.Sleepers() > 0) {
        clock_.Advance(std::chrono::seconds(1));
      }
    }
  }
  /// Blocks until this many plans have found nothing to write.
  void AwaitSkipped(double plans,
                    const base::testing::Where& where = base::testing::Where::current()) {
    const metrics::Counter skipped =
        registry_.Counter("reloader_reconcile_total", "", {{"result", "skipped"}});
    base::testing::Patience patience(base::testing::Shown(plans) + " plans", where);
    while (skipped.Value() < plans) {
      patience.Pause(skipped.Value());
    }
  }
  void PutConfig(const std::string& value, const std::string& name = "config") {
    core::ConfigMap config;
    config.metadata.namespace_ = "ns";
    config.metadata.name = name;
    config.data["key"] = value;
    Put(*config_maps_, config);
  }
  template <class T>
  static void Put(cache::testing::FakeSource& source, const T& object) {
    source.PutObject({.encoding = codec::Encoding::kJson,
                      .bytes = codec::EncodeJson(object),
                      .key = {object.metadata.namespace_, object.metadata.name}});
  }

  std::shared_ptr<cache::testing::FakeSource> config_maps_ =
      std::make_shared<cache::testing::FakeSource>();
  std::shared_ptr<cache::testing::FakeSource> deployments_ =
      std::make_shared<cache::testing::FakeSource>();
  ReloadStrategy strategy_ = ReloadStrategy::kEnvVars;
  /// The number of writes of the server's Deployment since the cache's version.
  std::int64_t writes_since_ = 2;
  /// The source is written once more with the same data, so that it may have had others in between.
  bool is_written_again_ = true;
  base::testing::FakeClock clock_;
  metrics::Registry registry_;
  NewerServer server_;
  CountingGate gate_;
  bool selects_sources_ = false;  ///< with a label; then creations roll workloads as well
  SourceExists source_exists_;
};

TEST_F(StaleCacheTest, ARolloutThatHasBeenMadeIsNotToldAgain) {
  server_.Put(WebWithEnv("new", "new"));
  Run();
  EXPECT_EQ(server_.writes().size(), 0U);
  EXPECT_EQ(server_.reported(), 0);
  EXPECT_LE(server_.reads(), 5) << "no loop";
}

// Two operators work on the Deployment, or one has just taken over, so what this one regards as
// certain is older.
TEST_F(StaleCacheTest, WhatAnotherOperatorHasRolledIsNotRolledAgain) {
  server_.Put(WebWithEnv("", "old"));
  Run([&] { server_.Put(WebWithEnv("newer", "newer")); });
  EXPECT_EQ(std::ranges::count_if(server_.writes(), &WorkloadWrite::Rolls), 1);
}

// A replica takes over whose store of the source is behind. If it relied on the store, it would
// roll back and then forward again.
TEST_F(StaleCacheTest, ASourceThatIsBehindAnothersRecordIsWaitedFor) {
  PutConfig("old");
  Put(*deployments_, WebWithEnv("", "old"));
  Put(*deployments_, WebWithEnv("new", "new"));  // the other operator has rolled it
  server_.Put(WebWithEnv("new", "new"));
  std::atomic<int> compared = 0;
  const auto reloader = Start([&](const SourceId&, const std::stop_token&) {
    ++compared;
    return Result<std::optional<ValueDigests>>(ValueDigests{.whole = DigestOf("key=new")});
  });
  clock_.AdvanceToSleeper(std::chrono::milliseconds(100));
  KX_AWAIT(compared != 0 || !server_.writes().empty());
  Change("new", 1);
  Change("newer", 2);
  KX_AWAIT_NE(server_.reported(), 0);
  reloader->Stop();
  const auto writes = server_.writes();
  ASSERT_EQ(std::ranges::count_if(writes, &WorkloadWrite::Rolls), 1);
  EXPECT_GT(compared, 0);
}

// The record would say that the workload runs with the earlier data, and another operator would
// roll for these once more.
TEST_F(StaleCacheTest, WhatAnotherHasRecordedIsNotRecordedOver) {
  PutConfig("new");
  Put(*deployments_, WebWithEnv("", ""));
  server_.Put(WebWithEnv("new", "new"));
  const auto reloader = Start();
  clock_.AdvanceToSleeper(std::chrono::milliseconds(100));
  KX_AWAIT(server_.reads() != 0 || !server_.writes().empty());
  reloader->Stop();
  EXPECT_EQ(server_.overtaken(), 1);
  EXPECT_EQ(server_.writes().size(), 0U);
}

// Seed 497 of 400 hours of the simulation: somebody has released the workload, and nobody knows yet
// with which data its pods began. A baseline with the present data would say that it was these.
TEST_F(StaleCacheTest, AReleaseOfWhichNoEventHasToldIsNotRecorded) {
  PutConfig("new");
  Put(*deployments_, WebWithEnv("", ""));
  const apps::Deployment released = WithAnother(WebWithEnv("", ""), "another");
  server_.Put(released);
  const auto reloader = Start();
  clock_.AdvanceToSleeper(std::chrono::milliseconds(100));
  AwaitSkipped(1);
  EXPECT_EQ(server_.overtaken(), 1);
  EXPECT_EQ(server_.writes().size(), 0U);
  server_.Put(released);
  Put(*deployments_, released);
  AdvanceToWrite();
  reloader->Stop();
  EXPECT_EQ(server_.writes().size(), 1U) << "its event has come";
}

TEST_F(StaleCacheTest, AWorkloadThatAlwaysChangesIsRecordedInTheEnd) {
  PutConfig("old");
  Put(*deployments_, WebWithEnv("", ""));
  server_.Put(WebWithEnv("", ""));
  server_.RefuseVersions();
  const auto reloader = Start();
  clock_.AdvanceToSleeper(std::chrono::milliseconds(100));
  KX_AWAIT(!server_.writes().empty());
  reloader->Stop();
  EXPECT_EQ(server_.writes().size(), 1U);
  EXPECT_LE(server_.reads(), 5);
}

TEST_F(StaleCacheTest, AVariableThatSomebodyHasSetIsNoRolloutOfTheOperator) {
  server_.Put(WebWithEnv("new", "old"));  // for example an undo, whose pods were made before
  PutConfig("old");
  Put(*deployments_, WebWithEnv("", "old"));
  const auto reloader = Start();
  Change("new", 1);
  AdvanceToWrite();  // the event that would tell when its pods began never comes
  reloader->Stop();
  ASSERT_EQ(std::ranges::count_if(server_.writes(), &WorkloadWrite::Rolls), 1);
  const WorkloadWrite write = server_.writes()[0];
  EXPECT_EQ(write.resource_version, std::to_string(kBeyondTheCache + 1));
  EXPECT_TRUE(write.template_annotations.contains(std::string(kRestartedFor)))
      << "setting the variable alone makes no pods";
  EXPECT_EQ(server_.reported(), 1);
  EXPECT_EQ(server_.failed(), 0);
}

// Seed 250 of the simulation: a new leader knows that the pods ran with "old", and there is no
// record.
TEST_F(StaleCacheTest, ARolloutWhoseEventIsOnItsWayIsNotMadeAgain) {
  const auto reloader = StartBehind();
  Put(*deployments_, Rolled());
  clock_.AdvanceToSleeper(AwaitedTemplates::kInterval);
  for (int i = 0; i < 30; ++i) {  // later versions of ConfigMaps are later than the rollout
    core::ConfigMap other;
    other.metadata.namespace_ = "other";
    other.metadata.name = std::to_string(i);
    Put(*config_maps_, other);
  }
  RollOnlyForAChange(*reloader);
}

// The event never comes in this test, and nobody else has written the template meanwhile.
TEST_F(StaleCacheTest, ARolloutOfWhichNoEventTellsIsNotMadeAgain) {
  writes_since_ = 1;
  ExpectNoRolloutWithoutEvent();
}

// Seed 84 of ten minutes of the simulation: the workload was scaled after the rollout.
TEST_F(StaleCacheTest, ARolloutAmongOtherWritesOfWhichNoEventTellsIsNotMadeAgain) {
  is_written_again_ = false;
  ExpectNoRolloutWithoutEvent();
}

TEST_F(StaleCacheTest, AnEventThatDoesNotComeIsAwaitedForTenSeconds) {
  const auto reloader = StartBehind();
  const base::TimePoint begin = clock_.Now();
  KX_UNTIL(!Rollouts().empty()) {
    if (clock_.Sleepers() > 0) {
      clock_.Advance(std::chrono::milliseconds(10));
    }
  }
  EXPECT_GE(clock_.Now() - begin, AwaitedTemplates::kMost - AwaitedTemplates::kInterval);
  EXPECT_LE(clock_.Now() - begin, AwaitedTemplates::kMost * 2);
  const int reads = server_.reads();
  reloader->Stop();
  const auto rollouts = Rollouts();
  ASSERT_EQ(rollouts.size(), 1U);
  EXPECT_TRUE(rollouts[0].template_annotations.contains(std::string(kRestartedFor)));
  EXPECT_LE(reads, 5) << "it looks at the cache meanwhile";
}

TEST_F(StaleCacheTest, AWorkloadThatAlwaysChangesIsRolledInTheEnd) {
  server_.Put(WebWithEnv("", "old"));
  server_.RefuseVersions();
  Run();
  ASSERT_EQ(std::ranges::count_if(server_.writes(), &WorkloadWrite::Rolls), 1);
  EXPECT_EQ(server_.writes()[0].resource_version, "");
  EXPECT_LE(server_.reads(), 5);
  EXPECT_EQ(server_.reported(), 1);
  EXPECT_EQ(server_.failed(), 0);
}

TEST_F(StaleCacheTest, WhereItMayNotBeReadTheCacheIsBelieved) {
  server_.Put(WebWithEnv("", "old"));
  server_.RefuseReads();
  Run();
  // Another write may record what it ran with, but it does not roll.
  EXPECT_EQ(std::ranges::count_if(server_.writes(), &WorkloadWrite::Rolls), 1);
  EXPECT_EQ(server_.reported(), 1);
}

// The API server is asked for it before the first write.
TEST_F(StaleCacheTest, WhereItMayNotBeReadTheCacheIsBelievedByAnnotationsToo) {
  strategy_ = ReloadStrategy::kAnnotations;
  server_.Put(WebWithEnv("", "old"));
  server_.RefuseReads();
  Run();
  EXPECT_EQ(std::ranges::count_if(server_.writes(), &WorkloadWrite::Rolls), 1);
}

// The watch of one of many sources may be late by minutes.
TEST_F(StaleCacheTest, ASourceThatIsBehindHoldsUpNoOtherForLong) {
  PutConfig("old");
  PutConfig("2", "other");
  apps::Deployment web = WithAnother(WebWithEnv("new", "new"), "other");
  web.metadata.annotations[std::string(kBaselineAnnotation)] +=
      " configmap/other=" + DigestOfKey("1");
  Put(*deployments_, WebWithEnv("", "old"));
  Put(*deployments_, web);
  Put(*deployments_, web);  // it is later than both
  server_.Put(web);
  std::atomic<int> compared = 0;
  const auto reloader = Start([&](const SourceId& id, const std::stop_token&) {
    const bool is_behind = id.key.name == "config";
    compared += is_behind ? 1 : 0;
    return Result<std::optional<ValueDigests>>(
        ValueDigests{.whole = DigestOf(is_behind ? "key=new" : "key=2"), .read_at = 5000});
  });
  clock_.AdvanceToSleeper(std::chrono::milliseconds(100));
  KX_AWAIT(compared != 0);
  const base::TimePoint begin = clock_.Now();
  int given_up = 0;
  KX_UNTIL(!Rollouts().empty()) {
    if (clock_.Sleepers() > 0) {
      if (clock_.Now() - begin < HeldUpPlans::kMost) {
        given_up = gate_.given_up;
      }
      clock_.Advance(std::chrono::milliseconds(100));
    }
  }
  const base::Duration took = clock_.Now() - begin;
  // This replica's own record now has the same digest of the source as the other's record had.
  const int before = compared;
  KX_UNTIL(compared > before || Rollouts().size() > 1) {
    if (clock_.Sleepers() > 0) {
      clock_.Advance(std::chrono::milliseconds(100));
    }
  }
  reloader->Stop();
  EXPECT_EQ(Rollouts().size(), 1U) << "its cache still has older data of the source";
  EXPECT_GE(took, HeldUpPlans::kMost - std::chrono::seconds(1)) << "one rollout is better than two";
  EXPECT_LE(before, took / std::chrono::seconds(1) + 2) << "once a second";
  EXPECT_EQ(given_up, 0) << "it keeps its place";
  const WorkloadWrite write = Rollouts()[0];
  ASSERT_EQ(write.variables.size(), 1U);
  EXPECT_EQ(write.variables[0].name, "STAKATER_OTHER_CONFIGMAP");
}

TEST_F(StaleCacheTest, ASourceThatMayNotBeReadHoldsUpNoOther) {
  selects_sources_ = true;
  std::atomic<int> asked = 0;
  source_exists_ = [&](const SourceId&, const std::stop_token&) -> Result<bool> {
    ++asked;
    return apimachinery::Fail(Reason::kForbidden, "no right to list");
  };
  PutConfig("new");
  Put(*deployments_, WithAnother(WebWithEnv("", "old"), "absent"));
  server_.Put(WithAnother(WebWithEnv("", "old"), "absent"));
  const auto reloader = Start();
  clock_.AdvanceToSleeper(std::chrono::milliseconds(100));
  KX_AWAIT(asked != 0);
  KX_UNTIL(!Rollouts().empty()) {
    if (clock_.Sleepers() > 0) {
      clock_.Advance(std::chrono::seconds(1));
    }
  }
  const int before = asked;
  KX_UNTIL(asked > before) {  // the others are looked at again
    if (clock_.Sleepers() > 0) {
      clock_.Advance(std::chrono::seconds(1));
    }
  }
  reloader->Stop();
}

TEST_F(StaleCacheTest, WhereASourceMayNotBeReadTheWorkloadIsNotWrittenUnseen) {
  const apps::Deployment undone = StampedBy("kubectl-rollout", WebWithEnv("older", "old"));
  PutConfig("new");
  Put(*deployments_, WebWithEnv("", "old"));
  server_.Put(undone);
  const auto reloader = Start([&](const SourceId&, const std::stop_token&) {
    return Result<std::optional<ValueDigests>>(
        apimachinery::Fail(Reason::kForbidden, "no right to list"));
  });
  clock_.AdvanceToSleeper(std::chrono::milliseconds(100));
  AdvanceToWrite();
  reloader->Stop();
  EXPECT_EQ(server_.writes()[0].resource_version, std::to_string(kBeyondTheCache + 1));
}

// Seed 540 of 400 hours: a rollout was undone while the watch was behind both.
TEST_F(StaleCacheTest, AnUndoThatBringsBackTheTemplateOfTheCacheIsHeeded) {
  PutConfig("good");
  Put(*deployments_, StampedBy("Reloader", WebWithEnv("good", "good")));
  const auto reloader = Start([&](const SourceId&, const std::stop_token&) {
    core::ConfigMap config;
    config.data["key"] = "new";
    ValueDigests values = ValueDigestsOf(config);
    values.written = apimachinery::Time{.seconds = 50};
    return Result<std::optional<ValueDigests>>(values);
  });
  server_.Put(StampedBy("kubectl-rollout", WebWithEnv("good", "good")));
  Change("new", 1);
  KX_AWAIT_NE(server_.reads(), 0);
  reloader->Stop();
  EXPECT_EQ(Rollouts().size(), 0U) << "the pods of the undo began after the change";
}

// The version of the source changes all the time.
TEST_F(StaleCacheTest, ADoubtThatIsSettledDoesNotComeBack) {
  PutConfig("bad");
  apps::Deployment web = StampedBy("kubectl-rollout", UnrecordedWeb("good"));
  Put(*deployments_, web);
  server_.Put(web);
  std::atomic<int> asked = 0;
  const auto reloader = Start([&](const SourceId&, const std::stop_token&) {
    ++asked;
    return Result<std::optional<ValueDigests>>(ValueDigests{
        .whole = DigestOf("key=bad"), .written = apimachinery::Time{.seconds = 50}, .read_at = 1});
  });
  clock_.AdvanceToSleeper(std::chrono::milliseconds(100));
  AwaitSkipped(1);
  const int first = asked;
  EXPECT_EQ(first, 2) << "whether it is the server's, and how old";
  web.metadata.annotations["secret.reloader.stakater.com/auto"] = "true";
  Put(*deployments_, web);
  clock_.AdvanceToSleeper(std::chrono::milliseconds(100));
  AwaitSkipped(2);
  reloader->Stop();
  EXPECT_EQ(asked.load(), first);
  EXPECT_EQ(server_.writes().size(), 0U);
}

}  // namespace
}  // namespace kubexx::reloader
