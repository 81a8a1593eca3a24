// Tests what the operator concludes about sources that it cannot see: those that a selector leaves
// out, those that it may not read, and those in namespaces that are selected later.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kubexx/api/apps/v1/schema.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/cache/testing/auto_clock.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/codec/codec.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/operator/operator.h"
#include "kubexx/reloader/permissions/fallbacks.h"
#include "kubexx/reloader/testing/new_informer.h"
#include "kubexx/reloader/watch/namespace_selector.h"
#include "kubexx/reloader/watch/workload_list_watch.h"
#include "kubexx/reloader/write/patch.h"

namespace kubexx::reloader {
namespace {

namespace core = api::core::v1;
namespace apps = api::apps::v1;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using cache::testing::FakeSource;
using testing::HasSubstr;

const Status kNoRight(Reason::kForbidden, "forbidden", 403);
constexpr int kForEver = std::numeric_limits<int>::max();

/// Records the rollouts as "namespace/name patch".
class RolloutList final : public WorkloadWriter {
 public:
  Result<WriteOutcome> Write(const WorkloadId& workload, const WorkloadWrite& write,
                             std::stop_token) override {
    const base::MutexLock lock(mu_);
    if (write.Rolls()) {
      rollouts_.push_back(workload.key.ToString() + " " + StrategicMergePatch(write));
      changed_.notify_all();
    }
    return WriteOutcome{.rolled = write.Rolls()};
  }
  std::string AwaitFirst(const base::testing::Where& where = base::testing::Where::current()) {
    const base::MutexLock lock(mu_);
    base::testing::Patience patience("!rollouts_.empty()", where);
    while (rollouts_.empty()) {
      patience.Wait(changed_, mu_);
    }
    return rollouts_.front();
  }
  std::vector<std::string> all() {
    const base::MutexLock lock(mu_);
    return rollouts_;
  }

 private:
  base::Mutex mu_;
  base::CondVar changed_;
  std::vector<std::string> rollouts_ KX_GUARDED_BY(mu_);
};

/// A Deployment "web" in a namespace, with ConfigMap "config" and Secret "password" in its
/// environment, and an operator that acts at once.
class OperatorScopeTest : public testing::Test {
 protected:
  static core::ConfigMap Config(const std::string& value, const std::string& ns = "ns") {
    core::ConfigMap config;
    config.metadata.namespace_ = ns;
    config.metadata.name = "config";
    config.metadata.creation_timestamp.seconds = 1'000;
    config.data["key"] = value;
    return config;
  }
  static core::ConfigMap EditedAt(std::int64_t time, core::ConfigMap config) {
    config.metadata.managed_fields.emplace_back().time.emplace().seconds = time;
    return config;
  }
  static core::Secret Password(const std::string& value) {
    core::Secret secret;
    secret.metadata.namespace_ = "ns";
    secret.metadata.name = "password";
    secret.data["key"] = apimachinery::Bytes(value);
    return secret;
  }
  static std::string DigestText(const std::string& value) {
    return DigestOf("key=" + value).ToString();
  }
  static apps::Deployment Web(const std::string& ns = "ns", const std::string& baseline = "") {
    apps::Deployment web;
    web.metadata.namespace_ = ns;
    web.metadata.name = "web";
    web.metadata.uid = "uid";
    web.metadata.annotations["reloader.stakater.com/auto"] = "true";
    if (!baseline.empty()) {
      web.metadata.annotations[std::string(kBaselineAnnotation)] = "v1 uid " + baseline;
    }
    core::Container& container = web.spec.template_.spec.containers.emplace_back();
    container.name = "app";
    container.env_from.emplace_back().config_map_ref.emplace().local_object_reference.name =
        "config";
    container.env_from.emplace_back().secret_ref.emplace().local_object_reference.name = "password";
    return web;
  }
  /// Returns the Deployment as it was rolled for this data.
  static apps::Deployment RolledFor(const std::string& value) {
    apps::Deployment web = Web("ns", "configmap/config=" + DigestText(value));
    web.spec.template_.spec.containers[0].env.push_back(
        {.name = "STAKATER_CONFIG_CONFIGMAP", .value = DigestText(value)});
    return web;
  }
  template <class T>
  static void Put(FakeSource& source, const T& object) {
    source.PutObject({.encoding = codec::Encoding::kJson,
                      .bytes = codec::EncodeJson(object),
                      .key = {object.metadata.namespace_, object.metadata.name}});
  }

