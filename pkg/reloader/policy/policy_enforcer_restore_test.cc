// Tests what an enforcer knows of data that may be restored.
#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/time.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/cache/testing/auto_clock.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/reloader/fields/field_projection.h"
#include "kubexx/reloader/model/object_refs.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/model/restored_mark.h"
#include "kubexx/reloader/policy/policy_enforcer.h"
#include "kubexx/reloader/testing/new_informer.h"
#include "kubexx/reloader/watch/caches.h"
#include "kubexx/reloadpolicy/phase.h"
#include "kubexx/reloadpolicy/rolled_data.h"
#include "kubexx/reloadpolicy/rollout_record.h"

namespace kubexx::reloader {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Outcome = RestoreReport::Outcome;

const SourceId kWaveConfig{SourceType::kConfigMap, {"shop", "config"}};
const SourceId kWavePassword{SourceType::kSecret, {"shop", "password"}};

SourceType WaveCertificateType() {
  AddSourceKinds({{.group = "waves.example.com",
                   .version = "v1",
                   .kind = "WaveCertificate",
                   .resource = "wavecertificates",
                   .fields = {ObjectField::Parse("status.revision").value()}}});
  return TypeCalled(&SourceTypeNames::kind, "WaveCertificate").value();
}

/// Three Deployments that use a ConfigMap and a Secret, under waves of 1.
class PolicyEnforcerRestoreTest : public testing::Test {
 protected:
  PolicyEnforcerRestoreTest() {
    PutSource(*config_maps_, kWaveConfig, "MQ==", "");
    PutSource(*secrets_, kWavePassword, "MQ==", "");
    for (const char* name : {"a", "b", "c"}) {
      PutWorkload(name, 1);
    }
    InformerSet set;
    set.sources[SourceType::kConfigMap] =
        NewTestInformer(config_maps_, Options(TransformFor(SourceType::kConfigMap, {})));
    set.sources[SourceType::kSecret] =
        NewTestInformer(secrets_, Options(TransformFor(SourceType::kSecret, {})));
    set.sources[certificate_.type] = NewTestInformer(
        certificates_, Options(TransformForFields(DescribedBy(certificate_.type)->described, {})));
    set.workloads[WorkloadKind::kDeployment] =
        NewTestInformer(deployments_, Options(TransformFor(WorkloadKind::kDeployment, {})));
    caches_ = std::make_unique<Caches>(std::vector{set}, rules_);
    caches_->Start();
    KX_AWAIT(caches_->HasSynced());
    attached_ = enforcer_.Attach(
        {.caches = *caches_,
         .wake = [this](const WorkloadId& id, base::Duration) { woken_.insert(id.key.name); },
         .needs_rollout = [this](const Workload& workload,
                                 const SourceId&) { return due_.contains(workload.id.key.name); },
         .concerns =
             [this](const Workload& workload, const SourceId& source) {
               return Reloads(Decide({.id = source}, workload, rules_, patterns_));
             }});
    SetWaves({.sizes = {{.count = 1}}, .on_failure = reloadpolicy::OnWaveFailure::kRestore});
    clock_.Advance(reloadpolicy::Waves::kDefaultHealthyFor);
  }
  ~PolicyEnforcerRestoreTest() override { caches_->Stop(); }

