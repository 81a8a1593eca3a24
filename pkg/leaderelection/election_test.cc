// The decisions of one candidate, step by step.
#include "kubexx/leaderelection/election.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kubexx::leaderelection {
namespace {

using namespace std::chrono_literals;
using apimachinery::Fail;
using apimachinery::MicroTime;
using apimachinery::Reason;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = Action::Kind;

/// An election with a clock that the test moves, and the lease that a server would store.
class Candidate {
 public:
  explicit Candidate(Config config = {.identity = "me", .seed = 1}) : election(std::move(config)) {}

  std::vector<Kind> Step(Input input) {
    actions = election.Step(std::move(input), {.steady = now, .wall = wall});
    std::vector<Kind> kinds;
    for (const Action& action : actions) {
      kinds.push_back(action.kind);
    }
    return kinds;
  }
  std::vector<Kind> After(base::Duration d) {
    now += d;
    wall += std::chrono::duration_cast<base::WallTime::duration>(d);
    return Step(Tick());
  }
  /// The last request's answer: what it sent, as stored under the next version.
  std::vector<Kind> Accept() {
    Lease lease = actions.back().lease;
    lease.metadata.resource_version = std::to_string(++version);
    return Step(Reply{.op = actions.back().op, .lease = std::move(lease)});
  }
  std::vector<Kind> Answer(apimachinery::Result<Lease> lease) {
    return Step(Reply{.op = Request().op, .lease = std::move(lease)});
  }
  Action Request() const {
    for (const Action& action : actions) {
      if (action.op != 0 && action.kind != Kind::kCancel) {
        return action;
      }
    }
    ADD_FAILURE() << "no request was made";
    return {};
  }
  /// Becomes the leader of a lease that did not exist.
  void Win() {
    ASSERT_THAT(Step(Tick()), ElementsAre(Kind::kGet));
    ASSERT_THAT(Answer(Fail(Reason::kNotFound, "none", 404)), ElementsAre(Kind::kCreate));
    ASSERT_THAT(Accept(), ElementsAre(Kind::kNewLeader, Kind::kStartWork));
  }