  cache::InformerOptions OptionsWith(std::function<Result<void>(cache::Object&)> transform) {
    return {.name = "test", .clock = informer_clock_, .transform = std::move(transform)};
  }
  /// Makes an informer of all namespaces, or of those in `namespaces_`.
  std::shared_ptr<cache::SharedInformerBase> ScopeInformer(
      std::map<std::string, std::shared_ptr<FakeSource>>& sources, cache::InformerOptions options) {
    if (namespaces_.empty()) {
      return NewTestInformer(sources[""], std::move(options));
    }
    std::vector<cache::NamespacedSource> all;
    for (const std::string& ns : namespaces_) {
      all.push_back({ns, sources[ns]});
    }
    return NewTestInformer(std::move(all), std::move(options));
  }
  void StartOperator() {
    InformerSet set;
    set.namespaces = namespaces_;
    const AnnotationKeys keys;
    set.sources[SourceType::kConfigMap] =
        ScopeInformer(config_maps_, OptionsWith(TransformFor(SourceType::kConfigMap, keys)));
    if (!rules_.ignored_types.contains(SourceType::kSecret)) {
      cache::InformerOptions options = OptionsWith(TransformFor(SourceType::kSecret, keys));
      const std::stop_source refused;
      set.refused[SourceType::kSecret] = refused.get_token();
      if (namespaces_.empty()) {
        options.on_error = [refused](const Status&) mutable { refused.request_stop(); };
      }
      set.sources[SourceType::kSecret] = ScopeInformer(secrets_, std::move(options));
    }
    cache::InformerOptions options = OptionsWith(TransformFor(WorkloadKind::kDeployment, keys));
    if (workload_list_watch_) {
      options.use_watch_list = false;
      set.workloads[WorkloadKind::kDeployment] = NewTestInformer(workload_list_watch_, options);
      set.workload_list_watches[WorkloadKind::kDeployment].push_back({"", workload_list_watch_});
    } else {
      set.workloads[WorkloadKind::kDeployment] = ScopeInformer(deployments_, std::move(options));
    }
    operator_ = std::make_unique<Operator>(
        Operator::Options{
            .rules = rules_,
            .settle_window = base::Duration(0),
            .workers = 1,
            .clock = clock_,
            .registry = &registry_,
            .record_baselines = BaselineRecording::kWithRollouts,
            .namespace_selector = selector_.get(),
            .source_exists = [this](const SourceId& id, const std::stop_token&) -> Result<bool> {
              const base::MutexLock lock(mu_);
              return left_out_.contains(id.key.name);
            },
            .selects_sources = true},
        std::vector{set}, writer_);
    operator_->Start();
  }
  void AwaitReady() { KX_AWAIT(operator_->Ready()); }
  void LeaveOut(const std::string& name) {
    const base::MutexLock lock(mu_);
    left_out_.insert(name);
  }
  /// Blocks until this many looks at workloads have found nothing to do.
  void AwaitLooks(double n) {
    KX_AWAIT(registry_.Counter("reloader_reconcile_total", "", {{"result", "skipped"}}).Value() >=
             n);
  }
  /// Does the same for objects in a namespace that is not selected.
  void AwaitSkips(double n) {
    KX_AWAIT(
        registry_.Counter("reloader_skipped_total", "", {{"reason", "ignored_or_not_selected"}})
            .Value() >= n);
  }
  void AwaitEvent(const std::string& type) {
    KX_AWAIT(
        registry_
            .Counter("reloader_events_processed_total", "",
                     {{"event_type", type}, {"resource_type", "configmaps"}, {"result", "success"}})
            .Value() >= 1);
  }
  /// Ends the operator after everything that is due. Returns the rollouts.
  std::vector<std::string> Rollouts() {
    operator_->Stop();
    return writer_.all();
  }

  std::map<std::string, std::shared_ptr<FakeSource>> config_maps_ = NewSources();
  std::map<std::string, std::shared_ptr<FakeSource>> secrets_ = NewSources();
  std::map<std::string, std::shared_ptr<FakeSource>> deployments_ = NewSources();
  std::set<std::string, std::less<>> namespaces_;
  base::testing::FakeClock clock_;
  cache::testing::AutoClock informer_clock_;  // backoff delays pass at once
  RolloutList writer_;
  DecisionRules rules_;
  std::unique_ptr<NamespaceSelector> selector_;
  metrics::Registry registry_;
  /// When it is set, it stands between the Deployments and their informer.
  std::shared_ptr<WorkloadListWatch> workload_list_watch_;
  base::Mutex mu_;
  std::set<std::string> left_out_ KX_GUARDED_BY(mu_);
  std::unique_ptr<Operator> operator_;

