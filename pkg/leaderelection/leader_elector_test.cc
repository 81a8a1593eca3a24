// The elector's threads around the election, with a fake clock and a lease in memory.
#include "kubexx/leaderelection/leader_elector.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <semaphore>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/api/coordination/v1/types.gen.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/leaderelection/testing/fake_lock.h"
#include "kubexx/logging/testing/capture.h"

namespace kubexx::leaderelection {
namespace {

using namespace std::chrono_literals;
using api::coordination::v1::Lease;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using base::testing::FakeClock;
using leaderelection::testing::FakeLock;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// What happened, in order, and waiting for it. Thread-safe.
class Journal final : public TransitionRecorder {
 public:
  void Add(std::string line) {
    const base::MutexLock lock(mu_);
    lines_.push_back(std::move(line));
    changed_.notify_all();
  }
  void Record(const api::core::v1::ObjectReference& lease, std::string_view reason,
              std::string_view message) override {
    Add("event " + lease.kind + " " + lease.namespace_ + "/" + lease.name + " " +
        std::string(reason) + ": " + std::string(message));
  }
  void Await(const std::string& line,
             const base::testing::Where& where = base::testing::Where::current()) const {
    base::MutexLock lock(mu_);
    base::testing::Patience patience(base::testing::Shown(line) + " in the journal", where);
    while (std::ranges::find(lines_, line) == lines_.end()) {
      patience.Wait(changed_, mu_, lines_);
    }
  }
  std::vector<std::string> Lines() const {
    const base::MutexLock lock(mu_);
    return lines_;
  }

 private:
  mutable base::Mutex mu_;
  mutable base::CondVar changed_;
  std::vector<std::string> lines_ KX_GUARDED_BY(mu_);
};

/// An elector that runs on a thread; its work ends when it is told to, unless `hold` is set.
class Runner {
 public:
  Runner(const std::string& identity, FakeClock& clock, std::shared_ptr<FakeLock> lock,
         std::function<void(LeaderElector::Options&)> adjust = {}) {
    LeaderElector::Options options{.config = {.identity = identity, .seed = 7},
                                   .lock = std::move(lock),
                                   .callbacks = {},
                                   .clock = clock,
                                   .registry = &registry,
                                   .recorder = &journal};
    options.callbacks.on_started_leading = [this](const std::stop_token& stop) {
      journal.Add("started");
      (void)base::Clock::Real().SleepFor(1h, stop);
      journal.Add("work ended");
    };
    options.callbacks.on_stopped_leading = [this] { journal.Add("stopped"); };
    options.callbacks.on_new_leader = [this](const std::string& leader) {
      journal.Add("leader " + leader);
    };
    if (adjust) {
      adjust(options);
    }
    elector = *LeaderElector::New(std::move(options));
    thread = std::jthread([this](const std::stop_token& stop) {
      result = elector->Run(stop);
      journal.Add("returned");
    });
  }
  Result<void> Stop(const base::testing::Where& where = base::testing::Where::current()) {
    thread.request_stop();
    return Join(where);
  }
  Result<void> Join(const base::testing::Where& where = base::testing::Where::current()) {
    journal.Await("returned", where);
    thread.join();
    return result;
  }
  double Status() {
    return registry.Gauge("leader_election_master_status", "", {{"name", "lease"}}).Value();
  }

  Journal journal;
  metrics::Registry registry;
  std::unique_ptr<LeaderElector> elector;
  Result<void> result;
  std::jthread thread;
};

class LeaderElectorTest : public ::testing::Test {
 protected:
  static bool HeldBy(const std::optional<Lease>& lease, const std::string& holder) {
    return lease && lease->spec.holder_identity == holder;
  }
  void AwaitHolder(const std::string& holder,
                   const base::testing::Where& where = base::testing::Where::current()) const {
    lock_->Await([&holder](const std::optional<Lease>& lease) { return HeldBy(lease, holder); },
                 where);
  }
  void ForbidWatches() {
    lock_->SetFault([](std::string_view verb, const std::stop_token&) -> Result<void> {
      return verb == "watch" ? Result<void>(Fail(Reason::kForbidden, "no", 403)) : Result<void>();
    });
  }