  Election election;
  base::TimePoint now = base::TimePoint() + 1000h;
  base::WallTime wall = base::WallTime() + 500000h;
  Actions actions{};
  int version = 100;
};

Lease HeldBy(const std::string& holder, int seconds = 15, int version = 7) {
  Lease lease;
  lease.metadata.resource_version = std::to_string(version);
  lease.spec.holder_identity = holder;
  lease.spec.lease_duration_seconds = seconds;
  lease.spec.lease_transitions = 4;
  lease.spec.renew_time = MicroTime{.seconds = version, .nanos = 0};
  return lease;
}

const auto kConflict = [] { return Fail(Reason::kConflict, "changed", 409); };
const auto kNoServer = [] { return Fail(Reason::kUnavailable, "no connection"); };

TEST(Election, CreatesTheLeaseWhenThereIsNone) {
  Candidate me;
  me.Win();
  EXPECT_TRUE(me.election.Leads(me.now));
  EXPECT_EQ(me.election.leader(), "me");
}

TEST(Election, WritesARecordAsClientGo) {
  Candidate me;
  me.Step(Tick());
  me.Answer(Fail(Reason::kNotFound, "none", 404));
  const auto& spec = me.actions.back().lease.spec;
  EXPECT_EQ(spec.holder_identity, "me");
  EXPECT_EQ(spec.lease_duration_seconds, 15);
  EXPECT_EQ(spec.lease_transitions, 0);
  EXPECT_EQ(spec.acquire_time, MicroTime::From(me.wall));
  EXPECT_EQ(spec.renew_time, MicroTime::From(me.wall));
}

TEST(Election, LeavesAHeldLeaseAloneAndPollsWithJitter) {
  Candidate me;
  me.Step(Tick());
  EXPECT_THAT(me.Answer(HeldBy("other")), ElementsAre(Kind::kNewLeader));
  EXPECT_EQ(me.election.leader(), "other");
  for (int i = 0; i < 50; ++i) {
    const base::Duration wait = me.election.wake() - me.now;
    EXPECT_GE(wait, 2s);
    EXPECT_LE(wait, 4400ms);
    EXPECT_THAT(me.After(wait - 1ns), IsEmpty());
    EXPECT_THAT(me.After(1ns), ElementsAre(Kind::kGet));
    EXPECT_THAT(me.Answer(HeldBy("other", 15, 8 + i)), IsEmpty());
    EXPECT_FALSE(me.election.Leads(me.now));
  }
}

TEST(Election, TakesOverWhenTheRecordHasNotChangedForItsDuration) {
  Candidate me;
  me.Step(Tick());
  me.Answer(HeldBy("other"));
  const base::TimePoint expiry = me.now + 15s;
  while (me.election.wake() < expiry) {
    EXPECT_THAT(me.After(me.election.wake() - me.now), ElementsAre(Kind::kGet));
    EXPECT_THAT(me.Answer(HeldBy("other")), IsEmpty());
  }
  EXPECT_EQ(me.election.wake(), expiry) << "not the poll after it";
  EXPECT_THAT(me.After(expiry - me.now), ElementsAre(Kind::kGet));
  EXPECT_THAT(me.Answer(HeldBy("other")), ElementsAre(Kind::kUpdate));
  const auto& lease = me.actions.back().lease;
  EXPECT_EQ(lease.metadata.resource_version, "7");
  EXPECT_EQ(lease.spec.lease_transitions, 5);
  EXPECT_EQ(lease.spec.acquire_time, MicroTime::From(me.wall));
  EXPECT_THAT(me.Accept(), ElementsAre(Kind::kNewLeader, Kind::kStartWork));
}

TEST(Election, CountsTheDurationFromTheLastChangeOfTheSpecOnly) {
  Candidate me;
  me.Step(Tick());
  me.Answer(HeldBy("other"));
  me.now += 14s;
  Lease relabelled = HeldBy("other");
  relabelled.metadata.resource_version = "8";
  relabelled.metadata.labels["a"] = "b";
  EXPECT_THAT(me.Step(Seen{.lease = relabelled}), ElementsAre(Kind::kGet)) << "a poll was due";
  EXPECT_THAT(me.Answer(relabelled), IsEmpty());
  EXPECT_THAT(me.After(1s), ElementsAre(Kind::kGet));
  EXPECT_THAT(me.Answer(relabelled), ElementsAre(Kind::kUpdate)) << "a label renews nothing";
  EXPECT_EQ(me.actions.back().lease.metadata.resource_version, "8");
  EXPECT_EQ(me.actions.back().lease.metadata.labels.at("a"), "b") << "the rest is kept";
}

TEST(Election, WaitsLongerWhenAWatchSeesARenewal) {
  Candidate me;
  me.Step(Tick());
  me.Answer(HeldBy("other"));
  me.now += 14s;
  me.Step(Seen{.lease = HeldBy("other", 15, 8)});
  me.Answer(HeldBy("other", 15, 8));
  EXPECT_THAT(me.After(14s), ElementsAre(Kind::kGet));
  EXPECT_THAT(me.Answer(HeldBy("other", 15, 8)), IsEmpty());
}

TEST(Election, TakesAReleasedLeaseAtOnceWhenAWatchSeesIt) {
  Candidate me;
  me.Step(Tick());
  me.Answer(HeldBy("other"));
  EXPECT_THAT(me.Step(Seen{.lease = HeldBy("", 1, 8)}), ElementsAre(Kind::kUpdate));
  EXPECT_EQ(me.actions.back().lease.metadata.resource_version, "8");
  EXPECT_THAT(me.Accept(), ElementsAre(Kind::kNewLeader, Kind::kStartWork));
}

TEST(Election, TakesAReleasedLeaseThatAWatchSeesBeforeAnOlderAnswerComes) {
  Candidate me;
  me.Step(Tick());
  const Action read = me.Request();
  me.Step(Seen{.lease = HeldBy("other")});
  EXPECT_THAT(me.Step(Seen{.lease = HeldBy("", 1, 8)}), ElementsAre(Kind::kCancel, Kind::kUpdate));
  EXPECT_EQ(me.actions.front().op, read.op);
  const Actions claim = me.actions;
  EXPECT_THAT(me.Step(Reply{.op = read.op, .lease = HeldBy("other")}), IsEmpty());
  EXPECT_EQ(me.election.leader(), "") << "an answer that nobody waits for tells nothing";
  me.actions = claim;
  EXPECT_EQ(me.Request().lease.metadata.resource_version, "8");
  EXPECT_THAT(me.Accept(), ElementsAre(Kind::kNewLeader, Kind::kStartWork));
}

TEST(Election, TakesALeaseThatIsReleasedAgainWhileItsClaimIsRefused) {
  Candidate me;
  me.Step(Tick());
  me.Answer(HeldBy("other"));
  me.Step(Seen{.lease = HeldBy("", 1, 8)});
  const Actions claim = me.actions;
  me.Step(Seen{.lease = HeldBy("third", 15, 9)});
  EXPECT_THAT(me.Step(Seen{.lease = HeldBy("", 1, 10)}), IsEmpty());
  me.actions = claim;
  EXPECT_THAT(me.Answer(kConflict()), ElementsAre(Kind::kUpdate));
  EXPECT_EQ(me.Request().lease.metadata.resource_version, "10");
}

TEST(Election, LeavesALeaseThatIsTakenWhileItsClaimIsRefused) {
  Candidate me;
  me.Step(Tick());
  me.Answer(HeldBy("other"));
  me.Step(Seen{.lease = HeldBy("", 1, 8)});
  const Actions claim = me.actions;
  me.Step(Seen{.lease = HeldBy("", 1, 9)});
  EXPECT_THAT(me.Step(Seen{.lease = HeldBy("third", 15, 10)}), ElementsAre(Kind::kNewLeader));
  me.actions = claim;
  EXPECT_THAT(me.Answer(kConflict()), IsEmpty());
}

TEST(Election, WaitsForTheNextPollWhenAnotherWasFaster) {
  Candidate me;
  me.Step(Tick());
  me.Answer(HeldBy("other"));
  me.Step(Seen{.lease = HeldBy("", 1, 8)});
  EXPECT_THAT(me.Answer(kConflict()), IsEmpty());
  EXPECT_GE(me.election.wake(), me.now + 2s);
}

TEST(Election, LeadsAgainOnALeaseThatHoldsItsOwnName) {
  Candidate me;
  me.Step(Tick());
  EXPECT_THAT(me.Answer(HeldBy("me")), ElementsAre(Kind::kNewLeader, Kind::kUpdate));
  EXPECT_EQ(me.actions.back().lease.spec.lease_transitions, 4) << "no change of leader";
  EXPECT_FALSE(me.election.Leads(me.now)) << "not before the write";
  EXPECT_THAT(me.Accept(), ElementsAre(Kind::kStartWork));
}

TEST(Election, DoesNotLeadOnAReplyThatComesTooLate) {
  Candidate me({.identity = "me", .renew_deadline = 14s, .retry_period = 1s, .seed = 1});
  me.Step(Tick());
  me.Answer(Fail(Reason::kNotFound, "none", 404));
  Lease lease = me.actions.back().lease;
  const auto op = me.actions.back().op;
  me.now += 14500ms;
  EXPECT_THAT(me.Step(Reply{.op = op, .lease = lease}), ElementsAre(Kind::kNewLeader));
  EXPECT_FALSE(me.election.Leads(me.now));
}

TEST(Election, RenewsByOneWriteEveryRetryPeriod) {
  Candidate me;
  me.Win();
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(me.election.wake(), me.now + 2s);
    EXPECT_THAT(me.After(2s), ElementsAre(Kind::kUpdate));
    const auto& lease = me.actions.back().lease;
    EXPECT_EQ(lease.metadata.resource_version, std::to_string(me.version));
    EXPECT_EQ(lease.spec.renew_time, MicroTime::From(me.wall));
    EXPECT_LT(lease.spec.acquire_time, lease.spec.renew_time);
    EXPECT_EQ(lease.spec.lease_transitions, 0);
    EXPECT_THAT(me.Accept(), IsEmpty());
    EXPECT_TRUE(me.election.Leads(me.now));
  }
}