  cache::InformerOptions Options(
      std::function<apimachinery::Result<void>(cache::Object&)> transform) {
    return {.clock = informer_clock_, .transform = std::move(transform)};
  }
  void SetWaves(reloadpolicy::Waves waves) {
    enforcer_.SetPolicy({.id = {"shop", "careful"}, .settings = {.waves = std::move(waves)}});
  }
  /// A source whose key "a" has this value, in base64.
  static void PutSource(cache::testing::FakeSource& source, const SourceId& id,
                        const std::string& value, const std::string& restored) {
    const char* field = id.type == SourceType::kSecret ? "data" : "binaryData";
    source.PutObject({.encoding = codec::Encoding::kJson,
                      .bytes = R"({"metadata":{"namespace":"shop","name":")" + id.key.name +
                               R"(","uid":"u","annotations":{")" + kRestoredAnnotation + R"(":")" +
                               restored + R"("}},")" + field + R"(":{"a":")" + value + R"("}})",
                      .key = id.key});
  }
  /// `spec`: what its spec has beside the template, as JSON.
  void PutWorkload(const std::string& name, int available, const std::string& spec = "") {
    const std::string status =
        R"({"replicas":1,"updatedReplicas":1,"availableReplicas":)" + std::to_string(available);
    deployments_->PutObject(
        {.encoding = codec::Encoding::kJson,
         .bytes = R"({"metadata":{"namespace":"shop","name":")" + name + R"(","uid":"u-)" + name +
                  R"(","annotations":{"reloader.kubexx.io/baseline":")" + baseline_ +
                  R"(","reloader.stakater.com/auto":"true"}},)" + R"("spec":{)" + spec +
                  (spec.empty() ? "" : ",") +
                  R"("template":{"spec":{"containers":[{"name":"app","envFrom":[)" +
                  R"({"configMapRef":{"name":"config"}},{"secretRef":{"name":"password"}}]}]}}},)" +
                  R"("status":)" + status + "}}",
         .key = {"shop", name}});
  }
  Workload Get(const std::string& name) const {
    return *caches_->GetWorkload({WorkloadKind::kDeployment, {"shop", name}});
  }
  Digest DigestNow(const SourceId& source) const { return caches_->GetSource(source)->digest; }
  RestoreStanding Standing(const SourceId& source = kWaveConfig) {
    return enforcer_.StandingOf(source, std::nullopt);
  }
  /// A rollout of the workload for the present data of these sources has failed in a wave.
  void FailFor(const std::string& name, const std::vector<SourceId>& sources) {
    reloadpolicy::DataVersions versions;
    for (const SourceId& source : sources) {
      versions.push_back(reloadpolicy::DataVersion(RefOf(source), DigestNow(source).ToString()));
    }
    FailForVersions(name, std::move(versions));
  }
  void FailForVersions(const std::string& name, reloadpolicy::DataVersions versions) {
    clock_.Advance(1s);
    const reloadpolicy::RolledData data{.state = reloadpolicy::DataState::kFailed,
                                        .versions = std::move(versions)};
    Workload workload = Get(name);
    workload.annotations[std::string(reloadpolicy::kRolledDataAnnotation)] =
        TextOf(data, workload.uid);
    workload.annotations[std::string(reloadpolicy::kLastRolloutAnnotation)] =
        apimachinery::Time::From(clock_.Wall()).ToString();
    workload.annotations[std::string(reloadpolicy::kRolloutStateAnnotation)] =
        reloadpolicy::RecordFor(reloadpolicy::RolloutState::kFailed, workload.uid);
    workload.phase = reloadpolicy::Phase::kFailed;
    enforcer_.OnWorkload(workload.id, &workload);
  }
  void PutCertificate(int revision) {
    certificates_->PutObject(
        {.encoding = codec::Encoding::kJson,
         .bytes = R"({"metadata":{},"status":{"revision":)" + std::to_string(revision) + "}}",
         .key = certificate_.key});
  }
  bool Admit(const std::string& name, const SourceId& cause = kWaveConfig) {
    std::vector<Change> changes{{.container = "app", .variable = "V", .causes = {cause}}};
    AnnotationEdits annotations;
    return enforcer_.Admit(Get(name), changes, annotations);
  }

  base::testing::FakeClock clock_;
  cache::testing::AutoClock informer_clock_;  // backoff delays pass at once
  const DecisionRules rules_;
  PatternCache patterns_;
  std::string baseline_;  ///< of the workloads that are put
  const SourceId certificate_{WaveCertificateType(), {"shop", "web-tls"}};
  const std::shared_ptr<cache::testing::FakeSource> certificates_ =
      std::make_shared<cache::testing::FakeSource>();
  const std::shared_ptr<cache::testing::FakeSource> config_maps_ =
      std::make_shared<cache::testing::FakeSource>();
  const std::shared_ptr<cache::testing::FakeSource> secrets_ =
      std::make_shared<cache::testing::FakeSource>();
  const std::shared_ptr<cache::testing::FakeSource> deployments_ =
      std::make_shared<cache::testing::FakeSource>();
  std::unique_ptr<Caches> caches_;
  std::set<std::string> woken_;
  std::set<std::string> due_;
  std::vector<SourceId> considered_;
  std::vector<SourceId> snapshots_gone_;
  PolicyEnforcer enforcer_{
      {.clock = clock_,
       .consider =
           [this](const auto& sources) {
             considered_.insert(considered_.end(), sources.begin(), sources.end());
           },
       .snapshot_gone = [this](const SourceId& source) { snapshots_gone_.push_back(source); }}};
  base::Subscription attached_;
};