  FakeClock clock_;
  std::shared_ptr<FakeLock> lock_ = std::make_shared<FakeLock>();
};

TEST_F(LeaderElectorTest, LeadsRenewsAndReleases) {
  Runner a("a", clock_, lock_);
  a.journal.Await("started");
  EXPECT_TRUE(a.elector->IsLeader());
  EXPECT_EQ(a.Status(), 1);
  for (int i = 0; i < 5; ++i) {
    const int before = lock_->Count("update");
    clock_.AdvanceToSleeper(2s);
    lock_->AwaitCount("update", before + 1);
    // until the reply has arrived: renewed just now
    KX_AWAIT(a.elector->Check(1ms - 15s));
  }
  EXPECT_EQ(lock_->Count("get"), 1) << "a renewal is one request";
  const auto result = a.Stop();
  EXPECT_TRUE(result) << result.error().ToString();
  EXPECT_FALSE(a.elector->IsLeader());
  EXPECT_EQ(a.Status(), 0);
  EXPECT_EQ(lock_->Stored()->spec.holder_identity, "");
  EXPECT_THAT(a.journal.Lines(), Contains("leader a"));
  std::vector<std::string> lines = a.journal.Lines();
  std::erase(lines, "leader a");
  EXPECT_THAT(
      lines,
      ElementsAre("event Lease ns/lease LeaderElection: a became leader", "started", "work ended",
                  "event Lease ns/lease LeaderElection: a stopped leading", "stopped", "returned"));
}

TEST_F(LeaderElectorTest, HandsOverWithoutAPollWhenTheLeaderReleases) {
  Runner a("a", clock_, lock_);
  a.journal.Await("started");
  Runner b("b", clock_, lock_);
  b.journal.Await("leader a");
  EXPECT_FALSE(b.elector->IsLeader());
  EXPECT_EQ(b.elector->Leader(), "a");
  EXPECT_TRUE(a.Stop());
  b.journal.Await("started");  // The clock has not moved.
  EXPECT_TRUE(b.elector->IsLeader());
  EXPECT_EQ(lock_->Stored()->spec.lease_transitions, 1);
  EXPECT_TRUE(b.Stop());
}

TEST_F(LeaderElectorTest, OneRefusalOfTheWatchIsNotBelieved) {
  Runner a("a", clock_, lock_);
  a.journal.Await("started");
  std::atomic<bool> is_starting = true;  // and refuses what it permits a moment later
  lock_->SetFault([&](std::string_view verb, const std::stop_token&) -> Result<void> {
    return verb == "watch" && is_starting.exchange(false)
               ? Result<void>(Fail(Reason::kForbidden, "no", 403))
               : Result<void>();
  });
  const int watches = lock_->Count("watch");
  Runner b("b", clock_, lock_);
  b.journal.Await("leader a");
  clock_.AwaitSleepers(3);  // the leader, and the other one between two polls and two watches
  clock_.Advance(2s);
  lock_->AwaitCount("watch", watches + 2);
  EXPECT_TRUE(a.Stop());
  b.journal.Await("started");  // The clock has not moved.
  EXPECT_TRUE(b.Stop());
}

TEST_F(LeaderElectorTest, TakesOverByPollingWhenItMayNotWatch) {
  ForbidWatches();
  Runner a("a", clock_, lock_);
  a.journal.Await("started");
  Runner b("b", clock_, lock_);
  b.journal.Await("leader a");
  EXPECT_TRUE(a.Stop());
  // Past the next poll, which comes after 2 s to 4.4 s, and no further: time that ran on while b's
  // requests are on their way would make it lose the lease again.
  clock_.AdvanceToSleeper(2s);
  clock_.Advance(2400ms);
  b.journal.Await("started");
  EXPECT_TRUE(b.Stop());
}

TEST_F(LeaderElectorTest, TakesOverFromOneThatDiedWhenItsLeaseHasExpired) {
  Lease dead;
  dead.spec.holder_identity = "dead";
  dead.spec.lease_duration_seconds = 15;
  dead.spec.lease_transitions = 3;
  lock_->Put(dead);
  ForbidWatches();  // "leader dead" is then known from a poll's reply.
  Runner b("b", clock_, lock_);
  b.journal.Await("leader dead");
  const base::WallTime seen = clock_.Wall();
  clock_.AdvanceToSleeper(2s);
  clock_.Advance(13s - 1ms);
  lock_->AwaitCount("get", 2);  // a poll at the last moment at which the lease is still held
  clock_.Advance(1ms);
  b.journal.Await("started");
  EXPECT_GE(lock_->Stored()->spec.acquire_time, apimachinery::MicroTime::From(seen + 15s));
  EXPECT_EQ(lock_->Stored()->spec.lease_transitions, 4);
  EXPECT_TRUE(b.Stop());
}

TEST_F(LeaderElectorTest, EndsWhenItCannotRenewEvenIfRequestsHang) {
  Runner a("a", clock_, lock_);
  a.journal.Await("started");
  lock_->SetFault([](std::string_view verb, const std::stop_token& stop) -> Result<void> {
    if (verb == "update" || verb == "get") {
      (void)base::Clock::Real().SleepFor(1h, stop);
      return Fail(Reason::kCancelled, "stopped");
    }
    return {};
  });
  const base::TimePoint renewed = clock_.Now();
  const std::jthread time([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      clock_.Advance(100ms);
      base::testing::LetOthersRun();
    }
  });
  const auto result = a.Join();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, Reason::kUnavailable);
  EXPECT_THAT(result.error().message, HasSubstr("lease was lost"));
  EXPECT_GE(clock_.Now() - renewed, 12s);
  EXPECT_EQ(lock_->Stored()->spec.holder_identity, "a") << "a lost lease is not released";
  EXPECT_THAT(a.journal.Lines(), Contains("stopped"));
}

