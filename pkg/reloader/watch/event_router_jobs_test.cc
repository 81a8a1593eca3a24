// Tests what a replica that only looks on knows of the Jobs that another one makes of a CronJob.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/cache/informer_event.h"
#include "kubexx/cache/shared_informer_base.h"
#include "kubexx/cache/testing/auto_clock.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/reloader/ha/held_shards.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/plan/baseline.h"
#include "kubexx/reloader/plan/pair_memory.h"
#include "kubexx/reloader/plan/planner.h"
#include "kubexx/reloader/watch/event_router.h"

namespace kubexx::reloader {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

const WorkloadId kNightly{WorkloadKind::kCronJob, {"ns", "nightly"}};
const SourceId kJobConfig{SourceType::kConfigMap, {"ns", "config"}};
const Digest kFirstData = DigestOf("first");
const Digest kJobData = DigestOf("of the Job");
const Digest kLaterData = DigestOf("later");

/// A CronJob that runs with kFirstData, and a replica that does not lead.
class EventRouterJobsTest : public testing::Test {
 protected:
  EventRouterJobsTest() {
    Put("v1 uid-1 configmap/config=" + kFirstData.ToString(), 0);
    const auto informer = std::make_shared<cache::SharedInformerBase>(
        cron_jobs_, cache::InformerOptions{.clock = informer_clock_,
                                           .transform = TransformFor(WorkloadKind::kCronJob, {})});
    InformerSet set;
    set.workloads[WorkloadKind::kCronJob] = informer;
    caches_ = std::make_unique<Caches>(std::vector{set}, rules_);
    router_ =
        std::make_unique<EventRouter>(EventRouter::Parts{.caches = *caches_,
                                                         .memory = memory_,
                                                         .told = told_,
                                                         .patterns = patterns_,
                                                         .rules = rules_,
                                                         .ignored_namespaces = ignored_,
                                                         .metrics = metrics_,
                                                         .on_demand = on_demand_,
                                                         .held_shards = &closed_,
                                                         .note = [](const WorkloadId&, Cause) {}});
    handler_ = informer->AddRawHandler("router", [this](const cache::RawEvent& event) {
      router_->OnWorkload(WorkloadKind::kCronJob, event, {});
      handled_ += event.key() == kNightly.key ? 1 : 0;
    });
    caches_->Start();
    KX_AWAIT_GE(handled_, 1);
  }
  ~EventRouterJobsTest() override { caches_->Stop(); }

