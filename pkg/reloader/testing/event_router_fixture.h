/// @file
/// A test fixture that sends the events of one workload to an EventRouter, and plans for it.
#ifndef KUBEXX_RELOADER_TESTING_EVENT_ROUTER_FIXTURE_H_
#define KUBEXX_RELOADER_TESTING_EVENT_ROUTER_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/cache/informer_event.h"
#include "kubexx/cache/shared_informer_base.h"
#include "kubexx/cache/testing/auto_clock.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/ha/held_shards.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/plan/baseline.h"
#include "kubexx/reloader/plan/planner.h"
#include "kubexx/reloader/plan/strategy.h"
#include "kubexx/reloader/testing/router_cases.h"
#include "kubexx/reloader/watch/event_router.h"

namespace kubexx::reloader {

inline const SourceId kRoutedConfig{SourceType::kConfigMap, {"ns", "config"}};
inline const Digest kGoodData = DigestOf("key=good");
inline const Digest kBadData = DigestOf("key=bad");
inline const Digest kMendedData = DigestOf("key=mended");
/// The API server knows `kubectl rollout undo` under this name.
inline constexpr char kUndoer[] = "kubectl";
inline constexpr char kTool[] = "argocd-controller";

/// Sends the events of one workload as the API server does, and plans for the workload.
class EventRouterTest : public ::testing::TestWithParam<RouterCase> {
 protected:
  EventRouterTest() {
    if (GetParam().strategy == ReloadStrategy::kAnnotations) {
      rules_.by_variables = false;
    }
    Put(kGoodData, "Reloader");
    FinishRollout();
    Begin();
  }
  ~EventRouterTest() override { End(); }

  WorkloadKind KindOfTemplate() const {
    return GetParam().is_by_ref ? WorkloadKind::kDeployment : GetParam().kind;
  }
  WorkloadId Id() const { return {GetParam().kind, {"ns", "web"}}; }

  void End() {
    if (caches_) {
      caches_->Stop();
    }
    handlers_.clear();
    caches_.reset();
  }
  /// The operator starts and looks at what is there. A standby only watches.
  void Begin(bool is_standby = false) {
    End();
    memory_ = std::make_unique<PairMemory>();
    handled_ = 0;
    InformerSet set;
    std::vector<WorkloadKind> kinds{KindOfTemplate()};
    if (GetParam().is_by_ref) {
      kinds.push_back(WorkloadKind::kRollout);
    }
    for (const WorkloadKind kind : kinds) {
      auto& source = kind == KindOfTemplate() ? templates_ : rollouts_;
      set.workloads[kind] = std::make_shared<cache::SharedInformerBase>(
          source,
          cache::InformerOptions{.clock = informer_clock_, .transform = TransformFor(kind, {})});
    }
    caches_ = std::make_unique<Caches>(std::vector{set}, rules_);
    router_ = std::make_unique<EventRouter>(
        EventRouter::Parts{.caches = *caches_,
                           .memory = *memory_,
                           .told = told_,
                           .patterns = patterns_,
                           .rules = rules_,
                           .ignored_namespaces = ignored_,
                           .metrics = metrics_,
                           .on_demand = on_demand_,
                           .recent = &recent_,
                           .held_shards = is_standby ? &closed_ : nullptr,
                           .note = [](const WorkloadId&, Cause) {}});
    for (const auto& [kind, informer] : set.workloads) {
      handlers_.push_back(
          informer->AddRawHandler("router", [this, kind](const cache::RawEvent& event) {
            router_->OnWorkload(kind, event, {});
            handled_ += event.key().namespace_ == "ns" ? 1 : 0;
          }));
    }
    caches_->Start();
    Await(static_cast<int>(kinds.size()));
    if (!is_standby && plans_at_once_) {
      Look();
    }
  }
  void Await(int events) { KX_AWAIT_GE(handled_, events); }

  /// Whether the watch is to tell of what is written from now on; otherwise nothing waits for that.
  void SetWatched(bool watched) { is_watched_ = watched; }

  /// Changes the data, as an informer tells.
  void SetData(const Digest& digest) {
    data_version_ = NextVersion();
    memory_->RecordChange(Id(), kRoutedConfig, data_, Move{digest, data_version_});
    recent_.Add(kRoutedConfig, data_, Move{digest, data_version_});
    data_ = digest;
    data_written_ = ++seconds_;
  }
  /// The versions of all types of objects are from one sequence.
  std::uint64_t NextVersion() { return ++version_; }