TEST_F(PolicyEnforcerRestoreTest, DataThatNobodyIsDueForAreGood) {
  EXPECT_TRUE(Standing().is_settled);
  EXPECT_EQ(Standing().policy, (reloadpolicy::PolicyId{"shop", "careful"}));
  EXPECT_EQ(Standing().present, DigestNow(kWaveConfig));
  due_ = {"c"};
  EXPECT_FALSE(Standing().is_settled);
  due_.clear();
  ASSERT_TRUE(Admit("b"));
  EXPECT_FALSE(Standing().is_settled) << "its rollout is under way";
}

TEST_F(PolicyEnforcerRestoreTest, DataWithWhichNoPodShowsAnythingAreNotGood) {
  for (const char* name : {"a", "b", "c"}) {
    PutWorkload(name, 0, R"("replicas":0)");
  }
  KX_AWAIT(!Standing().is_settled);
  EXPECT_EQ(Standing().settles_after, std::nullopt);
  PutWorkload("b", 1);
  KX_AWAIT(Standing().is_settled);
}

TEST_F(PolicyEnforcerRestoreTest, DataAreNotGoodWhileThePodsOfOneWorkloadAreNotThere) {
  for (const char* spec : {"", R"("paused":true)"}) {
    PutWorkload("b", *spec == 0 ? 0 : 1, spec);
    KX_AWAIT(!Standing().is_settled);
    EXPECT_EQ(Standing().settles_after, std::nullopt) << "nobody knows when they will be";
    PutWorkload("b", 1);
    KX_AWAIT(Standing().is_settled);
  }
}

TEST_F(PolicyEnforcerRestoreTest, NamesTheWorkloadThatKeepsASnapshotFromBeingTaken) {
  const auto told = [&] {
    Standing();
    return enforcer_.States().at(0).no_snapshot;
  };
  EXPECT_EQ(told(), "");
  PutWorkload("b", 0);
  KX_AWAIT(!Standing().is_settled);
  EXPECT_EQ(told(),
            "ConfigMap/shop/config can be taken: Deployment/shop/b has pods that are not of its "
            "present template or not available");
  PutWorkload("b", 1, R"("paused":true)");
  KX_AWAIT(told() == "ConfigMap/shop/config can be taken: Deployment/shop/b is paused");
  PutWorkload("b", 1);
  KX_AWAIT(Standing().is_settled);
  EXPECT_EQ(told(), "");
  due_ = {"c"};
  EXPECT_THAT(told(), testing::HasSubstr("Deployment/shop/c has not been rolled"));
  Standing(kWavePassword);
  EXPECT_THAT(told(), testing::HasSubstr("ConfigMap/shop/config")) << "no snapshot is to be";
  SetWaves({.sizes = {{.count = 1}}});
  EXPECT_EQ(told(), "");
}

