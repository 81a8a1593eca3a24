#include "kubexx/controller/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/logging/testing/capture.h"

namespace kubexx::controller {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using base::testing::FakeClock;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;

Request R(const std::string& name) { return {.object = {"ns", name}}; }

/// Records what a controller asked for, in order. Await blocks until there are enough calls.
class Calls {
 public:
  void Note(const std::string& what) {
    const base::MutexLock lock(mu_);
    calls_.push_back(what);
    changed_.notify_all();
  }
  std::size_t size() {
    const base::MutexLock lock(mu_);
    return calls_.size();
  }
  std::vector<std::string> Await(
      std::size_t n, const base::testing::Where& where = base::testing::Where::current()) {
    const base::MutexLock lock(mu_);
    base::testing::Patience patience(base::testing::Shown(n) + " calls", where);
    while (calls_.size() < n) {
      patience.Wait(changed_, mu_, calls_);
    }
    return calls_;
  }

 private:
  base::Mutex mu_;
  base::CondVar changed_;
  std::vector<std::string> calls_ KX_GUARDED_BY(mu_);
};

/// A controller on a fake clock. Its reconciles are recorded and return what `reconcile_` returns.
class ControllerTest : public ::testing::Test {
 protected:
  ~ControllerTest() override { Stop(); }

  void Start(ControllerOptions options = {}) {
    options.name = "test";
    options.registry = &registry_;
    Make(std::move(options));
    Run();
  }
  void Make(ControllerOptions options) {
    controller_ = std::make_unique<Controller>(
        std::move(options), Client::Parts{},
        [this](const Request& request, Context& context) -> Result<Action> {
          {
            const base::MutexLock lock(times_mu_);
            times_.push_back(clock_.Now());
          }
          const Result<Action> result =
              reconcile_ ? reconcile_(request, context) : Result<Action>(Action::Done());
          calls_.Note(request.object.name);
          return result;
        });
  }
  void Run() {
    thread_ =
        std::jthread([this](const std::stop_token& stop) { result_ = controller_->Run(stop); });
  }
  void Stop() {
    if (thread_.joinable()) {
      thread_.request_stop();
      thread_.join();
    }
  }
  /// Moves the clock forward in small steps until there are `n` calls.
  void AdvanceUntil(std::size_t n) {
    KX_UNTIL(calls_.size() >= n) {
      clock_.Advance(milliseconds(1));
    }
  }
  double Count(const std::string& name, const metrics::Labels& more = {}) {
    metrics::Labels labels = more;
    labels["controller"] = "test";
    return registry_.Counter(name, "", labels).Value();
  }
  double Results(const std::string& result) {
    return Count("controller_runtime_reconcile_total", {{"result", result}});
  }

  /// Returns the time between a call and the one before it. For one worker, and after Stop.
  base::Duration Pause(std::size_t call) const { return times_.at(call) - times_.at(call - 1); }