TEST_F(LeaderElectorTest, EndsAtOnceWhenAnotherHoldsTheLease) {
  Runner a("a", clock_, lock_);
  a.journal.Await("started");
  Lease stolen = *lock_->Stored();
  stolen.spec.holder_identity = "thief";
  lock_->Put(stolen);
  clock_.AdvanceToSleeper(2s);
  const auto result = a.Join();
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("thief"));
  EXPECT_EQ(lock_->Stored()->spec.holder_identity, "thief");
}

TEST_F(LeaderElectorTest, SaysWhyTheLeaseWasLost) {
  const logging::testing::Capture log;
  Runner a("a", clock_, lock_);
  a.journal.Await("started");
  lock_->SetFault([](std::string_view verb, const std::stop_token&) -> Result<void> {
    return verb == "watch" ? Result<void>()
                           : Result<void>(Fail(Reason::kUnauthorized, "token is old", 401));
  });
  const int reads = lock_->Count("get");
  clock_.AdvanceToSleeper(2s);
  // The read that follows the renewal's refusal: by then that is known. Time that ran on while
  // requests are on their way would make the reason that they were not answered in time.
  lock_->AwaitCount("get", reads + 1);
  clock_.Advance(15s);
  const auto result = a.Join();
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("token is old"));
  EXPECT_THAT(a.elector->WhyLost(), HasSubstr("token is old"));
  EXPECT_GE(log.Count("Lost the leader's Lease"), 1U);
  EXPECT_EQ(log.Count("A request for the leader's Lease has failed"), 1U) << "not for each attempt";
}

TEST_F(LeaderElectorTest, SaysOnceWhyTheLeaseCannotBeWritten) {
  const logging::testing::Capture log;
  Runner a("a", clock_, lock_);
  a.journal.Await("started");
  EXPECT_TRUE(a.Stop());
  lock_->SetFault([](std::string_view verb, const std::stop_token&) -> Result<void> {
    return verb == "update" ? Result<void>(Fail(Reason::kForbidden, "may only be read", 403))
                            : Result<void>();
  });
  const int updates = lock_->Count("update");
  Runner b("b", clock_, lock_);
  KX_UNTIL(lock_->Count("update") >= updates + 5) {
    clock_.Advance(100ms);
  }
  EXPECT_TRUE(b.Stop());
  EXPECT_EQ(log.Count("may only be read"), 1U) << "a read succeeds between two refusals";
}

TEST_F(LeaderElectorTest, ALossAfterTheStopIsTold) {
  std::stop_source release;
  Runner a("a", clock_, lock_, [&a, &release](LeaderElector::Options& options) {
    options.callbacks.on_lost = [&a] { a.journal.Add("lost"); };
    options.callbacks.on_started_leading = [&a, &release](const std::stop_token& stop) {
      a.journal.Add("started");
      (void)base::Clock::Real().SleepFor(1h, stop);
      a.journal.Add("told to stop");
      (void)base::Clock::Real().SleepFor(1h, release.get_token());
    };
  });
  a.journal.Await("started");
  a.thread.request_stop();
  a.journal.Await("told to stop");
  lock_->SetFault([](std::string_view, const std::stop_token&) -> Result<void> {
    return Fail(Reason::kUnauthorized, "token is old", 401);
  });
  const int reads = lock_->Count("get");
  clock_.AdvanceToSleeper(2s);
  lock_->AwaitCount("get", reads + 1);
  clock_.Advance(15s);
  a.journal.Await("lost");
  release.request_stop();
  EXPECT_FALSE(a.Join());
}