TEST_F(PolicyEnforcerRestoreTest, DataThatCameWithAReleaseAreGoodOnceItsPodsHaveBeenHealthy) {
  // The old pod is available and the new one is not.
  Workload released = Get("b");
  released.phase = reloadpolicy::Phase::kUpdating;
  enforcer_.OnWorkload(released.id, &released);
  EXPECT_FALSE(Standing().is_settled);
  released.phase = reloadpolicy::Phase::kComplete;
  enforcer_.OnWorkload(released.id, &released);
  EXPECT_FALSE(Standing().is_settled);
  EXPECT_EQ(Standing().settles_after, reloadpolicy::Waves::kDefaultHealthyFor);
  clock_.Advance(reloadpolicy::Waves::kDefaultHealthyFor - 1s);
  EXPECT_EQ(Standing().settles_after, 1s);
  clock_.Advance(1s);
  EXPECT_TRUE(Standing().is_settled);
}

TEST_F(PolicyEnforcerRestoreTest, AfterAStartNobodyKnowsForHowLongPodsHaveBeenHealthy) {
  enforcer_.OnSynced();
  EXPECT_FALSE(Standing().is_settled);
  EXPECT_EQ(Standing().settles_after, reloadpolicy::Waves::kDefaultHealthyFor);
  clock_.Advance(reloadpolicy::Waves::kDefaultHealthyFor);
  EXPECT_TRUE(Standing().is_settled);
}

TEST_F(PolicyEnforcerRestoreTest, OtherPoliciesHaveNothingRestored) {
  SetWaves({.sizes = {{.count = 1}}});
  EXPECT_EQ(Standing().policy, std::nullopt);
  FailFor("a", {kWaveConfig});
  EXPECT_EQ(Standing().failure, std::nullopt);
  enforcer_.Marks(Get("a"));
  enforcer_.OnUpToDate(Get("b"));
  EXPECT_THAT(considered_, IsEmpty());
}

TEST_F(PolicyEnforcerRestoreTest, OnlyNamedSecretsAreRestored) {
  EXPECT_TRUE(Standing().is_named);
  EXPECT_FALSE(Standing(kWavePassword).is_named);
  SetWaves({.sizes = {{.count = 1}},
            .on_failure = reloadpolicy::OnWaveFailure::kRestore,
            .restore_secrets = {"password"}});
  EXPECT_TRUE(Standing(kWavePassword).is_named);
}

TEST_F(PolicyEnforcerRestoreTest, KnowsTheDataWithWhichARolloutHasFailed) {
  FailFor("a", {kWaveConfig, kWavePassword});
  const RestoreStanding standing = Standing();
  ASSERT_TRUE(standing.failure);
  EXPECT_EQ(standing.failure->workload, RefOf(Get("a").id));
  EXPECT_THAT(
      standing.failure->sources,
      ElementsAre(
          FailedSource{.id = kWaveConfig, .bad = DigestNow(kWaveConfig)},
          FailedSource{.id = kWavePassword, .bad = DigestNow(kWavePassword), .is_named = false}));
  EXPECT_EQ(standing.failure->changed, std::nullopt);
  EXPECT_FALSE(standing.is_settled);
}

TEST_F(PolicyEnforcerRestoreTest, DataThatSomebodyHasWrittenSinceHaveNotFailed) {
  FailFor("a", {kWaveConfig, kWavePassword});
  const Digest bad = DigestNow(kWaveConfig);
  PutSource(*config_maps_, kWaveConfig, "Mg==", "");
  KX_AWAIT(DigestNow(kWaveConfig) != bad);
  due_ = {"a"};
  EXPECT_EQ(Standing().failure, std::nullopt);
  EXPECT_EQ(Standing(kWavePassword).failure->changed, kWaveConfig)
      << "whether the old password goes with these data nobody knows";
  const RestoredMark mark{
      .uid = "u", .good = DigestOf("a=Mg=="), .bad = bad, .at = apimachinery::Time{.seconds = 1}};
  PutSource(*config_maps_, kWaveConfig, "Mg==", mark.ToString());
  KX_AWAIT(caches_->GetSource(kWaveConfig)->restored);
  EXPECT_EQ(Standing(kWavePassword).failure->changed, std::nullopt)
      << "the operator has put them back itself";
  EXPECT_TRUE(Standing(kWavePassword).failure->others_put_back);
}

