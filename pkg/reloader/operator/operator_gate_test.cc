// Tests what the operator tells its gate about workloads that could be rolled and do not ask.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/api/apps/v1/schema.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/batch/v1/schema.gen.h"
#include "kubexx/api/batch/v1/types.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/base/wait_until_stopped.h"
#include "kubexx/cache/testing/auto_clock.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/codec/codec.h"
#include "kubexx/logging/testing/capture.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/operator/operator.h"
#include "kubexx/reloader/testing/new_informer.h"
#include "kubexx/reloader/watch/namespace_selector.h"
#include "kubexx/reloader/write/job_keeper.h"

namespace kubexx::reloader {
namespace {

namespace core = api::core::v1;
namespace apps = api::apps::v1;
namespace batch = api::batch::v1;
using apimachinery::Reason;
using apimachinery::Result;
using cache::testing::FakeSource;

const WorkloadId kGatedShop{WorkloadKind::kDeployment, {"ns", "web"}};

/// A gate that holds everything back, unless the test lets it go, and that records of which
/// workloads it was told.
class NotingGate final : public RolloutGate {
 public:
  base::Subscription Attach(GateHost host) override {
    host_.emplace(std::move(host));
    return {};
  }
  bool WaitForSync(const std::stop_token& stop) override {
    if (is_late_) {
      base::WaitUntilStopped(stop);
    }
    return !is_late_;
  }
  bool Admit(const Workload& workload, std::vector<Change>&,
             AnnotationEdits& annotations) override {
    Note("asks", workload.id);
    annotations.insert(records_.begin(), records_.end());
    return lets_go_;
  }
  void OnWritten(const WorkloadId& workload, WriteEnd end, std::uint64_t) override {
    Note(end == WriteEnd::kRolled       ? "rolled"
         : end == WriteEnd::kKept       ? "kept"
         : end == WriteEnd::kUnrecorded ? "unrecorded"
         : end == WriteEnd::kUncertain  ? "uncertain"
         : end == WriteEnd::kOvertaken  ? "overtaken"
                                        : "not rolled",
         workload);
  }
  void OnRefused(const WorkloadId& workload, const std::string& why) override {
    Note("refused for " + why, workload);
  }
  void OnNothing(const WorkloadId& workload) override { Note("nothing", workload); }
  void OnWorkload(const WorkloadId&, const Workload*) override {}
  std::optional<base::Duration> SettleWindow(const WorkloadId&) override { return std::nullopt; }
  AnnotationEdits Marks(const Workload&) override { return marks_; }

  /// Sets annotations that the gate wants on each workload. Call it before the operator starts.
  void Mark(AnnotationEdits marks) { marks_ = std::move(marks); }
  /// Sets annotations that the gate adds to each rollout. Call it before the operator starts.
  void Record(AnnotationEdits records) { records_ = std::move(records); }
  /// Lets all rollouts go. Call it before the operator starts.
  void LetGo() { lets_go_ = true; }
  void BeLate() { is_late_ = true; }
  /// Wakes a workload, as the gate does when a place is free.
  void Wake(const WorkloadId& workload) { host_->wake(workload, base::Duration(0)); }
  /// Asks what workloads of a higher order ask before they are rolled.
  bool NeedsRollout(const WorkloadId& workload, const SourceId& source) const {
    return host_->needs_rollout(*host_->caches.GetWorkload(workload), source);
  }
  /// Whether the note has been made. If so, all notes are removed.
  bool Take(const std::string& note) {
    const base::MutexLock lock(mu_);
    return TakeLocked(note);
  }
  /// Blocks until the note has been made, and returns all notes up to it.
  std::vector<std::string> AwaitAll(const std::string& note, const base::testing::Where& where =
                                                                 base::testing::Where::current()) {
    const base::MutexLock lock(mu_);
    base::testing::Patience patience(note, where);
    while (std::ranges::find(notes_, note) == notes_.end()) {
      patience.Wait(changed_, mu_);
    }
    return {notes_.begin(), std::ranges::find(notes_, note)};
  }
  /// Blocks until Take returns true for the note.
  void Await(const std::string& note,
             const base::testing::Where& where = base::testing::Where::current()) {
    const base::MutexLock lock(mu_);
    base::testing::Patience patience("TakeLocked(note)", where);
    while (!TakeLocked(note)) {
      patience.Wait(changed_, mu_);
    }
  }

