/// @file
/// A test fixture with an operator on a cluster in memory.
#ifndef KUBEXX_RELOADER_TESTING_OPERATOR_FIXTURE_H_
#define KUBEXX_RELOADER_TESTING_OPERATOR_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/api/apps/v1/schema.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/executor/executor.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/cache/testing/auto_clock.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/codec/codec.h"
#include "kubexx/reloader/fields/field_projection.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/operator/operator.h"
#include "kubexx/reloader/testing/new_informer.h"
#include "kubexx/reloader/write/dry_run.h"
#include "kubexx/reloader/write/patch.h"

namespace kubexx::reloader {

inline const WorkloadId kWeb{WorkloadKind::kDeployment, {"ns", "web"}};
inline const WorkloadId kApi{WorkloadKind::kDeployment, {"ns", "api"}};

/// A writer that stores the writes it gets, and fails when a test asks for it.
class FakeWriter final : public WorkloadWriter {
 public:
  struct Call {
    WorkloadId workload;
    std::string patch;            ///< without the baseline
    std::string baseline;         ///< the baseline in the annotations
    bool names_baseline = false;  ///< the write sets or removes the baseline
  };

  apimachinery::Result<WriteOutcome> Write(const WorkloadId& workload, const WorkloadWrite& write,
                                           std::stop_token) override {
    WorkloadWrite rest = write;
    const auto baseline = rest.annotations.extract(std::string(kBaselineAnnotation));
    const base::MutexLock lock(mu_);
    (write.Rolls() ? calls_ : records_)
        .push_back({workload, StrategicMergePatch(rest),
                    baseline.empty() ? "" : baseline.mapped().value_or(""), !baseline.empty()});
    changed_.notify_all();
    if (const auto found = failures_.find(workload); found != failures_.end()) {
      return apimachinery::Fail(found->second);
    }
    if (baseline_failure_ && !baseline.empty()) {
      return apimachinery::Fail(*baseline_failure_);
    }
    if (history_failure_ && write.annotations.contains(std::string(kHistoryAnnotation))) {
      return apimachinery::Fail(*history_failure_);
    }
    return WriteOutcome{
        .rolled = write.Rolls(), .recorded = !unrecorded_ || !write.Rolls(), .version = version_};
  }
  /// From now on workloads have this resource version after each write.
  void AnswerWith(std::uint64_t version) {
    const base::MutexLock lock(mu_);
    version_ = version;
  }
  /// What rolls is not recorded, as of a CronJob that may not be patched while Jobs may be made.
  void LeaveUnrecorded() {
    const base::MutexLock lock(mu_);
    unrecorded_ = true;
  }
  void Fail(const WorkloadId& workload, apimachinery::Status status) {
    const base::MutexLock lock(mu_);
    failures_[workload] = std::move(status);
  }
  /// Makes writes that contain a baseline fail.
  void FailBaselines(apimachinery::Status status) {
    const base::MutexLock lock(mu_);
    baseline_failure_ = std::move(status);
  }
  /// Makes writes that set or remove a history fail.
  void FailHistories(apimachinery::Status status) {
    const base::MutexLock lock(mu_);
    history_failure_ = std::move(status);
  }
  void Heal() {
    const base::MutexLock lock(mu_);
    failures_.clear();
  }
  std::vector<Call> Await(std::size_t n,
                          const base::testing::Where& where = base::testing::Where::current()) {
    const base::MutexLock lock(mu_);
    base::testing::Patience patience(base::testing::Shown(n) + " writes", where);
    while (calls_.size() < n) {
      patience.Wait(changed_, mu_, calls_.size());
    }
    return calls_;
  }
  std::vector<Call> calls() {
    const base::MutexLock lock(mu_);
    return calls_;
  }
  /// Returns the writes that roll nothing.
  std::vector<Call> AwaitRecords(
      std::size_t n, const base::testing::Where& where = base::testing::Where::current()) {
    const base::MutexLock lock(mu_);
    base::testing::Patience patience(base::testing::Shown(n) + " records", where);
    while (records_.size() < n) {
      patience.Wait(changed_, mu_, records_.size());
    }
    return records_;
  }