// "has other data by now" was said of it.
TEST_F(PolicyEnforcerRestoreTest, ASourceOfAnotherNamespaceThatIsNotSeenAnyMoreHasNoOtherData) {
  const SourceId settings = ForeignId(SourceType::kConfigMap, {"shared", "settings"}, "shop");
  const Digest bad = DigestOf("bad");
  FailForVersions("a", {DataVersionOf(kWaveConfig, DigestNow(kWaveConfig).ToString()),
                        DataVersionOf(settings, bad.ToString())});
  const RestoreStanding standing = Standing();
  ASSERT_TRUE(standing.failure);
  EXPECT_EQ(standing.failure->changed, std::nullopt);
  EXPECT_THAT(standing.failure->sources,
              ElementsAre(FailedSource{.id = kWaveConfig, .bad = DigestNow(kWaveConfig)},
                          FailedSource{.id = settings, .bad = bad, .is_named = false}));
}

TEST_F(PolicyEnforcerRestoreTest, SaysThatAnotherKeyWasWrittenOfDataThatStillFail) {
  FailFor("a", {kWaveConfig});
  // The workload counts some keys only, so its digest is another one than that of the whole data.
  const Digest bad = DigestNow(kWaveConfig);
  FailForVersions("a", {reloadpolicy::DataVersion(RefOf(kWaveConfig), bad.ToString()),
                        reloadpolicy::DataVersion(RefOf(kWaveConfig), DigestOf("a").ToString())});
  PutSource(*config_maps_, kWaveConfig, "Mg==", "");
  KX_AWAIT(DigestNow(kWaveConfig) != bad);
  due_ = {"a"};
  EXPECT_EQ(Standing().failure, std::nullopt) << "it is going to be rolled for the new data";
  due_.clear();
  const RestoreStanding standing = Standing();
  ASSERT_TRUE(standing.failure);
  EXPECT_EQ(standing.policy, (reloadpolicy::PolicyId{"shop", "careful"}));
  EXPECT_EQ(standing.failure->workload, RefOf(Get("a").id));
  EXPECT_EQ(standing.failure->changed, kWaveConfig);
  EXPECT_THAT(standing.failure->sources, IsEmpty());
}

TEST_F(PolicyEnforcerRestoreTest, SaysWhenARolloutWasForMoreSourcesThanItsRecordNames) {
  reloadpolicy::DataVersions versions{
      reloadpolicy::DataVersion(RefOf(kWaveConfig), DigestNow(kWaveConfig).ToString())};
  for (std::size_t i = 0; i < 200; ++i) {
    versions.push_back("ConfigMap/c" + std::to_string(i) + "=1");
  }
  FailForVersions("a", versions);
  EXPECT_FALSE(Standing().failure->may_be_cut);
  EXPECT_EQ(enforcer_.States().at(0).failed_in_waves.at(0).data.size(), 201U);
  for (std::size_t i = 200; i < reloadpolicy::kMaxDataVersions; ++i) {
    versions.push_back("ConfigMap/c" + std::to_string(i) + "=1");
  }
  FailForVersions("a", versions);
  EXPECT_TRUE(Standing().failure->may_be_cut);
  for (const char* name : {"b", "c"}) {
    FailForVersions(name, versions);
  }
  EXPECT_EQ(enforcer_.States().at(0).failed_waves, 3U);
  EXPECT_THAT(enforcer_.States().at(0).failed_in_waves, SizeIs(2))
      << "a status has room for so many versions only";
}