TEST(Election, ReadsWhenARenewalFailsAndWritesAgain) {
  Candidate me;
  me.Win();
  me.After(2s);
  EXPECT_THAT(me.Answer(kConflict()), ElementsAre(Kind::kGet));
  EXPECT_THAT(me.Answer(HeldBy("me", 15, 9)), ElementsAre(Kind::kSlowPath, Kind::kUpdate));
  EXPECT_EQ(me.actions.back().lease.metadata.resource_version, "9");
  EXPECT_THAT(me.Accept(), IsEmpty());
  EXPECT_TRUE(me.election.Leads(me.now));
}

TEST(Election, CreatesTheLeaseAgainWhenItWasDeleted) {
  Candidate me;
  me.Win();
  me.After(2s);
  EXPECT_THAT(me.Answer(Fail(Reason::kNotFound, "none", 404)), ElementsAre(Kind::kGet));
  EXPECT_THAT(me.Answer(Fail(Reason::kNotFound, "none", 404)), ElementsAre(Kind::kCreate));
  EXPECT_THAT(me.Accept(), IsEmpty());
  EXPECT_TRUE(me.election.Leads(me.now));
}

TEST(Election, IsLostAtOnceWhenAnotherHoldsTheLease) {
  Candidate me;
  me.Win();
  me.After(2s);
  me.Answer(kConflict());
  EXPECT_THAT(me.Answer(HeldBy("other")),
              ElementsAre(Kind::kNewLeader, Kind::kLost, Kind::kFinish));
  EXPECT_THAT(me.actions[1].text, HasSubstr("other"));
  EXPECT_FALSE(me.election.Leads(me.now));
  EXPECT_EQ(me.election.wake(), base::TimePoint::max());
}