// The leader that stops releases its lease; the watch of the other sees it while a read is on its
// way, which then is of no use.
TEST_F(LeaderElectorTest, ARequestThatIsBrokenOffAtAHandOverIsNoFailure) {
  const logging::testing::Capture log;
  Runner a("a", clock_, lock_);
  a.journal.Await("started");
  // Its time to answer does not end while this thread moves the clock on.
  Runner b("b", clock_, lock_, [](LeaderElector::Options& options) {
    options.config.lease_duration = std::chrono::minutes(15);
    options.config.renew_deadline = std::chrono::minutes(10);
  });
  b.journal.Await("leader a");
  std::atomic<int> hanging = 0;
  std::atomic<int> broken_off = 0;
  lock_->SetFault([&](std::string_view verb, const std::stop_token& stop) -> Result<void> {
    if (verb != "get") {
      return {};
    }
    ++hanging;
    (void)base::Clock::Real().SleepFor(1h, stop);
    ++broken_off;
    return Fail(Reason::kCancelled, "stopped while waiting for the response");
  });
  // until b's next poll, and not so fast that a loses the lease
  KX_UNTIL(hanging != 0) {
    if (a.elector->Check(5s - 15s)) {
      clock_.Advance(50ms);
    }
  }
  EXPECT_TRUE(a.Stop());
  b.journal.Await("started");
  EXPECT_EQ(broken_off, 1);
  EXPECT_TRUE(b.Stop());
  EXPECT_EQ(log.Count("A request for the leader's Lease has failed"), 0U)
      << ::testing::PrintToString(log.lines());
}

TEST_F(LeaderElectorTest, ARequestThatIsNotAnsweredIsCalledSo) {
  const logging::testing::Capture log;
  lock_->SetFault([](std::string_view verb, const std::stop_token& stop) -> Result<void> {
    if (verb == "watch") {
      return {};
    }
    (void)base::Clock::Real().SleepFor(1h, stop);
    return Fail(Reason::kCancelled, "stopped while waiting for the response");
  });
  Runner a("a", clock_, lock_);
  KX_UNTIL(lock_->Count("get") >= 4) {
    clock_.Advance(100ms);
  }
  EXPECT_TRUE(a.Stop());
  EXPECT_EQ(log.Count("A request for the leader's Lease has failed"), 1U);
  EXPECT_EQ(log.Count("no answer within the request timeout"), 1U);
}

TEST_F(LeaderElectorTest, ACandidateThatMayNotReadTheLeaseSaysSo) {
  const logging::testing::Capture log;
  lock_->SetFault([](std::string_view, const std::stop_token&) -> Result<void> {
    return Fail(Reason::kForbidden, "leases are forbidden", 403);
  });
  Runner a("a", clock_, lock_);
  const auto lines = [&log] { return log.Count("A request for the leader's Lease has failed"); };
  // The clock stands still: the first request needs none, and one that runs on would call the
  // request unanswered.
  KX_AWAIT_NE(lines(), 0);
  EXPECT_EQ(lines(), 1U) << "waited for 60 s";
  EXPECT_TRUE(a.Stop());
}

TEST_F(LeaderElectorTest, CountsRenewalsThatNeededARead) {
  Runner a("a", clock_, lock_);
  a.journal.Await("started");
  lock_->Put(*lock_->Stored());  // a new version
  clock_.AdvanceToSleeper(2s);
  lock_->AwaitCount("update", 2);
  EXPECT_TRUE(a.Stop());
  EXPECT_EQ(a.registry.Counter("leader_election_slowpath_total", "", {{"name", "lease"}}).Value(),
            1);
}

TEST_F(LeaderElectorTest, CallsOnStoppedLeadingAlsoWhenItNeverLed) {
  Lease other;
  other.spec.holder_identity = "other";
  other.spec.lease_duration_seconds = 15;
  lock_->Put(other);
  Runner b("b", clock_, lock_);
  b.journal.Await("leader other");
  EXPECT_TRUE(b.Stop());
  EXPECT_THAT(b.journal.Lines(), ElementsAre("leader other", "stopped", "returned"));
}

TEST_F(LeaderElectorTest, RunsAgain) {
  Runner a("a", clock_, lock_);
  a.journal.Await("started");
  EXPECT_TRUE(a.Stop());
  std::jthread again([&a](const std::stop_token& stop) { (void)a.elector->Run(stop); });
  AwaitHolder("a");
  again.request_stop();
  again.join();
  EXPECT_EQ(lock_->Stored()->spec.holder_identity, "");
}