// Seed 113 of ten minutes: the request had no answer for longer than the policy's timeout.
TEST_F(PolicyEnforcerRestoreTest, ARolloutOfWhichNothingHasToldIsNoFailure) {
  SetWaves({.sizes = {{.count = 1}},
            .timeout = 20s,
            .on_failure = reloadpolicy::OnWaveFailure::kRestore});
  due_ = {"a", "b", "c"};
  ASSERT_TRUE(Admit("a"));
  clock_.Advance(1min);
  EXPECT_THAT(enforcer_.Marks(Get("a")), IsEmpty());
  EXPECT_FALSE(Standing().failure) << "there is no answer yet";
  enforcer_.OnWritten(Get("a").id, WriteEnd::kRolled, 0);
  enforcer_.Marks(Get("a"));
  EXPECT_FALSE(Standing().failure) << "its time has just begun";
  clock_.Advance(1min);
  EXPECT_THAT(enforcer_.Marks(Get("a")), IsEmpty());
  EXPECT_FALSE(Standing().failure) << "no event has told of it yet";
  EXPECT_FALSE(Admit("b")) << "it is of a later wave";
}

TEST_F(PolicyEnforcerRestoreTest, WhatAnEventHasToldBeforeTheAnswerIsOfTheRolloutByItsVersion) {
  due_ = {"a"};
  ASSERT_TRUE(Admit("a"));
  const Workload stripped = Get("a");
  enforcer_.OnWorkload(stripped.id, &stripped);
  EXPECT_TRUE(enforcer_.Snapshot().IsUntold(RefOf(stripped.id)));
  enforcer_.OnWritten(stripped.id, WriteEnd::kRolled, VersionNumber(stripped.resource_version));
  EXPECT_FALSE(enforcer_.Snapshot().IsUntold(RefOf(stripped.id)));
}

TEST_F(PolicyEnforcerRestoreTest, SaysThatTheSourceOfAFailureIsGone) {
  FailFor("a", {kWaveConfig});
  const Digest bad = DigestNow(kWaveConfig);
  considered_.clear();
  config_maps_->Delete(kWaveConfig.key);
  KX_AWAIT(!caches_->GetSource(kWaveConfig));
  enforcer_.OnSourceGone(kWaveConfig);
  EXPECT_THAT(considered_, ElementsAre(kWaveConfig));
  enforcer_.Marks(Get("a"));
  const RestoreStanding standing = Standing();
  EXPECT_EQ(standing.present, std::nullopt);
  ASSERT_TRUE(standing.failure);
  EXPECT_THAT(standing.failure->sources, ElementsAre(FailedSource{.id = kWaveConfig, .bad = bad}));
  EXPECT_EQ(enforcer_.States().at(0).failed_waves, 1U) << "whoever gets these data is held back";
}

// As objects of described kinds are, which no pod mentions.
TEST_F(PolicyEnforcerRestoreTest, AWorkloadStillUsesAGoneSourceThatItNames) {
  deployments_->PutObject(
      {.encoding = codec::Encoding::kJson,
       .bytes = R"({"metadata":{"namespace":"shop","name":"a","uid":"u-a","annotations":{)"
                R"("configmap.reloader.stakater.com/reload":"conf.*"}},)"
                R"("spec":{"template":{"spec":{"containers":[{"name":"app"}]}}}})",
       .key = {"shop", "a"}});
  KX_AWAIT(!Get("a").annotations.contains("reloader.stakater.com/auto"));
  FailFor("a", {kWaveConfig});
  config_maps_->Delete(kWaveConfig.key);
  KX_AWAIT(!caches_->GetSource(kWaveConfig));
  enforcer_.Marks(Get("a"));
  EXPECT_EQ(enforcer_.States().at(0).failed_waves, 1U);
}