TEST(Election, TriesForTheRenewDeadlineThenIsLost) {
  Candidate me;
  me.Win();
  me.After(2s);
  const base::TimePoint lost_at = me.now + 10s;
  me.Answer(kNoServer());
  while (me.election.wake() < lost_at) {
    me.Answer(kNoServer());
    ASSERT_GT(me.election.wake(), me.now) << "no busy loop";
    me.After(me.election.wake() - me.now);
    EXPECT_TRUE(me.election.Leads(me.now));
  }
  EXPECT_EQ(me.election.wake(), lost_at);
  EXPECT_FALSE(me.election.Leads(lost_at)) << "also without a step";
  me.now = lost_at;
  EXPECT_THAT(me.Step(Tick()), Contains(Kind::kLost));
}

TEST(Election, NeverLeadsLongerThanHalfWayToTheEndOfTheLease) {
  // The renewal would begin after 9 s and be tried until 20 s; the lease lasts 12 s.
  Candidate me({.identity = "me",
                .lease_duration = 12s,
                .renew_deadline = 11s,
                .retry_period = 9s,
                .seed = 1});
  me.Win();
  me.After(9s);
  EXPECT_TRUE(me.election.Leads(me.now + 2499ms));
  EXPECT_FALSE(me.election.Leads(me.now + 2500ms));
  EXPECT_THAT(me.After(2500ms), ElementsAre(Kind::kLost, Kind::kCancel, Kind::kFinish));
}

TEST(Election, DoesNotComeBackOnAReplyAfterItsTime) {
  Candidate me;
  me.Win();
  me.After(2s);
  const auto op = me.actions.back().op;
  Lease lease = me.actions.back().lease;
  me.now += 11s;
  EXPECT_THAT(me.Step(Reply{.op = op, .lease = lease}), Contains(Kind::kLost));
  EXPECT_FALSE(me.election.Leads(me.now));
}

// A thread of a busy machine may get its turn long after the answer has come.
TEST(Election, KeepsALeaseWhoseRenewalWasAnsweredInTimeAndIsSeenLate) {
  Candidate me;
  me.Win();
  me.After(2s);
  const auto op = me.actions.back().op;
  Lease lease = me.actions.back().lease;
  const base::TimePoint sent = me.now;
  me.now += 12s;
  EXPECT_THAT(me.Step(Reply{.op = op, .lease = lease, .came_at = sent + 1s}), IsEmpty());
  EXPECT_TRUE(me.election.Leads(me.now));
  EXPECT_EQ(me.election.renewed_at(), sent);
  EXPECT_EQ(me.election.leads_until(), sent + 12500ms);
}

