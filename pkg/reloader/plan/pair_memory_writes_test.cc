// Tests what a PairMemory concludes from rollouts of this process.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/plan/pair_memory.h"

namespace kubexx::reloader {
namespace {

using Kind = PairState::Kind;

const WorkloadId kRolledWorkload{WorkloadKind::kDeployment, {"ns", "w"}};
const SourceId kCause{SourceType::kConfigMap, {"ns", "cause"}};
const SourceId kLate{SourceType::kSecret, {"ns", "late"}};
const Digest kBeforeIt = DigestOf("before");
const Digest kSince = DigestOf("since");
constexpr std::uint64_t kRolledAt = 30;

/// A memory of a rollout for kCause, at kRolledAt, of which the event has come, or has not.
void RollFor(PairMemory& memory, const WorkloadId& workload, bool is_told) {
  const std::vector<Change> changes{{.container = "c",
                                     .variable = "V",
                                     .value = "",
                                     .sources = {{kCause, kSince}},
                                     .causes = {kCause}}};
  memory.RecordChange(workload, kCause, kBeforeIt, Move{.digest = kSince, .version = 20});
  memory.BeginWrite(workload, changes);
  memory.Confirm(workload, changes, true, kRolledAt);
  if (is_told) {
    memory.TemplateChanged(workload, {.since = kRolledAt - 1,
                                      .until = kRolledAt,
                                      .before = "one",
                                      .now = "two",
                                      .is_own = true});
  }
}

// Seeds 252 and 258 of 400 hours of the simulation: a watch that was behind told of a change of a
// Secret minutes after a rollout for a ConfigMap, whose pods had it; and the workload was rolled
// again.
TEST(PairMemoryWrites, AChangeFromBeforeTheRolloutIsInItsPods) {
  for (const bool is_told : {false, true}) {
    PairMemory memory;
    RollFor(memory, kRolledWorkload, is_told);
    memory.RecordChange(kRolledWorkload, kLate, kBeforeIt,
                        Move{.digest = kSince, .version = kRolledAt - 5});
    EXPECT_EQ(memory.Get(kRolledWorkload).pairs.at(kLate),
              (PairState{.kind = Kind::kConfirmed, .digest = kSince, .is_ahead_of_record = true}));
    EXPECT_EQ(memory.Get(kRolledWorkload).template_since, kRolledAt);
  }
}

TEST(PairMemoryWrites, AChangeFromAfterTheRolloutIsNot) {
  PairMemory memory;
  RollFor(memory, kRolledWorkload, true);
  memory.RecordChange(kRolledWorkload, kLate, kBeforeIt,
                      Move{.digest = kSince, .version = kRolledAt + 5});
  EXPECT_EQ(memory.Get(kRolledWorkload).pairs.at(kLate), (PairState{Kind::kObserved, kBeforeIt}));
}

// Seed 308 of 400 hours of the simulation: the watch of Deployments told of a release minutes after
// that of ConfigMaps had told of data that were others while its pods began, and came back.
TEST(PairMemoryWrites, AReleaseThatIsToldOfLateBeganWithOtherDataThanThoseThatCameAfterIt) {
  for (const std::uint64_t released : {22U, 24U, 26U}) {
    SCOPED_TRACE(released);
    PairMemory memory;
    Plan plan;
    plan.learnt = {{kCause, {Kind::kConfirmed, kSince}}};
    EXPECT_TRUE(memory.Apply(kRolledWorkload, plan));
    memory.RecordChange(kRolledWorkload, kCause, kSince, Move{.digest = kBeforeIt, .version = 23});
    memory.RecordChange(kRolledWorkload, kCause, kBeforeIt, Move{.digest = kSince, .version = 25});
    plan.seen = memory.Get(kRolledWorkload).moves;
    EXPECT_TRUE(memory.Apply(kRolledWorkload, plan));
    EXPECT_TRUE(memory.Apply(kRolledWorkload, plan)) << "another plan forgets nothing";
    memory.TemplateChanged(kRolledWorkload,
                           {.since = released, .until = released, .before = "one", .now = "two"});
    EXPECT_EQ(memory.Get(kRolledWorkload).pairs.at(kCause).digest,
              released < 25 ? UnknownData() : kSince);
  }
}

// Seed 363 of 400 hours of the simulation: data changed while the workload was opted out, it was
// released, the data came back, and it was opted in.
TEST(PairMemoryWrites, AReleaseOfAWorkloadThatNothingMayRollBeginsWithWhatPlansHaveSeen) {
  PairMemory memory;
  Plan plan;
  plan.learnt = {{kCause, {Kind::kConfirmed, kBeforeIt}}};
  EXPECT_TRUE(memory.Apply(kRolledWorkload, plan));
  memory.RecordChange(kRolledWorkload, kCause, kBeforeIt, Move{.digest = kSince, .version = 20});
  Plan opted_out;  // which neither learns nor drops a source that is recorded
  opted_out.seen = memory.Get(kRolledWorkload).moves;
  EXPECT_TRUE(memory.Apply(kRolledWorkload, opted_out));
  memory.TemplateChanged(kRolledWorkload,
                         {.since = 22, .until = 22, .before = "one", .now = "two"});
  EXPECT_EQ(memory.Get(kRolledWorkload).pairs.at(kCause).digest, kSince);
}

// Seed 98 of ten minutes of the simulation: the answer to a rollout came two seconds late.
// Meanwhile the data changed, a release began pods with them, and they came back.
TEST(PairMemoryWrites, AReleaseThatOvertakesTheAnswerToARolloutBeganOtherPods) {
  for (const bool is_certain : {false, true}) {
    SCOPED_TRACE(is_certain);
    PairMemory memory;
    if (is_certain) {
      Plan plan;
      plan.learnt = {{kCause, {Kind::kConfirmed, kBeforeIt}}};
      EXPECT_TRUE(memory.Apply(kRolledWorkload, plan));
    }
    const std::vector<Change> changes{{.container = "c",
                                       .variable = "V",
                                       .value = "",
                                       .sources = {{kCause, kSince}},
                                       .causes = {kCause}}};
    const Digest between = DigestOf("between");
    memory.RecordChange(kRolledWorkload, kCause, kBeforeIt, Move{.digest = kSince, .version = 20});
    memory.BeginWrite(kRolledWorkload, changes);
    memory.TemplateChanged(
        kRolledWorkload,
        {.since = kRolledAt, .until = kRolledAt, .before = "one", .now = "two", .is_own = true});
    memory.RecordChange(kRolledWorkload, kCause, kSince, Move{.digest = between, .version = 31});
    memory.TemplateChanged(kRolledWorkload,
                           {.since = 32, .until = 32, .before = "two", .now = "three"});
    memory.RecordChange(kRolledWorkload, kCause, between, Move{.digest = kSince, .version = 33});
    memory.Confirm(kRolledWorkload, changes, true, kRolledAt);
    EXPECT_EQ(memory.Get(kRolledWorkload).pairs.at(kCause).digest, between);
    EXPECT_EQ(memory.Get(kRolledWorkload).template_since, 32);
  }
}

TEST(PairMemoryWrites,
     AReleaseThatOvertakesTheAnswerToARolloutBeganWithTheSameDataUnlessTheyChanged) {
  PairMemory memory;
  const std::vector<Change> changes{{.container = "c",
                                     .variable = "V",
                                     .value = "",
                                     .sources = {{kCause, kSince}},
                                     .causes = {kCause}}};
  memory.BeginWrite(kRolledWorkload, changes);
  memory.TemplateChanged(
      kRolledWorkload,
      {.since = kRolledAt, .until = kRolledAt, .before = "one", .now = "two", .is_own = true});
  memory.TemplateChanged(kRolledWorkload,
                         {.since = 32, .until = 32, .before = "two", .now = "three"});
  memory.Confirm(kRolledWorkload, changes, true, kRolledAt);
  EXPECT_EQ(memory.Get(kRolledWorkload).pairs.at(kCause),
            (PairState{.kind = Kind::kConfirmed, .digest = kSince, .is_ahead_of_record = true}));
}

// Seed 39 of ten minutes of the simulation: a watch told of a change half a minute after the Job of
// a CronJob had begun with it, and another Job was made.
TEST(PairMemoryWrites, TheJobOfACronJobHasWhatChangedBeforeIt) {
  const WorkloadId cron_job{WorkloadKind::kCronJob, {"ns", "w"}};
  PairMemory memory;
  RollFor(memory, cron_job, false);
  const Digest later = DigestOf("later");
  memory.RecordChange(cron_job, kCause, kSince, Move{.digest = later, .version = kRolledAt - 5});
  memory.RecordChange(cron_job, kLate, kBeforeIt, Move{.digest = kSince, .version = kRolledAt + 5});
  EXPECT_EQ(memory.Get(cron_job).pairs.at(kCause),
            (PairState{.kind = Kind::kConfirmed, .digest = later, .is_ahead_of_record = true}));
  EXPECT_EQ(memory.Get(cron_job).pairs.at(kLate), (PairState{Kind::kObserved, kBeforeIt}));
}

}  // namespace
}  // namespace kubexx::reloader