  Plan MakeNow() {
    class Data final : public DigestsOver {
     public:
      explicit Data(std::int64_t written) : written_(written) {}
      std::optional<Digest> Over(const SourceId&, std::string_view) override {
        return std::nullopt;
      }
      std::optional<apimachinery::Time> WrittenAt(const SourceId&) override {
        return apimachinery::Time{.seconds = written_};
      }

     private:
      std::int64_t written_;
    } data(data_written_);
    const auto get = [&](const SourceId& id) {
      return id == kRoutedConfig
                 ? std::optional(Source{
                       .id = kRoutedConfig, .digest = data_, .resource_version = data_version_})
                 : std::nullopt;
    };
    const auto names = [](SourceType) { return std::vector<std::string>(); };
    return MakePlan(*caches_->GetWorkload(Id()), SourceLookup{get, names, &data},
                    memory_->Get(Id()), rules_, patterns_);
  }
  /// Plans as a worker does, without a write. Returns the changes.
  std::vector<Change> Look() {
    const Plan plan = MakeNow();
    memory_->Apply(Id(), plan);
    return plan.changes;
  }
  /// The operator rolls for the data. The event comes before the answer.
  void Roll() {
    const std::vector<Change> changes = Look();
    ASSERT_THAT(changes, ::testing::SizeIs(1));
    memory_->BeginWrite(Id(), changes);
    Put(data_, "Reloader");
    memory_->Confirm(Id(), changes, true);
    EXPECT_THAT(Look(), ::testing::IsEmpty());
  }

  /// The operator writes what it knows to the workload, as when something keeps it from rolling.
  void Record() {
    const Plan plan = MakeNow();
    recorded_ = plan.baseline.digests.at(kRoutedConfig);
    recorder_ = "Reloader";
    PutTemplate();
    if (GetParam().is_by_ref) {
      PutRollout();
    }
  }