TEST(Election, DoesNotKeepALeaseWhoseAnswerIsSeenAfterTheTimeThatItGave) {
  Candidate me;
  me.Win();
  me.After(2s);
  const auto op = me.actions.back().op;
  Lease lease = me.actions.back().lease;
  const base::TimePoint sent = me.now;
  me.now = sent + 12500ms;
  EXPECT_THAT(me.Step(Reply{.op = op, .lease = lease, .came_at = sent + 1s}),
              Contains(Kind::kLost));
  EXPECT_FALSE(me.election.Leads(me.now));
}

TEST(Election, LosesTheLeaseAtItsTimeWhenALateAnswerIsAnError) {
  Candidate me;
  me.Win();
  me.After(2s);
  const auto op = me.actions.back().op;
  const base::TimePoint sent = me.now;
  me.now += 11s;
  EXPECT_THAT(me.Step(Reply{.op = op, .lease = kNoServer(), .came_at = sent + 1s}),
              Contains(Kind::kLost));
}

TEST(Election, CountsFromWhenARenewalWasSent) {
  Candidate me;
  me.Win();
  me.After(2s);
  const base::TimePoint sent = me.now;
  me.now += 4s;
  me.Accept();
  EXPECT_EQ(me.election.renewed_at(), sent);
  EXPECT_TRUE(me.election.Leads(sent + 12499ms));
  EXPECT_FALSE(me.election.Leads(sent + 12500ms));
}

TEST(Election, BreaksOffARequestThatHangs) {
  Candidate me;
  me.Step(Tick());
  const auto op = me.actions.back().op;
  EXPECT_EQ(me.election.wake(), me.now + 5s);
  EXPECT_THAT(me.After(5s), ElementsAre(Kind::kCancel));
  EXPECT_EQ(me.actions.back().op, op);
  EXPECT_THAT(me.Step(Reply{.op = op, .lease = HeldBy("")}), IsEmpty()) << "it is forgotten";
  EXPECT_GE(me.election.wake(), me.now + 2s);
}

TEST(Election, ReadsAtOnceAfterARenewalThatHung) {
  Candidate me;
  me.Win();
  me.After(2s);
  EXPECT_THAT(me.After(5s), ElementsAre(Kind::kCancel, Kind::kGet));
}

TEST(Election, ReleasesWhenItsWorkHasEnded) {
  Candidate me;
  me.Win();
  EXPECT_THAT(me.Step(Stop()), ElementsAre(Kind::kStopWork));
  EXPECT_THAT(me.Step(Stop()), IsEmpty());
  EXPECT_THAT(me.After(2s), ElementsAre(Kind::kUpdate)) << "it is renewed until then";
  me.Accept();
  EXPECT_TRUE(me.election.Leads(me.now));
  EXPECT_THAT(me.Step(WorkEnded()), ElementsAre(Kind::kUpdate));
  EXPECT_FALSE(me.election.Leads(me.now));
  const auto& spec = me.actions.back().lease.spec;
  EXPECT_EQ(spec.holder_identity, "");
  EXPECT_EQ(spec.lease_duration_seconds, 1);
  EXPECT_EQ(spec.lease_transitions, 0) << "kept";
  EXPECT_EQ(spec.renew_time, MicroTime::From(me.wall));
  EXPECT_THAT(me.Accept(), ElementsAre(Kind::kFinish));
}

TEST(Election, LetsTheLeaseExpireWhenItIsNotToRelease) {
  Candidate me({.identity = "me", .release_on_cancel = false, .seed = 1});
  me.Win();
  EXPECT_THAT(me.Step(Stop()), ElementsAre(Kind::kStopWork));
  EXPECT_THAT(me.Step(WorkEnded()), ElementsAre(Kind::kFinish));
}

TEST(Election, ReleasesAfterARenewalThatIsUnderWay) {
  Candidate me;
  me.Win();
  me.After(2s);
  const Action renewal = me.actions.back();
  EXPECT_THAT(me.Step(Stop()), ElementsAre(Kind::kStopWork));
  EXPECT_THAT(me.Step(WorkEnded()), IsEmpty());
  me.actions = {renewal};
  EXPECT_THAT(me.Accept(), ElementsAre(Kind::kUpdate));
  EXPECT_EQ(me.actions.back().lease.spec.holder_identity, "");
}