  FakeClock clock_;
  metrics::Registry registry_;
  Calls calls_;
  base::Mutex times_mu_;
  std::vector<base::TimePoint> times_;
  ReconcileFunction reconcile_;
  std::unique_ptr<Controller> controller_;
  std::optional<Result<void>> result_;
  std::jthread thread_;
};

TEST_F(ControllerTest, WorksOnWhatIsEnqueued) {
  Start();
  controller_->Enqueue(R("a"));
  EXPECT_THAT(calls_.Await(1), ElementsAre("a"));
  Stop();
  EXPECT_TRUE(*result_);
  EXPECT_EQ(Results("success"), 1);
  EXPECT_EQ(Results("error"), 0);
}

TEST_F(ControllerTest, RequestIsRetriedWithBackoffUntilItSucceeds) {
  int failures = 0;
  reconcile_ = [&](const Request&, Context& context) -> Result<Action> {
    EXPECT_EQ(context.failures, failures);
    if (++failures < 3) {
      return Fail(Reason::kConflict, "not yet");
    }
    return Action::Done();
  };
  Start({.clock = clock_});
  controller_->Enqueue(R("a"));
  calls_.Await(1);
  AdvanceUntil(2);
  AdvanceUntil(3);
  Stop();
  EXPECT_GE(Pause(1), milliseconds(5));
  EXPECT_GE(Pause(2), milliseconds(10));
  EXPECT_EQ(Count("controller_runtime_reconcile_errors_total"), 2);
  EXPECT_EQ(Results("error"), 2);
  EXPECT_EQ(Results("success"), 1);
}

TEST_F(ControllerTest, TheErrorOfACallIsReturnedAsItIs) {
  const Result<int> read = Fail(Reason::kConflict, "not yet");
  std::atomic<int> calls = 0;
  reconcile_ = [&](const Request&, Context&) -> Result<Action> {
    switch (++calls) {
      case 1:
        return read.error();
      case 2:
        return read.error();
      default:
        return Action::Done();
    }
  };
  Start({.clock = clock_});
  controller_->Enqueue(R("a"));
  AdvanceUntil(3);
  Stop();
  EXPECT_EQ(Results("error"), 2);
  EXPECT_EQ(Results("success"), 1);
}

TEST_F(ControllerTest, TerminalErrorIsNotRetried) {
  reconcile_ = [](const Request&, Context&) -> Result<Action> {
    return TerminalError({Reason::kInvalid, "never"});
  };
  Start({.clock = clock_});
  controller_->Enqueue(R("a"));
  calls_.Await(1);
  controller_->Enqueue(R("b"));
  calls_.Await(2);
  clock_.Advance(hours(1));
  Stop();
  EXPECT_EQ(calls_.Await(2).size(), 2U);
  EXPECT_EQ(Count("controller_runtime_terminal_reconcile_errors_total"), 2);
}

TEST_F(ControllerTest, ADeadlineThatHasPassedIsNoHotLoop) {
  reconcile_ = [](const Request&, Context&) { return Action::RequeueAfter(seconds(-1)); };
  Start({.clock = clock_});
  controller_->Enqueue(R("a"));
  AdvanceUntil(8);
  Stop();
  EXPECT_GE(Pause(7), std::chrono::milliseconds(100)) << "5 ms, doubling";
}

TEST_F(ControllerTest, RequeueAfterComesAgainAndEndsTheBackoff) {
  int call = 0;
  reconcile_ = [&](const Request&, Context& context) -> Result<Action> {
    switch (call++) {
      case 0:
        return Fail(Reason::kUnavailable, "once");
      case 1:
        EXPECT_EQ(context.failures, 1);
        return Action::RequeueAfter(seconds(7));
      default:
        EXPECT_EQ(context.failures, 0);
        return Action::Done();
    }
  };
  Start({.clock = clock_});
  controller_->Enqueue(R("a"));
  calls_.Await(1);
  AdvanceUntil(2);
  AdvanceUntil(3);
  Stop();
  EXPECT_GE(Pause(2), seconds(7));
  EXPECT_EQ(Results("requeue_after"), 1);
}

TEST_F(ControllerTest, RequeueWithPriorityChangesThePriority) {
  int call = 0;
  std::vector<int> priorities;
  reconcile_ = [&](const Request&, Context& context) -> Result<Action> {
    priorities.push_back(context.priority);
    switch (call++) {
      case 0:
        return Action::RequeueAfter(seconds(1));
      case 1:
        return Action::RequeueWithPriority(9, seconds(1));
      case 2:
        return Action::RequeueWithPriority(8);
      default:
        return Action::Done();
    }
  };
  Start({.clock = clock_});
  controller_->Enqueue(R("a"), {.priority = 3});
  calls_.Await(1);
  AdvanceUntil(2);
  AdvanceUntil(3);
  AdvanceUntil(4);
  Stop();
  EXPECT_THAT(priorities, ElementsAre(3, 3, 9, 8));
  EXPECT_EQ(Results("requeue"), 1);
}

TEST_F(ControllerTest, ExceptionIsAnErrorOfThatRequestOnly) {
  int call = 0;
  reconcile_ = [&](const Request&, Context&) -> Result<Action> {
    switch (call++) {
      case 0:
        calls_.Note("throws");
        throw std::runtime_error("oops");
      case 1:
        calls_.Note("throws");
        throw 7;
      default:
        return Action::Done();
    }
  };
  Start({.clock = clock_});
  controller_->Enqueue(R("a"));
  calls_.Await(1);
  AdvanceUntil(2);
  AdvanceUntil(3);
  Stop();
  EXPECT_EQ(Count("controller_runtime_reconcile_panics_total"), 2);
  EXPECT_EQ(Results("error"), 2);
}

TEST_F(ControllerTest, TimeoutStopsTheReconcile) {
  reconcile_ = [&](const Request&, Context& context) -> Result<Action> {
    EXPECT_EQ(context.deadline, clock_.Now() + seconds(30));
    calls_.Note("waits");
    base::testing::AwaitStop(context.stop);
    return Fail(Reason::kTimeout, "stopped");
  };
  Start({.reconcile_timeout = seconds(30), .clock = clock_});
  controller_->Enqueue(R("a"));
  calls_.Await(1);
  clock_.AdvanceToSleeper(seconds(30));
  AdvanceUntil(2);
  Stop();
  EXPECT_EQ(Count("controller_runtime_reconcile_timeouts_total"), 1);
  EXPECT_EQ(Results("error"), 1);
}

TEST_F(ControllerTest, AReconcilePastItsTimeIsToldAndCountedWhileItHangs) {
  const logging::testing::Capture log;
  std::stop_source release;
  reconcile_ = [&](const Request&, Context&) -> Result<Action> {
    calls_.Note("hangs");
    base::testing::AwaitStop(release.get_token());
    return Action::Done();
  };
  Start({.reconcile_timeout = seconds(30), .clock = clock_});
  controller_->Enqueue(R("a"));
  calls_.Await(1);
  clock_.AdvanceToSleeper(seconds(30));
  KX_AWAIT_NE(Count("controller_runtime_reconcile_timeouts_total"), 0);
  EXPECT_EQ(Count("controller_runtime_reconcile_timeouts_total"), 1) << "waited for 30 s";
  EXPECT_EQ(log.Count("ns/a"), 1U);
  EXPECT_THAT(controller_->Busy(), ElementsAre("reconcile of ns/a for 30.0 s"));
  release.request_stop();
  calls_.Await(2);
  Stop();
  EXPECT_EQ(Count("controller_runtime_reconcile_timeouts_total"), 1) << "counted once";
  EXPECT_TRUE(controller_->Busy().empty());
}

TEST_F(ControllerTest, StopEndsARunningReconcileWithoutAnError) {
  reconcile_ = [&](const Request&, Context& context) -> Result<Action> {
    calls_.Note("waits");
    base::testing::AwaitStop(context.stop);
    return Fail(Reason::kCancelled, "stopped");
  };
  Start();
  controller_->Enqueue(R("a"));
  calls_.Await(1);
  Stop();
  EXPECT_TRUE(*result_);
  EXPECT_EQ(Results("error"), 0);
}

TEST_F(ControllerTest, HighPriorityGoesFirst) {
  Make({.name = "test", .registry = &registry_});
  for (const char* name : {"list-1", "list-2"}) {
    controller_->Enqueue(R(name), {.priority = kLowPriority});
  }
  controller_->Enqueue(R("news"));
  controller_->Enqueue(R("list-2"));
  EXPECT_EQ(controller_->QueueLength(), 3U);
  Run();
  EXPECT_THAT(calls_.Await(3), ElementsAre("news", "list-2", "list-1"));
}

TEST_F(ControllerTest, WorksOnlyWhenItsSourcesAreInSync) {
  Make({.name = "test"});
  std::stop_source synced;
  controller_->AddSource({.name = "source",
                          .start =
                              [](workqueue::Queue& queue) {
                                queue.Add(R("first"));
                                return base::Subscription();
                              },
                          .wait_for_sync =
                              [this, &synced](std::stop_token) {
                                calls_.Note("waited");
                                synced.request_stop();
                                return true;
                              }});
  Run();
  EXPECT_THAT(calls_.Await(2), ElementsAre("waited", "first"));
}

TEST_F(ControllerTest, ASourceMayHaveNothingToWaitFor) {
  Make({});
  controller_->AddSource({.name = "timer", .start = [](workqueue::Queue& queue) {
                            queue.Add(R("a"));
                            return base::Subscription();
                          }});
  Run();
  EXPECT_THAT(calls_.Await(1), ElementsAre("a"));
}

TEST_F(ControllerTest, ASourceThatCannotStartIsNamed) {
  Make({.name = "test"});
  controller_->AddSource({.name = "timer"});
  const auto ran = controller_->Run({});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().reason, Reason::kInvalidConfig);
  EXPECT_THAT(ran.error().message, ::testing::HasSubstr("the source 'timer'"));
}