 private:
  void Note(const std::string& what, const WorkloadId& workload) {
    const base::MutexLock lock(mu_);
    notes_.push_back(what + " " + workload.key.ToString());
    changed_.notify_all();
  }
  bool TakeLocked(const std::string& note) KX_REQUIRES(mu_) {
    const bool found = std::ranges::find(notes_, note) != notes_.end();
    if (found) {
      notes_.clear();
    }
    return found;
  }

  std::optional<GateHost> host_;
  bool lets_go_ = false;
  bool is_late_ = false;
  AnnotationEdits marks_;
  AnnotationEdits records_;
  base::Mutex mu_;
  base::CondVar changed_;
  std::vector<std::string> notes_ KX_GUARDED_BY(mu_);
};

/// Writes nothing, and returns the result that the test sets.
class NoWriter final : public WorkloadWriter {
 public:
  Result<WriteOutcome> Write(const WorkloadId&, const WorkloadWrite& write,
                             std::stop_token) override {
    if (before_) {
      before_();
    }
    if (refuses_baselines_ && write.annotations.contains(std::string(kBaselineAnnotation)) &&
        write.annotations.at(std::string(kBaselineAnnotation))) {
      return apimachinery::Fail(apimachinery::Status(Reason::kInvalid, "no room", 422));
    }
    if (error_) {
      return apimachinery::Fail(*error_);
    }
    std::size_t bytes = 0;
    for (const auto& [key, value] : write.annotations) {
      bytes += value ? key.size() + value->size() : 0;
    }
    if (bytes > room_) {
      apimachinery::Status full(Reason::kInvalid, "Too long", 422);
      full.details.causes.push_back(
          {.reason = "FieldValueTooLong", .field = "metadata.annotations"});
      return apimachinery::Fail(std::move(full));
    }
    const base::MutexLock lock(mu_);
    written_ = write.annotations;
    return answer_;
  }
  /// The annotations of the last write that was accepted.
  AnnotationEdits written() {
    const base::MutexLock lock(mu_);
    return written_;
  }

  std::function<void()> before_;
  WriteOutcome answer_{};
  std::optional<apimachinery::Status> error_;
  bool refuses_baselines_ = false;
  std::size_t room_ = 1U << 20;  ///< for annotations, in bytes