// The operator was started with another list of fields.
TEST_F(PolicyEnforcerRestoreTest, AFailureOutlivesTheDescriptionOfItsFields) {
  PutCertificate(2);
  KX_AWAIT(caches_->GetSource(certificate_));
  const std::string before =
      "WaveCertificate/web-tls=" + DigestOf("under other fields").ToString() + ".00000000";
  FailForVersions("a", {before});
  EXPECT_FALSE(Admit("b", certificate_)) << "also when it is the first to be looked at";
  const std::string mark(reloadpolicy::kRolledDataAnnotation);
  const std::string bad = DataVersionOf(certificate_, DigestNow(certificate_).ToString());
  EXPECT_EQ(enforcer_.Marks(Get("a"))[mark], "failed u-a " + bad) << "also after the next restart";
  EXPECT_EQ(enforcer_.States().at(0).failed_waves, 1U);
  EXPECT_FALSE(Admit("b", certificate_));
  PutCertificate(3);
  KX_AWAIT(DataVersionOf(certificate_, DigestNow(certificate_).ToString()) != bad);
  enforcer_.Marks(Get("a"));
  EXPECT_EQ(enforcer_.States().at(0).failed_waves, 0U);
  EXPECT_TRUE(Admit("b", certificate_)) << "these are new data";
}

// Somebody has mended the data, and the rollouts for these waited when the operator was started
// with another list of fields.
TEST_F(PolicyEnforcerRestoreTest, DataForWhichAWorkloadWaitsHaveNotFailed) {
  PutCertificate(2);
  KX_AWAIT(caches_->GetSource(certificate_));
  Baseline waiting{.uid = "u-a", .digests = {{certificate_, DigestOf("bad")}}};
  waiting.due.insert(certificate_);
  baseline_ = waiting.ToString();
  PutWorkload("a", 0);
  KX_AWAIT(OwnBaselineOf(Get("a")).has_value());
  FailForVersions("a", {"WaveCertificate/web-tls=" + DigestOf("bad").ToString() + ".00000000"});
  EXPECT_TRUE(Admit("b", certificate_));
}

TEST_F(PolicyEnforcerRestoreTest, AFailureStaysWhileNoObjectHasThePresentFields) {
  FailForVersions("a", {"WaveCertificate/web-tls=" + DigestOf("gone").ToString() + ".00000000"});
  certificates_->PutObject({.encoding = codec::Encoding::kJson,
                            .bytes = R"({"metadata":{},"status":{}})",
                            .key = certificate_.key});
  enforcer_.Marks(Get("a"));
  PutCertificate(2);
  KX_AWAIT(caches_->GetSource(certificate_));
  EXPECT_FALSE(Admit("b", certificate_));
}

TEST_F(PolicyEnforcerRestoreTest, HasTheSourcesConsideredThatItLearnsOf) {
  enforcer_.OnUpToDate(Get("a"));
  EXPECT_THAT(considered_, ElementsAre(kWaveConfig, kWavePassword));
  considered_.clear();
  FailFor("a", {kWavePassword});
  enforcer_.Marks(Get("a"));
  EXPECT_THAT(considered_, ElementsAre(kWavePassword));
}

TEST_F(PolicyEnforcerRestoreTest, APolicyThatBeginsToRestoreHasItsWorkloadsLookedAt) {
  woken_.clear();
  SetWaves({.sizes = {{.count = 1}}, .on_failure = reloadpolicy::OnWaveFailure::kRestore});
  EXPECT_THAT(woken_, IsEmpty()) << "nothing has changed";
  SetWaves({.sizes = {{.count = 1}}});
  EXPECT_THAT(woken_, IsEmpty());
  SetWaves({.sizes = {{.count = 1}}, .on_failure = reloadpolicy::OnWaveFailure::kRestore});
  EXPECT_THAT(woken_, ElementsAre("a", "b", "c"));
}