TEST_F(ControllerTest, SourceThatDoesNotSyncIsAnError) {
  Make({.name = "test", .cache_sync_timeout = seconds(10), .clock = clock_});
  controller_->AddSource({.name = "apps/v1/deployments",
                          .start = [](workqueue::Queue&) { return base::Subscription(); },
                          .wait_for_sync =
                              [](const std::stop_token& stop) {
                                base::testing::AwaitStop(stop);
                                return false;
                              }});
  Run();
  clock_.AdvanceToSleeper(seconds(10));
  thread_.join();
  ASSERT_FALSE(*result_);
  EXPECT_EQ(result_->error().reason, Reason::kTimeout);
  EXPECT_THAT(result_->error().message, ::testing::HasSubstr("apps/v1/deployments"));
}

TEST_F(ControllerTest, WarmStandbyFillsTheQueueBeforeItRuns) {
  for (const bool warm : {true, false}) {
    Make({.name = "test", .warm_standby = warm});
    controller_->AddSource({.name = "source",
                            .start =
                                [](workqueue::Queue& queue) {
                                  queue.Add(R("a"));
                                  return base::Subscription();
                                },
                            .wait_for_sync = [](const std::stop_token&) { return true; }});
    EXPECT_TRUE(controller_->Warmup({}));
    EXPECT_EQ(controller_->QueueLength(), warm ? 1U : 0U);
  }
}