TEST(Election, RetriesAReleaseThatConflicts) {
  Candidate me;
  me.Win();
  me.Step(WorkEnded());
  me.Step(Stop());
  EXPECT_THAT(me.Answer(kConflict()), ElementsAre(Kind::kGet));
  EXPECT_THAT(me.Answer(HeldBy("me", 15, 9)), ElementsAre(Kind::kUpdate));
  EXPECT_EQ(me.actions.back().lease.metadata.resource_version, "9");
  EXPECT_THAT(me.Accept(), ElementsAre(Kind::kFinish));
}

TEST(Election, ReleasesNobodyElsesLease) {
  Candidate me;
  me.Win();
  me.Step(WorkEnded());
  me.Step(Stop());
  me.Answer(kConflict());
  EXPECT_THAT(me.Answer(HeldBy("other")), ElementsAre(Kind::kNewLeader, Kind::kFinish));
}

TEST(Election, GivesUpReleasingAfterTheRenewDeadline) {
  Candidate me;
  me.Win();
  me.Step(WorkEnded());
  me.Step(Stop());
  const base::TimePoint until = me.now + 10s;
  for (int i = 0; i < 100 && me.election.wake() != base::TimePoint::max(); ++i) {
    me.Answer(kNoServer());
    ASSERT_GT(me.election.wake(), me.now) << "no busy loop";
    me.After(me.election.wake() - me.now);
  }
  EXPECT_EQ(me.now, until);
  EXPECT_THAT(me.actions.back().kind, Kind::kFinish);
}

TEST(Election, DoesNotFloodTheServerWhenEveryReleaseConflicts) {
  Candidate me;
  me.Win();
  me.Step(WorkEnded());
  me.Step(Stop());
  int requests = 0;
  while (me.election.wake() > me.now && !me.actions.empty()) {
    ++requests;
    if (me.actions.back().kind == Kind::kGet) {
      me.Answer(HeldBy("me"));
    } else {
      me.Answer(kConflict());
    }
  }
  EXPECT_LE(requests, 20);
}

TEST(Election, FinishesAtOnceWhenItNeverLed) {
  Candidate me;
  me.Step(Tick());
  EXPECT_THAT(me.Step(Stop()), ElementsAre(Kind::kCancel, Kind::kFinish));
  EXPECT_THAT(me.Step(Tick()), IsEmpty());
}

TEST(Election, ReleasesAClaimThatIsUnderWayWhenItStops) {
  Candidate me;
  me.Step(Tick());
  me.Answer(Fail(Reason::kNotFound, "none", 404));
  const Action claim = me.actions.back();
  EXPECT_THAT(me.Step(Stop()), IsEmpty());
  me.actions = {claim};
  EXPECT_THAT(me.Accept(), ElementsAre(Kind::kNewLeader, Kind::kUpdate));
  EXPECT_EQ(me.actions.back().lease.spec.holder_identity, "");
  EXPECT_THAT(me.Accept(), ElementsAre(Kind::kFinish));
}

TEST(Election, ReleasesAClaimOfUnknownOutcomeWhenItStops) {
  Candidate me;
  me.Step(Tick());
  me.Answer(Fail(Reason::kNotFound, "none", 404));
  me.Answer(kNoServer());
  EXPECT_THAT(me.Step(Stop()), ElementsAre(Kind::kGet));
  EXPECT_THAT(me.Answer(HeldBy("me")), ElementsAre(Kind::kNewLeader, Kind::kUpdate));
  EXPECT_THAT(me.Accept(), ElementsAre(Kind::kFinish));
}

TEST(Election, IgnoresAWatchWhileItLeads) {
  Candidate me;
  me.Win();
  EXPECT_THAT(me.Step(Seen{.lease = HeldBy("other", 15, 3)}), IsEmpty()) << "it is behind";
  EXPECT_TRUE(me.election.Leads(me.now));
}

TEST(Election, TakesALeaseWithoutAHolderOrDuration) {
  Candidate me;
  me.Step(Tick());
  Lease bare;
  bare.metadata.resource_version = "1";
  EXPECT_THAT(me.Answer(bare), ElementsAre(Kind::kUpdate));
  EXPECT_EQ(me.actions.back().lease.spec.lease_transitions, 1);
}

}  // namespace
}  // namespace kubexx::leaderelection