TEST_F(PolicyEnforcerRestoreTest, KnowsASnapshotThatIsDeletedByItsName) {
  enforcer_.OnSourceGone({SourceType::kConfigMap, {"shop", "other"}});
  EXPECT_THAT(snapshots_gone_, IsEmpty());
  enforcer_.OnSourceGone({SourceType::kConfigMap, {"shop", "config-good-6f1c0a2b93d4e5f6"}});
  EXPECT_THAT(snapshots_gone_, ElementsAre(kWaveConfig));
}

TEST_F(PolicyEnforcerRestoreTest, DataThatWerePutBackNeedNoCanary) {
  due_ = {"a", "b", "c"};
  EXPECT_FALSE(Admit("c")) << "it is of a later wave";
  const RestoredMark mark{.uid = "u",
                          .good = DigestNow(kWaveConfig),
                          .bad = DigestOf("bad"),
                          .at = apimachinery::Time{.seconds = 1}};
  PutSource(*config_maps_, kWaveConfig, "MQ==", mark.ToString());
  KX_AWAIT(caches_->GetSource(kWaveConfig)->restored);
  EXPECT_TRUE(Admit("c"));
  EXPECT_TRUE(Admit("b"));
}

TEST_F(PolicyEnforcerRestoreTest, OfSeveralRestoresTheStateOfAPolicyNamesTheLast) {
  const auto note = [&](const std::string& name, std::int64_t at) {
    enforcer_.NoteRestore({.outcome = Outcome::kRestored,
                           .source = {SourceType::kConfigMap, {"shop", name}},
                           .policy = {"shop", "careful"},
                           .message = name + " was put back",
                           .at = {.seconds = at}});
  };
  note("b", 7);
  note("a", 5);
  note("c", 6);
  EXPECT_EQ(enforcer_.States().at(0).restore->message, "b was put back");
  note("a", 9);
  EXPECT_EQ(enforcer_.States().at(0).restore->message, "a was put back");
  note("c", 9);
  EXPECT_EQ(enforcer_.States().at(0).restore->message,
            "a was put back, and so were those of 1 more source");
}

TEST_F(PolicyEnforcerRestoreTest, TheStateOfAPolicySaysWhatHasComeOfARestore) {
  EXPECT_TRUE(enforcer_.States().at(0).restores);
  EXPECT_TRUE(enforcer_.States().at(0).may_restore);
  EXPECT_EQ(enforcer_.States().at(0).restore, std::nullopt);
  const RestoreReport restored{
      .outcome = Outcome::kRestored, .source = kWaveConfig, .policy = {"shop", "careful"}};
  const RestoreReport held{
      .outcome = Outcome::kHeld, .source = kWavePassword, .policy = {"shop", "careful"}};
  enforcer_.NoteRestore(restored);
  EXPECT_EQ(enforcer_.States().at(0).restore, restored);
  RestoreReport earlier = restored;
  earlier.is_earlier = true;
  enforcer_.NoteRestore(earlier);
  EXPECT_EQ(enforcer_.States().at(0).restore, restored) << "what has been told says more";
  enforcer_.NoteRestore(held);
  EXPECT_EQ(enforcer_.States().at(0).restore, held) << "a person has to do something about it";
  RestoreReport over = held;
  EXPECT_TRUE(enforcer_.NoteRestore(held));
  RestoreReport other = held;
  other.source = {SourceType::kConfigMap, {"shop", "other"}};
  EXPECT_FALSE(enforcer_.NoteRestore(other)) << "a rollout for several sources is told of once";
  other.outcome = Outcome::kOver;
  enforcer_.NoteRestore(other);
  over.outcome = Outcome::kOver;
  enforcer_.NoteRestore(over);
  EXPECT_EQ(enforcer_.States().at(0).restore, restored);
  enforcer_.RemovePolicy({"shop", "careful"});
  SetWaves({.sizes = {{.count = 1}}});
  EXPECT_EQ(enforcer_.States().at(0).restore, std::nullopt);
  EXPECT_FALSE(enforcer_.States().at(0).restores);
}

}  // namespace
}  // namespace kubexx::reloader