TEST_F(ControllerTest, NeverTwoReconcilesOfOneRequest) {
  struct Slot {
    std::atomic<bool> busy = false;
  };
  std::map<std::string, Slot> slots;
  for (const char* name : {"a", "b", "c"}) {
    slots[name];
  }
  std::atomic<int> overlaps = 0;
  reconcile_ = [&](const Request& request, Context&) -> Result<Action> {
    Slot& slot = slots.at(request.object.name);
    overlaps += slot.busy.exchange(true) ? 1 : 0;
    base::testing::LetOthersRun();
    slot.busy = false;
    return Action::Done();
  };
  Start({.max_concurrent_reconciles = 8});
  for (int i = 0; i < 3000; ++i) {
    controller_->Enqueue(R(std::string(1, static_cast<char>('a' + i % 3))));
  }
  calls_.Await(3);
  Stop();
  EXPECT_EQ(overlaps, 0);
}

/// Keeps the Events that are recorded.
class KeepingRecorder final : public events::Recorder {
 public:
  void Record(events::Occurrence occurrence) override {
    const base::MutexLock lock(mu_);
    reasons_.push_back(std::move(occurrence.reason));
  }
  std::vector<std::string> reasons() {
    const base::MutexLock lock(mu_);
    return reasons_;
  }

 private:
  base::Mutex mu_;
  std::vector<std::string> reasons_ KX_GUARDED_BY(mu_);
};

TEST_F(ControllerTest, ReconcilesRecordWithTheRecorderOfTheOptions) {
  const auto recorder = std::make_shared<KeepingRecorder>();
  reconcile_ = [](const Request&, Context& context) -> Result<Action> {
    events::Occurrence occurrence;
    occurrence.reason = "Reconciled";
    context.recorder.Record(std::move(occurrence));
    return Action::Done();
  };
  Start({.recorder = recorder, .clock = clock_});
  controller_->Enqueue(R("a"));
  calls_.Await(1);
  EXPECT_THAT(recorder->reasons(), ElementsAre("Reconciled"));
}

TEST_F(ControllerTest, LinesOfAReconcileTellWhichItIs) {
  const logging::testing::Capture capture;
  reconcile_ = [](const Request&, Context& context) -> Result<Action> {
    context.log.Info("Scaled", {{"replicas", 3}});
    context.recorder.Record({});  // without a recorder, the Event is dropped
    return Action::Done();
  };
  Start({.clock = clock_});
  controller_->Enqueue(R("a"));
  calls_.Await(1);
  controller_->Enqueue({.kind = "Job", .object = {"ns", "b"}});
  calls_.Await(2);
  EXPECT_EQ(capture.Count("Scaled controller=test object=ns/a reconcile=1 replicas=3"), 1U);
  EXPECT_EQ(capture.Count("Scaled controller=test object=ns/b kind=Job reconcile=2 replicas=3"),
            1U);
}