TEST_F(LeaderElectorTest, StopsBeforeItStarts) {
  std::stop_source stopped;
  stopped.request_stop();
  auto elector = *LeaderElector::New({.lock = lock_, .clock = clock_});
  EXPECT_TRUE(elector->Run(stopped.get_token()));
  EXPECT_FALSE(lock_->Stored() && lock_->Stored()->spec.holder_identity != "");
}

TEST_F(LeaderElectorTest, ReleasesAndReportsWorkThatThrows) {
  Runner a("a", clock_, lock_, [](LeaderElector::Options& options) {
    options.callbacks.on_started_leading = [](const std::stop_token&) {
      throw std::runtime_error("boom");
    };
  });
  const auto result = a.Join();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, Reason::kInternalError);
  EXPECT_THAT(result.error().message, HasSubstr("boom"));
  EXPECT_EQ(lock_->Stored()->spec.holder_identity, "");
}

TEST_F(LeaderElectorTest, SurvivesCallbacksThatThrow) {
  Runner a("a", clock_, lock_, [](LeaderElector::Options& options) {
    options.callbacks.on_new_leader = [](const std::string&) { throw std::runtime_error("x"); };
    options.callbacks.on_stopped_leading = [] { throw 7; };
  });
  a.journal.Await("started");
  EXPECT_TRUE(a.Stop());
}

TEST_F(LeaderElectorTest, KeepsLeadingWhenTheWorkRunsElsewhere) {
  Runner a("a", clock_, lock_,
           [](LeaderElector::Options& options) { options.callbacks.on_started_leading = nullptr; });
  // Not "leader a": its watch may tell of its lease before the reply that makes it lead.
  a.journal.Await("event Lease ns/lease LeaderElection: a became leader");
  const int before = lock_->Count("update");
  clock_.AdvanceToSleeper(2s);
  lock_->AwaitCount("update", before + 1);
  EXPECT_TRUE(a.Stop());
  EXPECT_EQ(lock_->Stored()->spec.holder_identity, "");
}

TEST_F(LeaderElectorTest, IsUnhealthyWhenItsWorkOutlivesTheLease) {
  std::stop_source release;
  std::binary_semaphore started(0);
  Runner a("a", clock_, lock_, [&](LeaderElector::Options& options) {
    options.callbacks.on_started_leading = [&started,
                                            token = release.get_token()](const std::stop_token&) {
      started.release();
      (void)base::Clock::Real().SleepFor(1h, token);
    };
  });
  AwaitHolder("a");
  a.journal.Await("leader a");
  KX_AWAIT(started.try_acquire());  // Where the lease ends before, nothing is begun.
  EXPECT_TRUE(a.elector->Check(20s));
  lock_->SetFault([](std::string_view, const std::stop_token&) -> Result<void> {
    return Fail(Reason::kUnavailable, "no server");
  });
  KX_UNTIL(!a.elector->IsLeader()) {
    clock_.Advance(1s);
  }
  a.journal.Await("stopped");  // It does not wait for the work.
  EXPECT_TRUE(a.elector->Check(20s)) << "there is time left";
  clock_.Advance(36s);
  const auto health = a.elector->Check(20s);
  ASSERT_FALSE(health);
  EXPECT_THAT(health.error().message, HasSubstr("lease"));
  release.request_stop();
  EXPECT_FALSE(a.Join());
  EXPECT_TRUE(a.elector->Check(20s)) << "nothing runs any more";
}

TEST_F(LeaderElectorTest, RunsSeveralElectionsInOneProcess) {
  std::vector<std::shared_ptr<FakeLock>> locks;
  std::vector<std::unique_ptr<Runner>> runners;
  for (int i = 0; i < 8; ++i) {
    locks.push_back(std::make_shared<FakeLock>());
    runners.push_back(std::make_unique<Runner>("a", clock_, locks.back()));
  }
  for (const auto& runner : runners) {
    runner->journal.Await("started");
  }
  for (const auto& runner : runners) {
    EXPECT_TRUE(runner->Stop());
  }
}

TEST(LeaderElectorOptions, AreChecked) {
  const auto none = LeaderElector::New({});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().reason, Reason::kInvalidConfig);
  const auto bad =
      LeaderElector::New({.config = {.lease_duration = 5s}, .lock = std::make_shared<FakeLock>()});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().reason, Reason::kInvalidConfig);
}

}  // namespace
}  // namespace kubexx::leaderelection