 private:
  static std::map<std::string, std::shared_ptr<FakeSource>> NewSources() {
    std::map<std::string, std::shared_ptr<FakeSource>> sources;
    for (const char* ns : {"", "a", "b"}) {
      sources[ns] = std::make_shared<FakeSource>();
    }
    return sources;
  }
};

TEST_F(OperatorScopeTest, WhatTheSelectorLeavesOutIsNotDeleted) {
  rules_.reload_on_delete = true;
  LeaveOut("config");
  Put(*deployments_[""], RolledFor("1"));
  StartOperator();
  AwaitLooks(1);
  EXPECT_THAT(Rollouts(), testing::IsEmpty());
}

TEST_F(OperatorScopeTest, WhatIsGoneAtTheStartIsDeleted) {
  rules_.reload_on_delete = true;
  Put(*deployments_[""], RolledFor("1"));
  StartOperator();
  EXPECT_THAT(writer_.AwaitFirst(), HasSubstr(R"("$patch":"delete")"));
}

TEST_F(OperatorScopeTest, ASourceThatLosesItsLabelIsNotDeleted) {
  rules_.reload_on_delete = true;
  LeaveOut("config");
  Put(*config_maps_[""], Config("1"));
  Put(*deployments_[""], RolledFor("1"));
  StartOperator();
  AwaitLooks(1);
  config_maps_[""]->Delete({"ns", "config"});  // a watch with a selector sends this event
  AwaitLooks(2);
  EXPECT_THAT(Rollouts(), testing::IsEmpty());
}

TEST_F(OperatorScopeTest, ASourceThatIsDeletedAfterItGotItsLabelBackIs) {
  rules_.reload_on_delete = true;
  LeaveOut("config");
  Put(*deployments_[""], RolledFor("1"));
  StartOperator();
  AwaitLooks(1);
  Put(*config_maps_[""], Config("1"));
  AwaitLooks(2);
  {
    const base::MutexLock lock(mu_);
    left_out_.clear();
  }
  config_maps_[""]->Delete({"ns", "config"});
  EXPECT_THAT(writer_.AwaitFirst(), HasSubstr(R"("$patch":"delete")"));
}

// A list shows that the source is gone, but not since when.
TEST_F(OperatorScopeTest, ASourceThatIsGoneFromAListAndMadeAnewIsAChange) {
  FakeSource& sources = *config_maps_[""];
  Put(sources, Config("old"));
  for (int i = 0; i < 5; ++i) {
    Put(*deployments_[""], Web());  // it is younger than the objects in the list
  }
  deployments_[""]->Delete({"ns", "web"});
  StartOperator();
  AwaitReady();
  Put(*deployments_[""], Web());
  AwaitLooks(1);
  sources.FailLists(Status(Reason::kUnavailable, "down"), kForEver);
  sources.FailWatches(Status(Reason::kUnavailable, "down"), kForEver);
  sources.DropWatches();
  sources.Delete({"ns", "config"});
  sources.Compact();
  sources.FailLists(Status(Reason::kUnavailable, "down"), 0);
  sources.FailWatches(Status(Reason::kUnavailable, "down"), 0);
  AwaitEvent("delete");
  for (int i = 0; i < 10; ++i) {
    // The source that is made anew is younger than "web".
    Put(sources, Config("other", "elsewhere"));
  }
  Put(sources, Config("new"));
  EXPECT_THAT(writer_.AwaitFirst(), HasSubstr(DigestText("new")));
}

TEST_F(OperatorScopeTest, WhatGetsTheLabelLaterIsNotCreated) {
  rules_.reload_on_create = true;
  LeaveOut("config");
  Put(*deployments_[""], Web());
  StartOperator();
  AwaitLooks(1);
  Put(*config_maps_[""], EditedAt(5'000, Config("1")));  // it has got its label now
  AwaitLooks(2);
  EXPECT_THAT(Rollouts(), testing::IsEmpty());
}

TEST_F(OperatorScopeTest, ASourceThatIsMadeWithTheLabelIsCreated) {
  rules_.reload_on_create = true;
  Put(*deployments_[""], Web());
  StartOperator();
  AwaitLooks(1);
  Put(*config_maps_[""], EditedAt(1'000, Config("1")));
  EXPECT_THAT(writer_.AwaitFirst(), HasSubstr(DigestText("1")));
}

TEST_F(OperatorScopeTest, ATypeThatWasIgnoredForAWhileIsNeitherDeletedNorCreated) {
  rules_.reload_on_create = true;
  rules_.reload_on_delete = true;
  Put(*config_maps_[""], Config("1"));
  Put(*secrets_[""], Password("1"));
  Put(*deployments_[""],
      Web("ns", "configmap/config=" + DigestText("1") + " secret/password=" + DigestText("1")));
  rules_.ignored_types = {SourceType::kSecret};
  StartOperator();
  AwaitLooks(1);
  EXPECT_THAT(Rollouts(), testing::IsEmpty());
  rules_.ignored_types.clear();
  StartOperator();
  AwaitLooks(2);
  EXPECT_THAT(Rollouts(), testing::IsEmpty());
}

/// Tests Deployments whose first watch fails. It is not known whether the watch is refused.
class DoubtfulWatchTest : public OperatorScopeTest {
 protected:
  /// A Deployment is made and its ConfigMap is edited after the Deployments were listed.
  void StartBetweenListAndWatch() {
    const std::shared_ptr<FakeSource> deployments = deployments_[""];
    deployments->FailWatches(Status(Reason::kUnavailable, "down"), kForEver);
    workload_list_watch_ = std::make_shared<WorkloadListWatch>(
        deployments, std::make_shared<Fallbacks>(&registry_, clock_),
        WorkloadListWatch::Options{
            .in_namespace = [deployments](const std::string&) { return deployments; },
            .clock = informer_clock_});
    Put(*config_maps_[""], Config("1"));
    StartOperator();
    AwaitReady();
    Put(*deployments, Web());
    Put(*config_maps_[""], Config("2"));
    AwaitEvent("update");
    EXPECT_THAT(writer_.all(), testing::IsEmpty());
  }
};

TEST_F(DoubtfulWatchTest, AWorkloadMadeBeforeTheRefusalMissesNoChange) {
  StartBetweenListAndWatch();
  deployments_[""]->FailWatches(kNoRight, kForEver);
  KX_UNTIL(!writer_.all().empty()) {
    // Now the operator checks whether the watch was refused.
    clock_.Advance(std::chrono::seconds(1));
  }
  EXPECT_THAT(writer_.AwaitFirst(), HasSubstr(DigestText("2")));
  EXPECT_EQ(Rollouts().size(), 1U);
}

TEST_F(DoubtfulWatchTest, AWorkloadMadeBeforeTheWatchMissesNoChange) {
  StartBetweenListAndWatch();
  deployments_[""]->FailWatches(kNoRight, 0);
  EXPECT_THAT(writer_.AwaitFirst(), HasSubstr(DigestText("2")));
  EXPECT_EQ(Rollouts().size(), 1U);
}

// A list shows when the workload was last written, but not when it was made.
TEST_F(DoubtfulWatchTest, AWorkloadMadeBeforeTheChangeAndWrittenAfterItMissesNoChange) {
  StartBetweenListAndWatch();
  for (int i = 0; i < 5; ++i) {
    apps::Deployment web = Web();
    web.status.observed_generation = i + 1;
    Put(*deployments_[""], web);
  }
  deployments_[""]->Compact();
  deployments_[""]->FailWatches(kNoRight, 0);
  EXPECT_THAT(writer_.AwaitFirst(), HasSubstr(DigestText("2")));
  EXPECT_EQ(Rollouts().size(), 1U);
}

// The workload's pods began after the change.
TEST_F(DoubtfulWatchTest, AWorkloadMadeAfterTheChangeDoesNotRoll) {
  for (int i = 0; i < 5; ++i) {
    Put(*deployments_[""], Web("other"));  // the next one has a later version
  }
  StartBetweenListAndWatch();
  deployments_[""]->FailWatches(kNoRight, 0);
  AwaitLooks(2);
  EXPECT_THAT(Rollouts(), testing::IsEmpty());
}

TEST_F(OperatorScopeTest, ANamespaceThatIsRefusedStopsNoOther) {
  namespaces_ = {"a", "b"};
  for (const auto& sources : {config_maps_, secrets_, deployments_}) {
    sources.at("b")->FailLists(kNoRight, kForEver);
    sources.at("b")->FailWatches(kNoRight, kForEver);
  }
  Put(*config_maps_["a"], Config("1", "a"));
  Put(*deployments_["a"], Web("a"));
  Put(*config_maps_["b"], Config("1", "b"));
  Put(*deployments_["b"], Web("b"));
  StartOperator();
  AwaitLooks(1);
  EXPECT_TRUE(operator_->Ready());
  Put(*config_maps_["a"], Config("2", "a"));
  EXPECT_THAT(writer_.AwaitFirst(), HasSubstr("a/web"));

  for (const auto& sources : {config_maps_, secrets_, deployments_}) {
    sources.at("b")->FailLists(kNoRight, 0);
    sources.at("b")->FailWatches(kNoRight, 0);
  }
  AwaitLooks(2);  // at b/web
  config_maps_["b"]->AwaitCaughtUp();
  Put(*config_maps_["b"], Config("2", "b"));
  KX_AWAIT_GE(writer_.all().size(), 2);
  EXPECT_THAT(Rollouts(), testing::UnorderedElementsAre(HasSubstr("a/web"), HasSubstr("b/web")));
}

TEST_F(OperatorScopeTest, ATypeThatIsRefusedStopsNoOtherAndIsNotDeleted) {
  rules_.reload_on_delete = true;
  secrets_[""]->FailLists(kNoRight, kForEver);
  secrets_[""]->FailWatches(kNoRight, kForEver);
  apps::Deployment web =
      Web("ns", "configmap/config=" + DigestText("1") + " secret/password=" + DigestText("1"));
  web.spec.template_.spec.containers[0].env.push_back(
      {.name = "STAKATER_PASSWORD_SECRET", .value = DigestText("1")});
  Put(*config_maps_[""], Config("1"));
  Put(*deployments_[""], web);
  StartOperator();
  AwaitLooks(1);
  Put(*config_maps_[""], Config("2"));
  EXPECT_THAT(writer_.AwaitFirst(), testing::AllOf(HasSubstr("STAKATER_CONFIG_CONFIGMAP"),
                                                   testing::Not(HasSubstr("PASSWORD"))));

  // The Secret can be read again, and is really gone. There is no event for that.
  secrets_[""]->FailLists(kNoRight, 0);
  secrets_[""]->FailWatches(kNoRight, 0);
  KX_UNTIL(writer_.all().size() >= 2) {
    clock_.Advance(std::chrono::seconds(1));
  }
  EXPECT_THAT(Rollouts()[1], HasSubstr("STAKATER_PASSWORD_SECRET"));
}

TEST_F(OperatorScopeTest, WithoutAnySourcesItIsNotReady) {
  namespaces_ = {"b"};
  for (const auto& sources : {config_maps_, secrets_}) {
    sources.at("b")->FailLists(kNoRight, kForEver);
    sources.at("b")->FailWatches(kNoRight, kForEver);
  }
  StartOperator();
  config_maps_["b"]->AwaitLists(2);
  secrets_["b"]->AwaitLists(2);
  EXPECT_FALSE(operator_->Ready());
}

class SelectedLaterTest : public OperatorScopeTest {
 protected:
  SelectedLaterTest() {
    selector_ = std::make_unique<NamespaceSelector>(NewTestInformer(
        selected_, cache::InformerOptions{.name = "namespaces", .clock = informer_clock_}));
    rules_.reload_on_create = true;
    rules_.sync_after_restart = true;
    Put(*config_maps_[""], Config("1"));
  }
  void Select() {
    core::Namespace ns;
    ns.metadata.name = "ns";
    Put(*selected_, ns);
  }

  std::shared_ptr<FakeSource> selected_ = std::make_shared<FakeSource>();
};

TEST_F(SelectedLaterTest, ANamespaceBeginsWithTheDataThatItHasThen) {
  Put(*deployments_[""], Web());
  StartOperator();
  AwaitReady();
  Put(*config_maps_[""], Config("2"));
  AwaitEvent("update");
  AwaitSkips(3);  // both events of the source, and the one of the workload
  Select();
  AwaitLooks(1);
  EXPECT_THAT(writer_.all(), testing::IsEmpty());
  Put(*config_maps_[""], Config("3"));
  EXPECT_THAT(writer_.AwaitFirst(), HasSubstr(DigestText("3")));
  EXPECT_EQ(Rollouts().size(), 1U);
}

TEST_F(SelectedLaterTest, ANamespaceThatWasLookedAfterBeforeCatchesUp) {
  Put(*deployments_[""], RolledFor("1"));
  StartOperator();
  AwaitReady();
  Put(*config_maps_[""], Config("2"));
  AwaitEvent("update");
  Select();
  EXPECT_THAT(writer_.AwaitFirst(), HasSubstr(DigestText("2")));
}

}  // namespace
}  // namespace kubexx::reloader