/// A limiter whose functions throw at their next call when the test says so.
struct FaultyLimiter final : workqueue::RateLimiter {
  base::Duration When(const Request&) override {
    ThrowIf(in_when);
    return milliseconds(5);
  }
  void Forget(const Request&) override { ThrowIf(in_forget); }
  int NumRequeues(const Request&) const override {
    ThrowIf(in_num_requeues);
    return 0;
  }

  std::atomic<bool> in_when = false;
  std::atomic<bool> in_forget = false;
  mutable std::atomic<bool> in_num_requeues = false;

 private:
  static void ThrowIf(std::atomic<bool>& is) {
    if (is.exchange(false)) {
      throw std::runtime_error("the limiter is broken");
    }
  }
};

TEST_F(ControllerTest, ARateLimiterThatThrowsCostsOneTry) {
  const logging::testing::Capture log;
  const auto limiter = std::make_shared<FaultyLimiter>();
  limiter->in_num_requeues = true;  // before the first call of the reconciler,
  limiter->in_when = true;          // after the first one, which fails,
  limiter->in_forget = true;        // and after the second one
  int calls = 0;
  reconcile_ = [&calls](const Request&, Context&) -> Result<Action> {
    return ++calls == 1 ? Result<Action>(Fail(Reason::kConflict, "not yet")) : Action::Done();
  };
  Start({.rate_limiter = limiter, .clock = clock_});
  controller_->Enqueue(R("a"));
  AdvanceUntil(2);
  controller_->Enqueue(R("b"));
  calls_.Await(3);
  Stop();
  EXPECT_TRUE(*result_);
  EXPECT_THAT(calls_.Await(3), ElementsAre("a", "a", "b")) << "what is not forgotten is done";
  EXPECT_EQ(Count("controller_runtime_reconcile_panics_total"), 3);
  EXPECT_EQ(Results("success"), 2);
  EXPECT_EQ(log.Count("the limiter is broken"), 3U);
  EXPECT_GE(Pause(1), seconds(1)) << "by a delay that the limiter has no part in";
  EXPECT_EQ(
      registry_.Gauge("controller_runtime_active_workers", "", {{"controller", "test"}}).Value(),
      0);
}

TEST_F(ControllerTest, AFailureIsToldWithTheFieldsOfItsReconcilesOwnLines) {
  const logging::testing::Capture log;
  reconcile_ = [](const Request&, Context& context) -> Result<Action> {
    context.log.Info("Looking");
    return context.failures == 0 ? Result<Action>(Fail(Reason::kConflict, "not yet"))
                                 : Result<Action>(Action::GiveUp({Reason::kInvalid, "never"}));
  };
  Start({.clock = clock_});
  controller_->Enqueue(R("a"));
  AdvanceUntil(2);
  Stop();
  for (const char* const line :
       {"msg=Looking controller=test object=ns/a reconcile=1",
        "msg=\"Reconcile failed, will try again\" controller=test object=ns/a reconcile=1",
        "msg=Looking controller=test object=ns/a reconcile=2",
        "msg=\"Reconcile failed with a terminal error, will not try again\" controller=test "
        "object=ns/a reconcile=2"}) {
    EXPECT_EQ(log.Count(line), 1U) << line;
  }
}

TEST_F(ControllerTest, ATenantFunctionThatThrowsLosesNoKey) {
  std::atomic<int> calls = 0;
  reconcile_ = [&](const Request&, Context&) -> Result<Action> {
    return ++calls == 1 ? Action::RequeueAfter(seconds(1)) : Action::Done();
  };
  workqueue::FairOptions fair;
  fair.tenant = [](const Request&) -> std::string { throw std::runtime_error("no tenant"); };
  Start({.order = workqueue::Order::kFair, .fair = std::move(fair), .clock = clock_});
  controller_->Enqueue(R("a"));
  AdvanceUntil(2);
  Stop();
  EXPECT_EQ(Count("controller_runtime_reconcile_panics_total"), 2)
      << "at the first add, and when it was added again";
}

}  // namespace
}  // namespace kubexx::controller