 private:
  base::Mutex mu_;
  base::CondVar changed_;
  std::vector<Call> calls_ KX_GUARDED_BY(mu_);
  std::vector<Call> records_ KX_GUARDED_BY(mu_);
  std::map<WorkloadId, apimachinery::Status> failures_ KX_GUARDED_BY(mu_);
  std::optional<apimachinery::Status> baseline_failure_ KX_GUARDED_BY(mu_);
  std::optional<apimachinery::Status> history_failure_ KX_GUARDED_BY(mu_);
  bool unrecorded_ KX_GUARDED_BY(mu_) = false;
  std::uint64_t version_ KX_GUARDED_BY(mu_) = 0;
};

/// A cluster in memory with one operator on it. All of them use a clock that moves only when a test
/// advances it.
class OperatorTest : public ::testing::Test {
 protected:
  void PutConfigMap(const std::string& name, const std::string& value,
                    const std::string& ns = "ns") {
    api::core::v1::ConfigMap config_map;
    config_map.metadata.namespace_ = ns;
    config_map.metadata.name = name;
    config_map.data["key"] = value;
    Put(*config_maps_, config_map);
  }
  void PutSecret(const std::string& name, const std::string& value) {
    api::core::v1::Secret secret;
    secret.metadata.namespace_ = "ns";
    secret.metadata.name = name;
    secret.data["key"] = apimachinery::Bytes(value);
    Put(*secrets_, secret);
  }
  /// Creates a Deployment with the auto annotation that takes the ConfigMap "config" and the Secret
  /// "password" into its environment.
  static api::apps::v1::Deployment Web(const WorkloadId& id = kWeb) {
    api::apps::v1::Deployment deployment;
    deployment.metadata.namespace_ = id.key.namespace_;
    deployment.metadata.name = id.key.name;
    deployment.metadata.uid = "uid-" + id.key.name;
    deployment.metadata.annotations["reloader.stakater.com/auto"] = "true";
    api::core::v1::Container& container = deployment.spec.template_.spec.containers.emplace_back();
    container.name = "app";
    container.env_from.emplace_back().config_map_ref.emplace().local_object_reference.name =
        "config";
    container.env_from.emplace_back().secret_ref.emplace().local_object_reference.name = "password";
    return deployment;
  }
  static api::apps::v1::Deployment WithVariable(api::apps::v1::Deployment deployment,
                                                const std::string& name, const std::string& value) {
    deployment.spec.template_.spec.containers[0].env.push_back({.name = name, .value = value});
    return deployment;
  }
  static api::apps::v1::Deployment WithBaseline(api::apps::v1::Deployment deployment,
                                                const std::string& text) {
    deployment.metadata.annotations[std::string(kBaselineAnnotation)] = text;
    return deployment;
  }
  template <class T>
  static void Put(cache::testing::FakeSource& source, const T& object) {
    source.PutObject({.encoding = codec::Encoding::kJson,
                      .bytes = codec::EncodeJson(object),
                      .key = {object.metadata.namespace_, object.metadata.name}});
  }

  void StartOperator(ReloadStrategy strategy = ReloadStrategy::kEnvVars, WorkloadRead read = {}) {
    InformerSet set;
    const AnnotationKeys& keys = rules_.keys;
    const SourceDetail detail = history_ > 0 ? SourceDetail::kWithKeys : SourceDetail::kDigest;
    set.sources[SourceType::kConfigMap] =
        Informer(config_maps_, TransformFor(SourceType::kConfigMap, keys, detail));
    set.sources[SourceType::kSecret] =
        Informer(secrets_, TransformFor(SourceType::kSecret, keys, detail));
    for (const auto& [type, objects] : described_) {
      set.sources[type] =
          Informer(objects, TransformForFields(DescribedBy(type)->described, keys, detail));
    }
    set.workloads[WorkloadKind::kDeployment] =
        Informer(deployments_, TransformFor(WorkloadKind::kDeployment, keys));
    for (const auto& [kind, late] : late_kinds_) {
      set.workloads[kind] = Informer(late.first, TransformFor(kind, keys));
      set.late[kind] = late.second;
    }
    operator_ = std::make_unique<Operator>(
        Operator::Options{.rules = rules_,
                          .strategy = strategy,
                          .ignored_namespaces = {"ignored"},
                          .release_window = release_window_,
                          .clock = clock_,
                          .executor = executor_,
                          .registry = &registry_,
                          .tracer = tracer_,
                          .record_baselines = recording_,
                          .history = history_,
                          .pods = pods_,
                          .observers = observers_,
                          .held_shards = held_shards_,
                          .pause_query = pause_query_,
                          .read_workload = std::move(read),
                          .fetch_values = fetch_values_,
                          .rollout_gate = gate_},
        std::vector{set},
        dry_run_ ? static_cast<WorkloadWriter&>(*dry_run_) : static_cast<WorkloadWriter&>(writer_));
    operator_->Start();
    // Wait until the operator knows the objects that exist: a workload that it sees later would
    // have its settle window then.
    for (const auto& informer :
         {set.sources[SourceType::kConfigMap], set.sources[SourceType::kSecret],
          set.workloads[WorkloadKind::kDeployment]}) {
      AwaitOperatorSync(*informer);
    }
    for (const auto& [type, objects] : described_) {
      AwaitOperatorSync(*set.sources[type]);
    }
  }
  std::shared_ptr<cache::SharedInformerBase> Informer(
      std::shared_ptr<cache::testing::FakeSource> source,
      std::function<apimachinery::Result<void>(cache::Object&)> transform) {
    return NewTestInformer(std::move(source),
                           cache::InformerOptions{.name = "test",
                                                  .clock = informer_clock_,
                                                  .transform = std::move(transform),
                                                  .executor = executor_});
  }