 private:
  base::Mutex mu_;
  AnnotationEdits written_ KX_GUARDED_BY(mu_);
};

/// A Deployment "web" that was rolled for another state of ConfigMap "config" than the present one.
class OperatorGateTest : public testing::Test {
 protected:
  OperatorGateTest() {
    core::Namespace ns;
    ns.metadata.name = "ns";
    Put(*selected_, ns);
    PutConfig("new");
    PutWeb();
  }
  /// Puts "web" with one more annotation, unless the annotation has no name.
  void PutWeb(const std::string& annotation = "", const std::string& value = "") {
    Put(*deployments_, Web(annotation, value));
  }
  static apps::Deployment Web(const std::string& annotation = "", const std::string& value = "") {
    apps::Deployment web;
    web.metadata.namespace_ = "ns";
    web.metadata.name = "web";
    web.metadata.uid = "uid";
    web.metadata.annotations["reloader.stakater.com/auto"] = "true";
    web.metadata.annotations[std::string(kBaselineAnnotation)] =
        "v1 uid configmap/config=" + DigestOf("key=old").ToString();
    if (!annotation.empty()) {
      web.metadata.annotations[annotation] = value;
    }
    core::Container& container = web.spec.template_.spec.containers.emplace_back();
    container.name = "app";
    container.env_from.emplace_back().config_map_ref.emplace().local_object_reference.name =
        "config";
    return web;
  }
  /// Returns "web" as the API server has it, in the version after the cache's.
  static Result<std::optional<Workload>> ReadWeb() {
    cache::Object object{.encoding = codec::Encoding::kJson,
                         .bytes = codec::EncodeJson(Web()),
                         .key = kGatedShop.key};
    KX_RETURN_IF_ERROR(ProjectWorkload(kGatedShop.kind, {}, object));
    KX_ASSIGN_OR_RETURN(Workload web, WorkloadFrom(kGatedShop.kind, object));
    web.resource_version = "1000";
    return std::optional(std::move(web));
  }
  /// Puts a Job "once" like "web", with an annotation that only its owner may have written.
  void PutJob(const std::string& annotation = "") {
    batch::Job once;
    once.metadata.namespace_ = "ns";
    once.metadata.name = "once";
    once.metadata.uid = "uid";
    once.metadata.annotations["reloader.stakater.com/auto"] = "true";
    once.metadata.annotations[std::string(kBaselineAnnotation)] =
        "v1 uid configmap/config=" + DigestOf("key=old").ToString();
    if (!annotation.empty()) {
      once.metadata.annotations[annotation] = "x";
    }
    core::Container& container = once.spec.template_.spec.containers.emplace_back();
    container.name = "app";
    container.env_from.emplace_back().config_map_ref.emplace().local_object_reference.name =
        "config";
    Put(*jobs_, once);
  }
  void PutConfig(const std::string& value) {
    core::ConfigMap config;
    config.metadata.namespace_ = "ns";
    config.metadata.name = "config";
    config.data["key"] = value;
    Put(*config_maps_, config);
  }
  template <class T>
  static void Put(FakeSource& source, const T& object) {
    source.PutObject({.encoding = codec::Encoding::kJson,
                      .bytes = codec::EncodeJson(object),
                      .key = {object.metadata.namespace_, object.metadata.name}});
  }
  std::shared_ptr<cache::SharedInformerBase> InformerOn(
      const std::shared_ptr<FakeSource>& source,
      std::function<Result<void>(cache::Object&)> transform = {}) {
    return NewTestInformer(
        source, cache::InformerOptions{
                    .name = "test", .clock = informer_clock_, .transform = std::move(transform)});
  }
  void StartOperator(WorkloadRead read = {}, base::Duration window = base::Duration(0)) {
    InformerSet set;
    const AnnotationKeys keys;
    set.sources[SourceType::kConfigMap] =
        InformerOn(config_maps_, TransformFor(SourceType::kConfigMap, keys));
    set.workloads[WorkloadKind::kDeployment] =
        InformerOn(deployments_, TransformFor(WorkloadKind::kDeployment, keys));
    set.workloads[WorkloadKind::kJob] = InformerOn(jobs_, TransformFor(WorkloadKind::kJob, keys));
    operator_ =
        std::make_unique<Operator>(Operator::Options{.rules = rules_,
                                                     .strategy = ReloadStrategy::kAnnotations,
                                                     .settle_window = window,
                                                     .workers = 1,
                                                     .clock = clock_,
                                                     .registry = &registry_,
                                                     .namespace_selector = &selector_,
                                                     .pause_query = pause_query_,
                                                     .read_workload = std::move(read),
                                                     .rollout_gate = &gate_},
                                   std::vector{set}, writer_);
    operator_->Start();
  }

  /// Moves the time forward only while somebody waits for it. Time in which the operator's threads
  /// do not run must not count, because changes that have just come would be overdue.
  void AdvanceUntil(const std::string& note, base::Duration step) {
    KX_UNTIL(gate_.Take(note)) {
      if (clock_.Sleepers() > 0) {
        clock_.Advance(step);
      }
    }
  }