  /// Puts the template as it was rolled for `digest`, written by `manager`, with the operator's
  /// record if `manager` is an operator that records. The status is the earlier one.
  void Put(const Digest& digest, const std::string& manager, bool records = true) {
    const bool is_own = manager == "Reloader";
    if (is_own) {  // an object that already has its stamp gets another one
      const int restarts = template_.restarts + (digest == template_.stamped ? 1 : 0);
      former_ = std::exchange(
          template_, {.stamped = digest, .restarts = restarts, .release = template_.release});
    } else {
      ASSERT_EQ(digest, former_.stamped);
      template_ = former_;
    }
    stamper_ = manager;
    stamped_at_ = ++seconds_;
    ++generation_;
    is_through_ = false;
    // kubectl rollout undo of a Deployment restores the annotations, too.
    const bool brings_all = GetParam().kind == WorkloadKind::kDeployment && manager != kTool;
    if (is_own ? records : brings_all) {
      recorded_ = digest;
      recorder_ = manager;
    }
    PutTemplate();
    if (GetParam().is_by_ref && is_own) {
      PutRollout();
    }
  }
  /// A tool sets the template back to its state before the last rollout, or to one without stamps.
  /// Managed fields do not show who has removed something.
  void SetBack(bool to_bare) {
    if (!to_bare) {
      Put(former_.stamped, kTool);
      return;
    }
    template_ = {.is_bare = true};
    ++seconds_;
    ++generation_;
    is_through_ = false;
    PutTemplate();
  }
  /// Somebody releases another image together with the data.
  void Release() {
    former_ = template_;
    former_.recorded = recorded_;
    ++template_.release;
    ReleasedBy("helm");
    Record();
  }
  /// The release is undone, or a tool sets it back.
  void UndoRelease(const std::string& manager) {
    template_ = former_;
    if (GetParam().kind == WorkloadKind::kDeployment && manager != kTool) {
      recorded_ = former_.recorded;
      recorder_ = manager;
    }
    ReleasedBy(manager);
  }
  void ReleasedBy(const std::string& manager) {
    releaser_ = manager;
    released_at_ = ++seconds_;
    if (KindOfTemplate() == WorkloadKind::kRollout) {
      stamper_ = manager;
      stamped_at_ = seconds_;
    }
    ++generation_;
    is_through_ = false;
    PutTemplate();
  }
  void SetPaused(bool paused) {
    is_paused_ = paused;
    ++generation_;
    PutTemplate();
  }
  /// Replaces all pods by those of the present template, which do not become ready.
  void ReplacePods() {
    observed_ = generation_;
    PutTemplate();
  }
  /// Replaces all pods, and they become ready.
  void FinishRollout() {
    is_through_ = true;
    ReplacePods();
    if (GetParam().is_by_ref) {
      PutRollout();
    }
  }
  static std::string Fields(const std::string& manager, std::int64_t at,
                            const std::string& fields) {
    return R"({"manager":")" + manager + R"(","operation":"Update","apiVersion":"v1","time":")" +
           apimachinery::Time{.seconds = at}.ToString() + R"(","fieldsType":"FieldsV1",)" +
           R"("fieldsV1":)" + fields + "}";
  }
  std::string WrittenAnnotations() const {
    std::string text = R"({"reloader.stakater.com/auto":"true")";
    if (GetParam().has_baseline) {
      text += R"(,"reloader.kubexx.io/baseline":")" +
              Baseline{.uid = "uid-1", .digests = {{kRoutedConfig, recorded_}}}.ToString() + '"';
    }
    return text + "}";
  }
  /// The fields of the template that a manager owns after it has changed the stamp.
  std::string TemplateFields() const {
    const std::string annotations =
        R"("f:metadata":{"f:annotations":{"f:reloader.stakater.com/last-reloaded-from":{},)"
        R"("f:reloader.kubexx.io/restarted-for":{}}})";
    if (GetParam().strategy == ReloadStrategy::kAnnotations) {
      return annotations;
    }
    return annotations + R"(,"f:spec":{"f:containers":)" +
           (KindOfTemplate() == WorkloadKind::kRollout  // a list in a custom resource is one field
                ? "{}}"
                : R"({"k:{\"name\":\"app\"}":{"f:env":{)"
                  R"("k:{\"name\":\"STAKATER_CONFIG_CONFIGMAP\"}":{"f:value":{}}}}}})");
  }
  std::string ManagedFields() const {
    const std::string record =
        R"("f:metadata":{"f:annotations":{"f:reloader.kubexx.io/baseline":{}}})";
    if (template_.is_bare) {
      return Fields(recorder_, 1, "{" + record + "}");
    }
    if (recorder_ == releaser_) {
      return ReleaseFields() + Fields(stamper_, stamped_at_,
                                      R"({"f:spec":{"f:template":{)" + TemplateFields() + "}}}");
    }
    const std::string pods = R"("f:spec":{"f:template":{)" + TemplateFields() + "}}";
    return ReleaseFields() + (recorder_ == stamper_
                                  ? Fields(stamper_, stamped_at_, "{" + record + "," + pods + "}")
                                  : Fields(recorder_, 1, "{" + record + "}") + "," +
                                        Fields(stamper_, stamped_at_, "{" + pods + "}"));
  }
  std::string ReleaseFields() const {
    const std::string record =
        recorder_ == releaser_
            ? R"("f:metadata":{"f:annotations":{"f:reloader.kubexx.io/baseline":{}}},)"
            : "";
    return releaser_.empty() ? ""
                             : Fields(releaser_, released_at_,
                                      "{" + record +
                                          R"("f:spec":{"f:template":{"f:spec":{"f:containers":)"
                                          R"({"k:{\"name\":\"app\"}":{"f:image":{}}}}}}})") +
                                   ",";
  }
  std::string PodTemplate() const {
    if (template_.is_bare) {
      return R"({"spec":{"containers":[{"name":"app",)"
             R"("envFrom":[{"configMapRef":{"name":"config"}}]}]}})";
    }
    const bool by_variables = GetParam().strategy == ReloadStrategy::kEnvVars;
    const std::string env = R"(,"env":[{"name":"STAKATER_CONFIG_CONFIGMAP","value":")" +
                            template_.stamped.ToString() + R"("}])";
    const codec::JsonTree reloaded(
        LastReloadedFrom(kRoutedConfig, template_.stamped, "app", base::WallTime{}));
    return R"({"metadata":{"annotations":{"reloader.kubexx.io/restarted-for":")" +
           std::to_string(template_.restarts) + '"' +
           (by_variables ? ""
                         : R"(,"reloader.stakater.com/last-reloaded-from":)" + reloaded.ToJson()) +
           "}}," + R"("spec":{"containers":[{"name":"app","image":"app:)" +
           std::to_string(template_.release) +
           R"(","envFrom":[{"configMapRef":{"name":"config"}}])" + (by_variables ? env : "") +
           "}]}}";
  }
  /// Does as FinishRollout, while no watch reports it.
  void FinishRolloutUnseen() {
    observed_ = ++generation_;
    is_through_ = true;
    is_watched_ = false;
    PutTemplate();
    is_watched_ = true;
  }
  void PutTemplate() {
    const bool is_own_object = !GetParam().is_by_ref;
    const std::string name = is_own_object ? "web" : "base";
    Store(*templates_,
          R"({"metadata":{"namespace":"ns","name":")" + name + R"(","uid":")" + uid_ +
              R"(","generation":)" + std::to_string(generation_) + R"(,"annotations":)" +
              (is_own_object ? WrittenAnnotations() : "{}") + R"(,"managedFields":[)" +
              ManagedFields() + R"(]},"spec":{"replicas":)" + std::to_string(replicas_) +
              R"(,"paused":)" + (is_paused_ ? "true" : "false") + R"(,"template":)" +
              PodTemplate() + R"(},"status":{"observedGeneration":)" + std::to_string(observed_) +
              R"(,"replicas":)" + std::to_string(replicas_) + R"(,"updatedReplicas":)" +
              std::to_string(replicas_) + R"(,"updatedNumberScheduled":1,)" +
              R"("desiredNumberScheduled":1,"availableReplicas":)" +
              std::to_string(is_through_ ? replicas_ : 0) + R"(,"numberAvailable":)" +
              (is_through_ ? "1" : "0") + R"(,"phase":")" + Phase() + R"("}})",
          name);
  }
  const char* Phase() const { return is_through_ ? "Healthy" : "Progressing"; }
  void PutRollout() {
    Store(
        *rollouts_,
        R"({"metadata":{"namespace":"ns","name":"web","uid":"uid-1","generation":1,"annotations":)" +
            WrittenAnnotations() + R"(},"spec":{"workloadRef":{"apiVersion":"apps/v1",)" +
            R"("kind":"Deployment","name":"base"}},"status":{"phase":")" + Phase() + R"("}})",
        "web");
  }
  /// Stores it at the next version, and waits until its event has been handled.
  void Store(cache::testing::FakeSource& source, std::string json, const std::string& name) {
    const int handled = handled_;
    const std::uint64_t version = NextVersion();
    while (std::stoull(source.resource_version()) + 1 < version) {
      source.Put({"other", "none"}, "");
    }
    source.PutObject(
        {.encoding = codec::Encoding::kJson, .bytes = std::move(json), .key = {"ns", name}});
    if (caches_ && is_watched_) {
      Await(handled + 1);
    }
  }

  const std::shared_ptr<cache::testing::FakeSource> templates_ =
      std::make_shared<cache::testing::FakeSource>();
  const std::shared_ptr<cache::testing::FakeSource> rollouts_ =
      std::make_shared<cache::testing::FakeSource>();
  base::testing::FakeClock clock_;
  cache::testing::AutoClock informer_clock_;  // backoff delays pass at once
  DecisionRules rules_;
  PatternCache patterns_;
  const std::set<std::string> ignored_;
  const ReloaderMetrics metrics_{nullptr};
  OnDemandLists on_demand_{{}, clock_, [](const SourceId&, const std::optional<Digest>&) {}};
  RecentChanges recent_{clock_};
  const HeldShards closed_{1, clock_};
  std::atomic<int> handled_ = 0;
  bool plans_at_once_ = true;  ///< when it begins
  std::unique_ptr<PairMemory> memory_;
  ToldTemplates told_;
  std::unique_ptr<Caches> caches_;
  std::unique_ptr<EventRouter> router_;
  std::vector<cache::HandlerRegistration> handlers_;

  Digest data_ = kGoodData;
  std::uint64_t data_version_ = 1;
  std::int64_t data_written_ = 1;
  std::uint64_t version_ = 100;
  std::int64_t seconds_ = 1'000;
  std::int64_t generation_ = 1;
  std::string uid_ = "uid-1";
  bool is_watched_ = true;
  bool is_through_ = false;
  bool is_paused_ = false;
  int replicas_ = 2;
  std::int64_t observed_ = 1;  ///< the generation that the status is of
  /// The stamps that rollouts have left in a template.
  struct Stamped {
    Digest stamped{};
    int restarts = 0;
    bool is_bare = false;
    int release = 0;
    Digest recorded{};
  };
  Stamped template_{};
  Stamped former_{};
  Digest recorded_{};
  std::string recorder_;
  std::string stamper_;
  std::int64_t stamped_at_ = 0;
  std::string releaser_;
  std::int64_t released_at_ = 0;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_TESTING_EVENT_ROUTER_FIXTURE_H_