  double Count(const std::string& name, const metrics::Labels& labels) {
    return registry_.Counter(name, "", labels).Value();
  }
  /// Blocks until a counter has reached `value`.
  void AwaitCount(const std::string& name, const metrics::Labels& labels, double value,
                  const base::testing::Where& where = base::testing::Where::current()) {
    using base::testing::Shown;
    base::testing::Patience patience(name + Shown(labels) + " >= " + Shown(value), where);
    while (Count(name, labels) < value) {
      patience.Pause(Count(name, labels));
    }
  }
  void AwaitEvents(const std::string& resource, const std::string& type, double value,
                   const base::testing::Where& where = base::testing::Where::current()) {
    AwaitCount("reloader_events_processed_total",
               {{"event_type", type}, {"resource_type", resource}, {"result", "success"}}, value,
               where);
  }
  void AwaitReconciles(const std::string& result, double value,
                       const base::testing::Where& where = base::testing::Where::current()) {
    AwaitCount("reloader_reconcile_total", {{"result", result}}, value, where);
  }
  /// Waits until a key settles, and lets its window pass. If several keys settle, all of them must
  /// have been noted before.
  void Settle(const base::testing::Where& where = base::testing::Where::current()) {
    clock_.AwaitSleepers(1, where);
    clock_.Advance(std::chrono::milliseconds(100));
  }
  static std::string DigestText(const std::string& value) {
    return DigestOf("key=" + value).ToString();
  }

  std::shared_ptr<cache::testing::FakeSource> config_maps_ =
      std::make_shared<cache::testing::FakeSource>();
  std::shared_ptr<cache::testing::FakeSource> secrets_ =
      std::make_shared<cache::testing::FakeSource>();
  std::shared_ptr<cache::testing::FakeSource> deployments_ =
      std::make_shared<cache::testing::FakeSource>();
  /// The objects of described kinds of sources.
  std::map<SourceType, std::shared_ptr<cache::testing::FakeSource>> described_;
  /// Kinds that cannot be listed at first, and the tokens that end the wait for them.
  std::map<WorkloadKind, std::pair<std::shared_ptr<cache::testing::FakeSource>, std::stop_token>>
      late_kinds_;
  base::testing::FakeClock clock_;
  cache::testing::AutoClock informer_clock_;  // does not wait for backoff
  std::shared_ptr<base::Executor> executor_;  ///< of the operator and all informers, when not null
  FakeWriter writer_;
  DecisionRules rules_;
  base::Duration release_window_{};
  BaselineRecording recording_ = BaselineRecording::kWithRollouts;
  std::size_t history_ = 0;
  PodAccess* pods_ = nullptr;
  WriteObservers observers_;
  PauseQuery pause_query_;
  std::shared_ptr<tracing::Tracer> tracer_;
  ValueDigestReader::Fetch fetch_values_;
  RolloutGate* gate_ = nullptr;
  HeldShards* held_shards_ = nullptr;
  metrics::Registry registry_;
  std::optional<DryRunWriter> dry_run_;
  std::unique_ptr<Operator> operator_;
};

/// Stores the reasons of notices. Thread-safe.
class NoticeObserver final : public WriteObserver {
 public:
  void OnWrite(const WriteReport&) override {}
  void OnNotice(const WorkloadNotice& notice) override {
    const base::MutexLock lock(mu_);
    reasons_.push_back(notice.reason + " " + notice.workload.key.name);
  }
  std::vector<std::string> reasons() {
    const base::MutexLock lock(mu_);
    return reasons_;
  }

 private:
  base::Mutex mu_;
  std::vector<std::string> reasons_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_TESTING_OPERATOR_FIXTURE_H_