  std::shared_ptr<FakeSource> config_maps_ = std::make_shared<FakeSource>();
  std::shared_ptr<FakeSource> deployments_ = std::make_shared<FakeSource>();
  std::shared_ptr<FakeSource> jobs_ = std::make_shared<FakeSource>();
  std::shared_ptr<FakeSource> selected_ = std::make_shared<FakeSource>();
  base::testing::FakeClock clock_;
  cache::testing::AutoClock informer_clock_;  // backoff delays pass at once
  DecisionRules rules_;
  NoWriter writer_;
  NotingGate gate_;
  PauseQuery pause_query_;
  metrics::Registry registry_;
  NamespaceSelector selector_{InformerOn(selected_)};
  std::unique_ptr<Operator> operator_;
};

TEST_F(OperatorGateTest, ANamespaceThatIsNoLongerSelectedWaitsForNothing) {
  StartOperator();
  gate_.Await("asks ns/web");
  selected_->Delete({"", "ns"});
  KX_AWAIT(!selector_.Contains("ns"));
  gate_.Wake(kGatedShop);
  gate_.Await("nothing ns/web");
}

// Others wait for it, by an order or in a wave, and no event follows that would wake them.
TEST_F(OperatorGateTest, AWorkloadThatIsNotWrittenAndWillNotBeNeedsNoRollout) {
  for (const char* left_alone : {"", "it is suspended"}) {
    operator_.reset();
    writer_.answer_ = WriteOutcome();
    writer_.answer_.made = left_alone[0] != '\0';
    writer_.answer_.rolled = writer_.answer_.recorded = false;
    writer_.answer_.left_alone = left_alone;
    gate_.LetGo();
    StartOperator();
    EXPECT_THAT(gate_.AwaitAll("nothing ns/web"), testing::Contains("not rolled ns/web"));
    gate_.Await("nothing ns/web");
  }
}

TEST_F(OperatorGateTest, AStopTellsThatTheWorkersHaveNotBegun) {
  const logging::testing::Capture capture;
  gate_.BeLate();
  StartOperator();
  KX_AWAIT(operator_->Ready());
  std::jthread stopper([this] { operator_->Stop(); });
  KX_UNTIL(capture.Count("before its workers have begun") == 1) {
    if (clock_.Sleepers() > 0) {
      clock_.Advance(std::chrono::seconds(1));
    }
  }
  stopper.join();
  EXPECT_EQ(capture.Count("still write"), 0U);
}

TEST_F(OperatorGateTest, TheDepthIsThatOfTheQueueWhenSomebodyLooks) {
  std::atomic<bool> has_begun = false;
  std::atomic<bool> may_go_on = false;
  writer_.before_ = [&has_begun, &may_go_on] {
    has_begun = true;
    KX_AWAIT(may_go_on);
  };
  gate_.LetGo();
  StartOperator();
  KX_AWAIT(has_begun);  // now the only worker is busy
  gate_.Wake({WorkloadKind::kJob, {"ns", "one"}});
  gate_.Wake({WorkloadKind::kJob, {"ns", "other"}});
  EXPECT_THAT(registry_.Serialize(), testing::HasSubstr("\nreloader_workqueue_depth 2\n"));
  may_go_on = true;
  operator_.reset();
}

TEST_F(OperatorGateTest, AWorkloadThatCannotBePlannedKeepsNoPlace) {
  StartOperator([](const WorkloadId&, const std::stop_token&) -> Result<std::optional<Workload>> {
    return apimachinery::Fail(apimachinery::Status(Reason::kUnavailable, "down", 503));
  });
  gate_.Await("nothing ns/web");
}

TEST_F(OperatorGateTest, AWorkloadThatChangesMeanwhileKeepsItsPlaceUntilItGivesUp) {
  writer_.error_ = apimachinery::Status(Reason::kConflict, "the object has been modified", 409);
  gate_.LetGo();
  StartOperator([](const WorkloadId&, const std::stop_token&) { return ReadWeb(); });
  EXPECT_THAT(
      gate_.AwaitAll("nothing ns/web"),
      testing::ElementsAre("asks ns/web", "overtaken ns/web", "asks ns/web", "overtaken ns/web",
                           "asks ns/web", "overtaken ns/web", "asks ns/web", "overtaken ns/web"));
}

TEST_F(OperatorGateTest, AWorkloadThatCannotBeReadAgainKeepsNoPlaceAfterAConflict) {
  writer_.error_ = apimachinery::Status(Reason::kConflict, "the object has been modified", 409);
  gate_.LetGo();
  StartOperator();
  EXPECT_THAT(gate_.AwaitAll("nothing ns/web"),
              testing::ElementsAre("asks ns/web", "overtaken ns/web"));
}

TEST_F(OperatorGateTest, AWorkloadThatIsGoneWhenItIsReadKeepsNoPlace) {
  StartOperator([](const WorkloadId&, const std::stop_token&) -> Result<std::optional<Workload>> {
    return std::nullopt;
  });
  gate_.Await("nothing ns/web");
}

TEST_F(OperatorGateTest, AWorkloadThatIsGoneKeepsNoPlace) {
  StartOperator();
  gate_.Await("asks ns/web");
  gate_.Wake({WorkloadKind::kDeployment, {"ns", "gone"}});
  gate_.Await("nothing ns/gone");
}

TEST_F(OperatorGateTest, ARolloutThatIsNotRecordedIsToldAsSuch) {
  writer_.answer_ = {.rolled = true, .recorded = false};
  gate_.LetGo();
  StartOperator();
  gate_.Await("unrecorded ns/web");
}

TEST_F(OperatorGateTest, AWriteOfWhichTheServerKeepsTheAnnotationsAloneIsToldAsSuch) {
  writer_.answer_ = {.rolled = false, .left_alone = "kept"};
  gate_.LetGo();
  StartOperator();
  gate_.Await("kept ns/web");
}

TEST_F(OperatorGateTest, ARolloutOfWhichOnlyTheBaselineIsRefusedIsRecorded) {
  writer_.refuses_baselines_ = true;
  gate_.LetGo();
  StartOperator();
  gate_.Await("rolled ns/web");
}

// It was refused, again and again: what others had written into the annotations left no room.
TEST_F(OperatorGateTest, RecordsGiveWayToTheRolloutWhereThereIsNoRoom) {
  const std::string data(reloadpolicy::kRolledDataAnnotation);
  const std::string last(reloadpolicy::kLastRolloutAnnotation);
  const std::string state(reloadpolicy::kRolloutStateAnnotation);
  const AnnotationEdits records{
      {data, std::string(1000, 'x')}, {last, "2026-11-30T22:00:00Z"}, {state, "started uid"}};
  for (const bool is_full : {false, true}) {
    const logging::testing::Capture capture;
    PutWeb(data, "of an earlier one");
    writer_.room_ = is_full ? 10 : 200;
    gate_.Record(records);
    gate_.LetGo();
    StartOperator();
    gate_.Await(is_full ? "unrecorded ns/web" : "rolled ns/web");
    operator_.reset();
    const AnnotationEdits written = writer_.written();
    EXPECT_EQ(written.at(data), std::nullopt);
    EXPECT_EQ(written.contains(last), !is_full);
    EXPECT_EQ(written.contains(state), !is_full);
    EXPECT_EQ(capture.Count("rolled without a record of it"), 1U);
  }
}

// The data had no room when the workload was rolled, and its end was never recorded.
TEST_F(OperatorGateTest, TheEndOfARolloutIsRecordedWhereItsDataHaveNoRoom) {
  const std::string data(reloadpolicy::kRolledDataAnnotation);
  const std::string state(reloadpolicy::kRolloutStateAnnotation);
  for (const bool is_data_alone : {false, true}) {
    const logging::testing::Capture capture;
    PutWeb("example.com/round", is_data_alone ? "two" : "one");
    writer_.room_ = 200;
    AnnotationEdits marks{{data, std::string(1000, 'x')}};
    if (!is_data_alone) {
      marks[state] = "failed uid";
    }
    gate_.Mark(marks);
    StartOperator();
    gate_.Await("asks ns/web");
    operator_.reset();
    EXPECT_EQ(writer_.written().contains(state), true);
    EXPECT_FALSE(writer_.written().contains(data));
    EXPECT_EQ(capture.Count("Cannot record the end of a rollout"), 0U);
  }
}

TEST_F(OperatorGateTest, TheGateIsToldWhyAWriteIsRefused) {
  writer_.error_ = apimachinery::Status(Reason::kForbidden, "a quota", 403);
  gate_.LetGo();
  StartOperator();
  gate_.Await("refused for a quota ns/web");
}

TEST_F(OperatorGateTest, ARolloutThatABadAnnotationForbidsIsAnErrorThatIsCounted) {
  pause_query_ = [](const WorkloadId&, const std::stop_token&) -> Result<PauseState> {
    return PauseState();
  };
  PutWeb(AnnotationKeys().pause_period, "a while");
  gate_.LetGo();
  StartOperator();
  gate_.Await("not rolled ns/web");
  operator_->Stop();
  const metrics::Labels error{{"type", "handler_error"}};
  EXPECT_GE(registry_.Counter("reloader_errors_total", "", error).Value(), 1);
  EXPECT_EQ(registry_.Counter("reloader_retries_total", "").Value(), 0)
      << "it stays wrong until it is changed";
}

TEST_F(OperatorGateTest, TheEndOfARolloutIsWrittenAgainWhereABadAnnotationForbidsTheNext) {
  pause_query_ = [](const WorkloadId&, const std::stop_token&) -> Result<PauseState> {
    return PauseState();
  };
  PutWeb(AnnotationKeys().pause_period, "a while");
  gate_.Mark({{"reloader.kubexx.io/rollout-state", "completed uid"}});
  writer_.error_ = apimachinery::Status(Reason::kUnavailable, "the connection broke");
  gate_.LetGo();
  StartOperator();
  gate_.Await("not rolled ns/web");
  AdvanceUntil("not rolled ns/web", std::chrono::seconds(31));
}

TEST_F(OperatorGateTest, AWriteWithoutAnAnswerMayHaveRolled) {
  writer_.error_ = apimachinery::Status(Reason::kUnavailable, "the connection broke");
  gate_.LetGo();
  StartOperator();
  gate_.Await("uncertain ns/web");
}

TEST_F(OperatorGateTest, AWriteThatIsRefusedHasRolledNothing) {
  writer_.error_ = apimachinery::Status(Reason::kInvalid, "no", 422);
  gate_.LetGo();
  StartOperator();
  gate_.Await("not rolled ns/web");
}

TEST_F(OperatorGateTest, AJobThatIsMadeAKeeperWhileItWaitsKeepsNoPlace) {
  PutJob();
  StartOperator();
  gate_.Await("asks ns/once");
  PutJob(std::string(kKeeperOf));
  gate_.Await("nothing ns/once");
}

TEST_F(OperatorGateTest, NothingWaitsForAJobThatIsAKeeper) {
  PutJob();
  StartOperator();
  gate_.Await("asks ns/once");
  const WorkloadId once{WorkloadKind::kJob, {"ns", "once"}};
  const SourceId config{SourceType::kConfigMap, {"ns", "config"}};
  EXPECT_TRUE(gate_.NeedsRollout(once, config));
  PutJob(std::string(kKeeperOf));
  gate_.Await("nothing ns/once");
  EXPECT_FALSE(gate_.NeedsRollout(once, config));
}

TEST_F(OperatorGateTest, AWorkloadWhoseSourcesChangeAgainKeepsNoPlaceMeanwhile) {
  const base::Duration window = std::chrono::seconds(1);
  StartOperator({}, window);
  AdvanceUntil("asks ns/web", window);
  PutConfig("newer");
  KX_AWAIT(
      registry_
          .Counter(
              "reloader_events_processed_total", "",
              {{"event_type", "update"}, {"resource_type", "configmaps"}, {"result", "success"}})
          .Value() >= 1);
  gate_.Wake(kGatedShop);
  gate_.Await("nothing ns/web");
  AdvanceUntil("asks ns/web", window);
}

}  // namespace
}  // namespace kubexx::reloader