  /// Stores the CronJob, at the version after `version`. `job_at`: when the operator last made a
  /// Job of it, in seconds since 1970; 0: it never did.
  void Put(const std::string& baseline, std::int64_t job_at, std::uint64_t version = 0) {
    while (std::stoull(cron_jobs_->resource_version()) < version) {
      cron_jobs_->Put({"other", "none"}, "");
    }
    const std::string annotations =
        baseline.empty() ? "{}" : R"({"reloader.kubexx.io/baseline":")" + baseline + R"("})";
    const std::string fields =
        job_at == 0 ? ""
                    : R"({"manager":"Reloader","operation":"Update","apiVersion":"batch/v1",)"
                      R"("time":")" +
                          apimachinery::Time{.seconds = job_at}.ToString() +
                          R"(","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":)"
                          R"({"f:annotations":{"f:kubexx.io/rolled-for":{}}}}})";
    cron_jobs_->PutObject(
        {.encoding = codec::Encoding::kJson,
         .bytes = R"({"metadata":{"namespace":"ns","name":"nightly","uid":"uid-1","annotations":)" +
                  annotations + R"(,"managedFields":[)" + fields +
                  R"(]},"spec":{"jobTemplate":{"metadata":{"annotations":)"
                  R"({"reloader.stakater.com/auto":"true"}},"spec":{"template":{"metadata":)"
                  R"({"annotations":{"reloader.stakater.com/auto":"true"}},)"
                  R"("spec":{"containers":[{"name":"app",)"
                  R"("envFrom":[{"configMapRef":{"name":"config"}}]}]}}}}}})",
         .key = kNightly.key});
  }
  /// Does as Put, and waits for the event.
  void Tell(const std::string& baseline, std::int64_t job_at, std::uint64_t version) {
    const int handled = handled_;
    Put(baseline, job_at, version);
    KX_AWAIT_GE(handled_, handled + 1);
  }
  /// The leader makes a Job with kJobData, which it has seen at version 11, and records that.
  void TellOfJob() {
    Tell("v2 uid-1 0 configmap/config=" + kJobData.ToString() + "@11", kJobAt, 19);
  }
  /// Somebody takes the baseline away.
  void Strip() { Tell("", kJobAt, 39); }
  /// A watch tells of data.
  void SetData(const Digest& digest, std::uint64_t version) {
    memory_.RecordChange(kNightly, kJobConfig, data_, Move{.digest = digest, .version = version});
    data_ = digest;
    data_version_ = version;
  }
  /// What this replica would do if it led.
  std::vector<Change> Changes() {
    const auto get = [&](const SourceId& id) {
      return id == kJobConfig
                 ? std::optional(
                       Source{.id = kJobConfig, .digest = data_, .resource_version = data_version_})
                 : std::nullopt;
    };
    const auto names = [](SourceType) { return std::vector<std::string>(); };
    return MakePlan(*caches_->GetWorkload(kNightly), SourceLookup{get, names},
                    memory_.Get(kNightly), rules_, patterns_)
        .changes;
  }

  static constexpr std::int64_t kJobAt = 1'000;
  const std::shared_ptr<cache::testing::FakeSource> cron_jobs_ =
      std::make_shared<cache::testing::FakeSource>();
  base::testing::FakeClock clock_;
  cache::testing::AutoClock informer_clock_;  // backoff delays pass at once
  const DecisionRules rules_{.auto_reload_all = true};
  PatternCache patterns_;
  PairMemory memory_;
  ToldTemplates told_;
  const std::set<std::string> ignored_;
  const ReloaderMetrics metrics_{nullptr};
  OnDemandLists on_demand_{{}, clock_, [](const SourceId&, const std::optional<Digest>&) {}};
  const HeldShards closed_{1, clock_};
  std::atomic<int> handled_ = 0;
  std::unique_ptr<Caches> caches_;
  std::unique_ptr<EventRouter> router_;
  cache::HandlerRegistration handler_;
  Digest data_ = kFirstData;
  std::uint64_t data_version_ = 1;
};

// Seed 2222 of ten minutes: the leader made a Job, somebody took the baseline away while no replica
// could write it anew, and the next leader made another Job, for the same data.
TEST_F(EventRouterJobsTest, AJobOfAnotherReplicaIsKnownWhenItsRecordIsTakenAway) {
  SetData(kJobData, 11);
  TellOfJob();
  EXPECT_THAT(Changes(), IsEmpty());
  Strip();
  EXPECT_THAT(Changes(), IsEmpty());
  SetData(kLaterData, 45);
  EXPECT_THAT(Changes(), SizeIs(1));
  SetData(kJobData, 46);
  EXPECT_THAT(Changes(), IsEmpty());
}

TEST_F(EventRouterJobsTest, DataThatComeBackAfterAJobOfAnotherReplicaAreAnotherChange) {
  SetData(kJobData, 11);
  TellOfJob();
  SetData(kFirstData, 25);
  EXPECT_THAT(Changes(), SizeIs(1));
  Strip();
  EXPECT_THAT(Changes(), SizeIs(1));
}

TEST_F(EventRouterJobsTest, AWatchThatIsBehindTheJobTellsWhatItBeganWith) {
  TellOfJob();
  SetData(kJobData, 11);
  Strip();
  EXPECT_THAT(Changes(), IsEmpty());
}

TEST_F(EventRouterJobsTest, DataThatMayHaveBeenThereWhenTheJobBeganLeaveADoubt) {
  for (const bool is_told_late : {false, true}) {
    SCOPED_TRACE(is_told_late);
    Tell("v1 uid-1 configmap/config=" + kFirstData.ToString(), 0, 0);
    memory_.Forget(kNightly);
    data_ = kFirstData;
    if (is_told_late) {
      TellOfJob();
    }
    SetData(kJobData, 11);
    SetData(kLaterData, 12);
    SetData(kJobData, 13);
    if (!is_told_late) {
      TellOfJob();
    }
    EXPECT_THAT(Changes(), IsEmpty()) << "the record tells";
    Strip();
    EXPECT_THAT(Changes(), SizeIs(1));
  }
}

}  // namespace
}  // namespace kubexx::reloader
