#include "kubexx/controller/manager.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/controller/builder.h"
#include "kubexx/logging/testing/capture.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::controller {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Records events in their order.
class Journal {
 public:
  void Note(const std::string& what) {
    const base::MutexLock lock(mu_);
    lines_.push_back(what);
    changed_.notify_all();
  }
  void Await(const std::string& what,
             const base::testing::Where& where = base::testing::Where::current()) {
    const base::MutexLock lock(mu_);
    base::testing::Patience patience(base::testing::Shown(what) + " in the journal", where);
    while (std::ranges::find(lines_, what) == lines_.end()) {
      patience.Wait(changed_, mu_, lines_);
    }
  }
  std::vector<std::string> lines() {
    const base::MutexLock lock(mu_);
    return lines_;
  }

 private:
  base::Mutex mu_;
  base::CondVar changed_;
  std::vector<std::string> lines_ KX_GUARDED_BY(mu_);
};

void WaitFor(const std::stop_token& stop,
             const base::testing::Where& where = base::testing::Where::current()) {
  base::testing::AwaitStop(stop, where);
}

/// Records its warm-up, start and end.
class Worker : public Runnable {
 public:
  Worker(Journal& journal, std::string name, Stage stage)
      : journal_(journal), name_(std::move(name)), stage_(stage) {}
  std::string Name() const override { return name_; }
  Stage stage() const override { return stage_; }
  Result<void> Run(std::stop_token stop) override {
    journal_.Note(name_ + " runs");
    WaitFor(stop);
    journal_.Note(name_ + " ends");
    return {};
  }
  Result<void> Warmup(std::stop_token /*stop*/) override {
    journal_.Note(name_ + " warms up");
    return {};
  }

 private:
  Journal& journal_;
  const std::string name_;
  const Stage stage_;
};

/// Leads when the test says so, and loses its leadership when the test says so.
class FakeLeadership final : public Leadership {
 public:
  explicit FakeLeadership(Journal& journal) : journal_(journal) {}
  void Elect() { elected_.request_stop(); }
  void Lose() { lost_.request_stop(); }
  std::string WhyLost() const override { return "the dog ate it"; }
  std::stop_token Lost() const override { return lost_.get_token(); }
  void EndTime() { is_in_time_ = false; }
  bool Leads() const override { return is_in_time_; }

  Result<void> Run(Lead lead, std::stop_token stop) override {
    journal_.Note("stands for election");
    std::stop_source wake;
    const std::stop_callback on_stop(stop, [&wake] { wake.request_stop(); });
    const std::stop_callback on_elected(elected_.get_token(), [&wake] { wake.request_stop(); });
    WaitFor(wake.get_token());
    if (stop.stop_requested()) {
      return {};
    }
    std::stop_source lead_stop;
    const std::stop_callback stop_lead(stop, [&lead_stop] { lead_stop.request_stop(); });
    const std::stop_callback lose(lost_.get_token(), [&lead_stop] { lead_stop.request_stop(); });
    lead(lead_stop.get_token());
    journal_.Note("releases the lease");
    return lost_.stop_requested() ? Result<void>(Fail(Reason::kConflict, "lost the lease"))
                                  : Result<void>();
  }

 private:
  Journal& journal_;
  std::atomic<bool> is_in_time_ = true;
  std::stop_source elected_;
  std::stop_source lost_;
};

class ManagerTest : public ::testing::Test {
 protected:
  ~ManagerTest() override { Stop(); }

  void Make(ManagerOptions options = {}) {
    manager_ = std::make_unique<Manager>(
        rest::testing::NewClient("http://127.0.0.1:" + std::to_string(rest::testing::UnusedPort())),
        std::move(options));
  }
  void Add(const std::string& name, Stage stage) {
    EXPECT_TRUE(manager_->Add(std::make_shared<Worker>(journal_, name, stage)));
  }
  void Run() {
    thread_ = std::jthread([this](const std::stop_token& stop) { result_ = manager_->Run(stop); });
  }
  void Stop() {
    if (thread_.joinable()) {
      thread_.request_stop();
      thread_.join();
    }
  }
  void Join() { thread_.join(); }
  static Result<rest::Response> Fetch(std::uint16_t port, const std::string& path) {
    const auto client = rest::testing::NewClient("http://127.0.0.1:" + std::to_string(port));
    return client->Get().AbsPath(path).MaxRetries(0).Do();
  }

  Journal journal_;
  std::unique_ptr<Manager> manager_;
  std::optional<Result<void>> result_;
  std::jthread thread_;
};

TEST_F(ManagerTest, StagesStartAndStopInOrder) {
  auto leadership = std::make_shared<FakeLeadership>(journal_);
  Make({.leadership = leadership});
  Add("leader", Stage::kLeader);
  Add("other", Stage::kOther);
  Add("server", Stage::kServer);
  Run();
  journal_.Await("server runs");
  journal_.Await("other runs");
  journal_.Await("stands for election");
  EXPECT_FALSE(manager_->IsLeader());
  EXPECT_THAT(journal_.lines(), ::testing::Contains("leader warms up"));
  EXPECT_THAT(journal_.lines(), ::testing::Not(::testing::Contains("leader runs")));
  leadership->Elect();
  journal_.Await("leader runs");
  EXPECT_TRUE(manager_->IsLeader());
  const std::size_t before = journal_.lines().size();
  Stop();
  EXPECT_TRUE(*result_) << result_->error().ToString();
  std::vector<std::string> ends = journal_.lines();
  ends.erase(ends.begin(), ends.begin() + static_cast<std::ptrdiff_t>(before));
  ASSERT_EQ(ends.size(), 4U);
  EXPECT_EQ(ends.back(), "server ends");
  EXPECT_LT(std::ranges::find(ends, "leader ends"), std::ranges::find(ends, "releases the lease"));
  EXPECT_FALSE(manager_->IsLeader());
}

TEST_F(ManagerTest, ItLeadsNoLongerThanItsLeadershipSaysEvenIfNobodyHasToldIt) {
  auto leadership = std::make_shared<FakeLeadership>(journal_);
  Make({.leadership = leadership});
  Add("leader", Stage::kLeader);
  Run();
  journal_.Await("stands for election");
  leadership->Elect();
  journal_.Await("leader runs");
  EXPECT_TRUE(manager_->IsLeader());
  leadership->EndTime();
  EXPECT_FALSE(manager_->IsLeader());
}

TEST_F(ManagerTest, WithoutElectionItLeadsAtOnce) {
  Make();
  Add("leader", Stage::kLeader);
  Run();
  journal_.Await("leader runs");
  EXPECT_TRUE(manager_->IsLeader());
  Stop();
  EXPECT_TRUE(*result_);
  EXPECT_THAT(journal_.lines(), ElementsAre("leader warms up", "leader runs", "leader ends"));
}

TEST_F(ManagerTest, FailureOfARunnableEndsAll) {
  Make();
  Add("other", Stage::kOther);
  ASSERT_TRUE(manager_->Add("broken", Stage::kOther, [this](std::stop_token) -> Result<void> {
    journal_.Await("other runs");
    return Fail(Reason::kInternalError, "no more paper");
  }));
  Run();
  Join();
  ASSERT_FALSE(*result_);
  EXPECT_THAT(result_->error().message, HasSubstr("broken"));
  EXPECT_THAT(result_->error().message, HasSubstr("no more paper"));
  EXPECT_THAT(journal_.lines(), ElementsAre("other runs", "other ends"));
}

TEST_F(ManagerTest, ExceptionOfARunnableIsAFailure) {
  Make();
  ASSERT_TRUE(manager_->Add("broken", Stage::kLeader, [](std::stop_token) -> Result<void> {
    throw std::runtime_error("thrown");
  }));
  Run();
  Join();
  ASSERT_FALSE(*result_);
  EXPECT_THAT(result_->error().message, HasSubstr("thrown"));
}

TEST_F(ManagerTest, PagesOfTheProgramAreServedToo) {
  const auto page = [](std::string text) {
    return [text](const http::Request&) { return http::Response{.body = text}; };
  };
  Make({.http = {{.address = "127.0.0.1:0"}},
        .pages = {{"/live", page("alive")}, {"/healthz", page("as ever")}}});
  Add("other", Stage::kOther);
  Run();
  journal_.Await("other runs");
  const std::uint16_t port = manager_->http_port();
  EXPECT_EQ(Fetch(port, "/live").value().body, "alive");
  EXPECT_EQ(Fetch(port, "/healthz").value().body, "as ever");
  EXPECT_EQ(Fetch(port, "/readyz").value().body, "ok");
  EXPECT_THAT(Fetch(port, "/metrics").value().body, HasSubstr("process_cpu_seconds_total"));
}

TEST_F(ManagerTest, APageWithoutItsServerIsAnError) {
  Make({.pages = {{"/live", [](const http::Request&) { return http::Response(); }}}});
  const auto ran = manager_->Run({});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().reason, Reason::kInvalidConfig);
  EXPECT_THAT(ran.error().message, HasSubstr("ManagerOptions::pages"));
}

TEST_F(ManagerTest, RunnableMayEndByItself) {
  Make();
  ASSERT_TRUE(manager_->Add("job", Stage::kOther, [this](std::stop_token) -> Result<void> {
    journal_.Note("job done");
    return {};
  }));
  Run();
  journal_.Await("job done");
  Stop();
  EXPECT_TRUE(*result_);
}

TEST_F(ManagerTest, LostLeadershipIsAnError) {
  const logging::testing::Capture log;
  auto leadership = std::make_shared<FakeLeadership>(journal_);
  Make({.leadership = leadership});
  Add("leader", Stage::kLeader);
  Run();
  leadership->Elect();
  journal_.Await("leader runs");
  leadership->Lose();
  Join();
  ASSERT_FALSE(*result_);
  EXPECT_THAT(result_->error().message, HasSubstr("the lease was lost: the dog ate it"));
  EXPECT_EQ(log.Count("The manager ends"), 1U);
  EXPECT_EQ(log.Count("Something else failed while the manager ends"), 0U) << "the same once more";
}

TEST_F(ManagerTest, WhatDoesNotStopIsNamedAfterTheGrace) {
  std::stop_source release;
  base::testing::FakeClock clock;
  std::string told;
  Make({.graceful_shutdown_timeout = seconds(30),
        .on_stuck = [&told](const apimachinery::Status& status) { told = status.message; },
        .clock = clock});
  ASSERT_TRUE(
      manager_->Add("stubborn", Stage::kLeader, [&](const std::stop_token&) -> Result<void> {
        journal_.Note("stubborn runs");
        WaitFor(release.get_token());
        return {};
      }));
  Run();
  journal_.Await("stubborn runs");
  thread_.request_stop();
  clock.AdvanceToSleeper(seconds(30));
  Join();
  ASSERT_FALSE(*result_);
  EXPECT_EQ(result_->error().reason, Reason::kTimeout);
  EXPECT_THAT(result_->error().message, HasSubstr("stubborn"));
  EXPECT_EQ(told, result_->error().message);
  release.request_stop();
  manager_.reset();
}

TEST_F(ManagerTest, ANegativeGraceIsNoLimit) {
  base::testing::FakeClock clock;
  std::stop_source release;
  Make({.graceful_shutdown_timeout = seconds(-1),
        .on_stuck = [](const apimachinery::Status&) {},
        .clock = clock});
  ASSERT_TRUE(manager_->Add("slow", Stage::kLeader, [&](const std::stop_token& stop) {
    journal_.Note("slow runs");
    WaitFor(stop);
    journal_.Note("slow is told");
    WaitFor(release.get_token());
    return Result<void>();
  }));
  Run();
  journal_.Await("slow runs");
  thread_.request_stop();
  journal_.Await("slow is told");
  clock.Advance(std::chrono::hours(1));
  release.request_stop();
  Join();
  EXPECT_TRUE(*result_) << result_->error().ToString();
}

/// Its warm-up ends only when the token is requested.
class SlowStarter final : public Worker {
 public:
  SlowStarter(Journal& journal, std::stop_token release)
      : Worker(journal, "slow", Stage::kLeader), journal_(journal), release_(std::move(release)) {}
  Result<void> Warmup(std::stop_token /*stop*/) override {
    journal_.Note("slow warms up");
    WaitFor(release_);
    return {};
  }

 private:
  Journal& journal_;
  const std::stop_token release_;
};

TEST_F(ManagerTest, AWarmupThatHangsIsNamedAfterTheGrace) {
  std::stop_source release;
  base::testing::FakeClock clock;
  Make({.graceful_shutdown_timeout = seconds(30),
        .on_stuck = [](const apimachinery::Status&) {},
        .clock = clock});
  ASSERT_TRUE(manager_->Add(std::make_shared<SlowStarter>(journal_, release.get_token())));
  Run();
  journal_.Await("slow warms up");
  thread_.request_stop();
  clock.AdvanceToSleeper(seconds(30));
  Join();
  ASSERT_FALSE(*result_);
  EXPECT_EQ(result_->error().reason, Reason::kTimeout);
  EXPECT_THAT(result_->error().message, HasSubstr("slow: warm-up"));
  release.request_stop();
  manager_.reset();
  EXPECT_THAT(journal_.lines(), ElementsAre("slow warms up")) << "it is too late to run";
}

TEST_F(ManagerTest, ALeaseThatIsLostAfterTheStopLeavesTheShorterGrace) {
  std::stop_source release;
  base::testing::FakeClock clock;
  std::atomic<bool> stuck = false;
  auto leadership = std::make_shared<FakeLeadership>(journal_);
  ManagerOptions options{.clock = clock};
  options.leadership = leadership;
  options.graceful_shutdown_timeout = seconds(20);
  options.on_stuck = [&stuck](const apimachinery::Status&) { stuck = true; };
  Make(std::move(options));
  ASSERT_TRUE(
      manager_->Add("stubborn", Stage::kLeader, [&](const std::stop_token&) -> Result<void> {
        journal_.Note("stubborn runs");
        WaitFor(release.get_token());
        return {};
      }));
  Run();
  leadership->Elect();
  journal_.Await("stubborn runs");
  thread_.request_stop();
  clock.AwaitSleepers(2);  // one sleeps for the grace, and the guard for the steps after it
  clock.Advance(seconds(3));
  EXPECT_FALSE(stuck);
  leadership->Lose();
  clock.Advance(seconds(1));
  KX_AWAIT(stuck);
  EXPECT_TRUE(stuck) << "waited 30 s for what should come at once";
  clock.Advance(seconds(20));
  Join();
  EXPECT_FALSE(*result_);
  release.request_stop();
  manager_.reset();
}

TEST_F(ManagerTest, ACacheThatDoesNotSyncIsNamedWithTheReason) {
  base::testing::FakeClock clock;
  Make({.cache_sync_timeout = seconds(200), .clock = clock});
  manager_->InformerFor<api::core::v1::ConfigMap>();
  Run();
  const auto refused = [this] {
    const std::vector<std::string> waiting = manager_->caches()->Unsynced();
    return !waiting.empty() && waiting.front().find("connect") != std::string::npos;
  };
  KX_AWAIT(refused());
  EXPECT_TRUE(refused()) << "waited 60 s for the first list to fail";
  clock.AdvanceToSleeper(seconds(200));
  Join();
  ASSERT_FALSE(*result_);
  EXPECT_EQ(result_->error().reason, Reason::kTimeout);
  EXPECT_THAT(result_->error().message, ::testing::StartsWith("configmaps: "));
  EXPECT_THAT(result_->error().message, HasSubstr("connect"));
  EXPECT_THAT(result_->error().message,
              HasSubstr("did not get their first lists from http://127.0.0.1:"));
  EXPECT_THAT(result_->error().message, HasSubstr(" in 3m20s"));
}

/// Tests that need processes of their own, which are started anew so that other threads do not
/// matter.
class ManagerDeathTest : public ManagerTest {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(ManagerDeathTest, WhatDoesNotStopDoesNotKeepTheProcess) {
  const auto run = [this] {
    Make({.graceful_shutdown_timeout = std::chrono::milliseconds(1)});
    (void)manager_->Add("stubborn", Stage::kLeader, [this](const std::stop_token&) -> Result<void> {
      journal_.Note("stubborn runs");
      WaitFor({});
      return {};
    });
    Run();
    journal_.Await("stubborn runs");
    thread_.request_stop();
    Join();
    manager_.reset();
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(EXIT_FAILURE), "still running.*stubborn");
}

TEST_F(ManagerDeathTest, WhatHangsBeforeItRunsDoesNotKeepTheProcessEither) {
  class Warm final : public Worker {
   public:
    explicit Warm(Journal& journal) : Worker(journal, "warm", Stage::kLeader), notes_(journal) {}
    Result<void> Warmup(std::stop_token /*stop*/) override {
      notes_.Note("hangs");
      WaitFor({});
      return {};
    }

   private:
    Journal& notes_;
  };
  const auto run = [this] {
    base::testing::FakeClock clock;
    Make({.clock = clock});
    (void)manager_->Add(std::make_shared<Warm>(journal_));
    Run();
    journal_.Await("hangs");
    thread_.request_stop();
    clock.AdvanceToSleeper(seconds(27));
    Join();
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(EXIT_FAILURE), "still running.*warm: warm-up");
}

TEST_F(ManagerTest, AddedLateItRunsAtOnce) {
  Make();
  Add("first", Stage::kLeader);
  Run();
  journal_.Await("first runs");
  Add("late", Stage::kLeader);
  journal_.Await("late runs");
  Stop();
  EXPECT_THAT(journal_.lines(), ::testing::Contains("late ends"));
  EXPECT_EQ(
      manager_->Add(std::make_shared<Worker>(journal_, "too late", Stage::kOther)).error().reason,
      Reason::kInvalidConfig);
}

TEST_F(ManagerTest, ServesMetricsAndHealth) {
  Make({.http = {{.address = "127.0.0.1:0"}}});
  ASSERT_TRUE(manager_->AddHealthCheck("heart", []() -> Result<void> { return {}; }));
  std::atomic<bool> ready = false;
  ASSERT_TRUE(manager_->AddReadyCheck("door", [&ready]() -> Result<void> {
    return ready ? Result<void>() : Result<void>(Fail(Reason::kUnavailable, "closed"));
  }));
  EXPECT_FALSE(manager_->AddReadyCheck("caches", []() -> Result<void> { return {}; }));
  Add("leader", Stage::kLeader);
  Run();
  journal_.Await("leader runs");
  const std::uint16_t port = manager_->http_port();
  EXPECT_EQ(manager_->health_port(), port);
  EXPECT_EQ(Fetch(port, "/healthz").value().body, "ok");
  EXPECT_FALSE(Fetch(port, "/readyz"));
  ready = true;
  EXPECT_EQ(Fetch(port, "/readyz").value().body, "ok");
  EXPECT_THAT(Fetch(port, "/metrics").value().body, HasSubstr("process_cpu_seconds_total"));
}

TEST_F(ManagerTest, HealthMayHaveAServerOfItsOwn) {
  Make({.http = {{.address = "127.0.0.1:0"}}, .health_http = {{.address = "127.0.0.1:0"}}});
  Add("leader", Stage::kLeader);
  Run();
  journal_.Await("leader runs");
  EXPECT_NE(manager_->http_port(), manager_->health_port());
  EXPECT_EQ(Fetch(manager_->health_port(), "/readyz").value().body, "ok");
  EXPECT_EQ(Fetch(manager_->http_port(), "/readyz").error().reason, Reason::kNotFound);
}

/// An API server that knows one token and keeps the targets of the requests that create objects.
class FakeApi {
 public:
  std::shared_ptr<rest::RESTClient> client() { return rest::testing::NewClient(server_.Url()); }
  std::string url() const { return server_.Url(); }
  std::vector<std::string> targets() { return journal_.lines(); }

 private:
  void Answer(rest::testing::FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      journal_.Note(request->target);
      const bool token = request->target.ends_with("/tokenreviews");
      const bool event = request->target.ends_with("/events");
      connection.Respond(201, "application/json",
                         event ? R"({"kind":"Event","apiVersion":"events.k8s.io/v1"})"
                         : token
                             ? R"({"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1",)"
                               R"("status":{"authenticated":true,"user":{"username":"u"}}})"
                             : R"({"kind":"SubjectAccessReview",)"
                               R"("apiVersion":"authorization.k8s.io/v1",)"
                               R"("status":{"allowed":true}})");
    }
  }

  Journal journal_;
  rest::testing::FakeServer server_{
      [this](rest::testing::FakeConnection& connection) { Answer(connection); }};
};

TEST(ManagerEndTest, AHandlerOfACacheThatHangsIsNamedAfterTheGrace) {
  rest::testing::FakeServer server([](rest::testing::FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      if (request->target.find("sendInitialEvents") != std::string::npos) {
        connection.Respond(422, "application/json",
                           R"({"kind":"Status","reason":"Invalid","code":422})");
      } else if (request->target.find("watch=true") != std::string::npos) {
        connection.RespondChunked(200, "application/json");
        connection.AwaitPeer();
        return;
      } else {
        connection.Respond(200, "application/json",
                           R"({"kind":"ConfigMapList","metadata":{"resourceVersion":"9"},"items":[)"
                           R"({"metadata":{"namespace":"a","name":"b","resourceVersion":"3"}}]})");
      }
    }
  });
  base::testing::FakeClock clock;
  std::atomic<int> told = 0;
  std::stop_source release;
  Journal journal;
  auto manager = std::make_unique<Manager>(
      rest::testing::NewClient(server.Url()),
      ManagerOptions{.graceful_shutdown_timeout = seconds(0),
                     .on_stuck = [&told](const apimachinery::Status&) { ++told; },
                     .clock = clock});
  const auto informer = manager->InformerFor<api::core::v1::ConfigMap>();
  const auto registration = informer->AddRawHandler("stubborn", [&](const cache::RawEvent&) {
    journal.Note("told");
    WaitFor(release.get_token());
  });
  std::optional<Result<void>> result;
  std::jthread thread([&](const std::stop_token& stop) { result = manager->Run(stop); });
  journal.Await("told");
  // Everything has started. The grace applies only to the end, and not to an unfinished start.
  KX_AWAIT(manager->IsLeader());
  thread.request_stop();
  clock.AdvanceToSleeper(seconds(7));
  thread.join();
  release.request_stop();
  ASSERT_FALSE(*result);
  EXPECT_EQ(result->error().reason, Reason::kTimeout);
  EXPECT_THAT(result->error().message, HasSubstr("the handlers of the caches"));
  EXPECT_EQ(told, 1);
}

TEST(ManagerApiTest, ProtectedMetricsAreForThoseWhomTheApiServerAllows) {
  FakeApi api;
  Manager manager(api.client(), {.http = {{.address = "127.0.0.1:0"}}, .protect_metrics = true});
  Journal journal;
  ASSERT_TRUE(manager.Add(std::make_shared<Worker>(journal, "other", Stage::kOther)));
  std::jthread run([&manager](const std::stop_token& stop) { EXPECT_TRUE(manager.Run(stop)); });
  journal.Await("other runs");
  const auto client =
      rest::testing::NewClient("http://127.0.0.1:" + std::to_string(manager.http_port()));
  EXPECT_EQ(client->Get().AbsPath("/metrics").MaxRetries(0).Do().error().reason,
            Reason::kUnauthorized);
  EXPECT_TRUE(client->Get().AbsPath("/healthz").Do());
  EXPECT_TRUE(client->Get().AbsPath("/metrics").Header("Authorization", "Bearer t").Do());
  EXPECT_THAT(api.targets(), ElementsAre("/apis/authentication.k8s.io/v1/tokenreviews",
                                         "/apis/authorization.k8s.io/v1/subjectaccessreviews"));
}

TEST(ManagerApiTest, HealthDoesNotWaitForWhoeverWaitsForTheApiServer) {
  Journal asked;
  rest::testing::FakeServer api([&asked](rest::testing::FakeConnection& connection) {
    while (connection.ReadRequest()) {
      asked.Note("a review");
      connection.AwaitPeer();
      asked.Note("is given up");
    }
  });
  Manager manager(rest::testing::NewClient(api.Url()),
                  {.http = {{.address = "127.0.0.1:0"}}, .protect_metrics = true});
  Journal journal;
  ASSERT_TRUE(manager.Add(std::make_shared<Worker>(journal, "other", Stage::kOther)));
  std::jthread run([&manager](const std::stop_token& stop) { EXPECT_TRUE(manager.Run(stop)); });
  journal.Await("other runs");
  const auto client =
      rest::testing::NewClient("http://127.0.0.1:" + std::to_string(manager.http_port()));
  std::stop_source enough;
  std::vector<std::jthread> scrapers;
  for (int i = 0; i < 4; ++i) {
    scrapers.emplace_back([&client, &enough, i] {
      (void)client->Get()
          .AbsPath("/metrics")
          .Header("Authorization", "Bearer " + std::to_string(i))
          .MaxRetries(0)
          .Do(enough.get_token());
    });
  }
  KX_AWAIT_GE(asked.lines().size(), 2);
  EXPECT_TRUE(client->Get().AbsPath("/healthz").MaxRetries(0).Do());
  EXPECT_TRUE(client->Get().AbsPath("/readyz").MaxRetries(0).Do());
  EXPECT_THAT(asked.lines(), ElementsAre("a review", "a review"));
  enough.request_stop();
}

TEST(ManagerApiTest, WithoutALimitInTheConfigRequestsDoNotWait) {
  FakeApi api;
  // It stands still, so a limit of any size would hold a request up.
  base::testing::FakeClock clock;
  rest::Config config;
  config.host = api.url();
  const auto manager = Manager::New(config, {.clock = clock});
  ASSERT_TRUE(manager);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE((*manager)->client()->Get().AbsPath("/x").Do());
  }
}

class EventsLimitTest : public ::testing::TestWithParam<double> {};

TEST_P(EventsLimitTest, EventsDoNotUseUpTheLimitOfOtherRequests) {
  // It stands still, so a request without a token of the limiter waits.
  base::testing::FakeClock clock;
  std::binary_semaphore asked(0);
  rest::testing::FakeServer server([&asked](rest::testing::FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      if (request->method == "POST") {
        asked.release();
      }
      connection.Respond(request->method == "POST" ? 403 : 200, "application/json", "{}");
    }
  });
  rest::Config config;
  config.host = server.Url();
  config.qps = GetParam();
  config.burst = 1;
  auto manager = Manager::New(config, {.clock = clock});
  ASSERT_TRUE(manager);
  auto recorder = (*manager)->EventRecorderFor("operator");
  for (const char* reason : {"First", "Second"}) {
    events::Occurrence occurrence;
    occurrence.reason = reason;
    recorder->Record(std::move(occurrence));
  }
  KX_AWAIT(asked.try_acquire());
  clock.AwaitSleepers(1);  // the second Event waits for its token, or is about to
  std::binary_semaphore done(0);
  const std::jthread other([&] {
    EXPECT_TRUE((*manager)->client()->Get().AbsPath("/x").Do());
    done.release();
  });
  if (!done.try_acquire_for(seconds(30))) {
    ADD_FAILURE() << "the request waits for a token that an Event has taken";
    clock.Advance(seconds(10));
    KX_AWAIT(done.try_acquire());
  }
  std::atomic<bool> gone = false;
  const std::jthread end([&] {
    recorder.reset();
    manager->reset();
    gone = true;
  });
  // The second Event is dropped after the flush limit.
  KX_UNTIL(gone) {
    if (clock.Sleepers() > 0) {
      clock.Advance(seconds(1));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Limits, EventsLimitTest, ::testing::Values(1.0, 0.0),
                         [](const auto& limit) {
                           return limit.param > 0 ? "Rate" : "BurstWithTheDefaultRate";
                         });

TEST(ManagerApiTest, ItsClientsMayOutliveIt) {
  FakeApi api;
  rest::Config config;
  config.host = api.url();
  auto manager = Manager::New(config, {.first_read_timeout = std::chrono::milliseconds(1)});
  ASSERT_TRUE(manager);
  std::weak_ptr<rest::RESTClient> rest = (*manager)->client();
  auto client = std::make_unique<Client>((*manager)->NewClient());
  const metrics::Registry* const registry = &(*manager)->registry();
  manager->reset();
  EXPECT_FALSE(client->Get<api::core::v1::ConfigMap>({"ns", "a"}));
  EXPECT_TRUE(client->rest()->Get().AbsPath("/x").Do());
  EXPECT_THAT(registry->Serialize(), HasSubstr("rest_client_requests_total"))
      << "must still be there";
  client.reset();
  EXPECT_TRUE(rest.expired()) << "keeps itself alive";
}

TEST(ManagerApiTest, ItsControllersMayOutliveIt) {
  FakeApi api;
  rest::Config config;
  config.host = api.url();
  auto manager = Manager::New(config);
  ASSERT_TRUE(manager);
  const std::weak_ptr<rest::RESTClient> rest = (*manager)->client();
  auto controller = ControllerBuilder<api::core::v1::ConfigMap>(**manager).Complete(
      [](const Request&, Context&) { return Action::Done(); });
  ASSERT_TRUE(controller);
  manager->reset();
  EXPECT_FALSE(rest.expired()) << "keeps the registry that the controller counts in";
  controller->reset();
  EXPECT_TRUE(rest.expired());
}

TEST(ManagerApiTest, EventsAreWrittenBeforeRunReturns) {
  FakeApi api;
  Manager manager(api.client());
  const auto recorder = manager.EventRecorderFor("tester");
  EXPECT_EQ(manager.EventRecorderFor("tester"), recorder);
  EXPECT_NE(manager.EventRecorderFor("other"), recorder);
  events::Occurrence occurrence;
  occurrence.regarding.kind = "Pod";
  occurrence.regarding.name = "p";
  occurrence.regarding.namespace_ = "ns";
  occurrence.reason = "Tested";
  recorder->Record(occurrence);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(manager.Run(stop.get_token()));
  EXPECT_THAT(api.targets(), ElementsAre("/apis/events.k8s.io/v1/namespaces/ns/events"));
}

TEST_F(ManagerTest, RunsAWebhookServer) {
  Make({.webhooks = {{.address = "127.0.0.1:0"}}});
  ASSERT_NE(manager_->webhooks(), nullptr);
  Add("other", Stage::kOther);
  Run();
  journal_.Await("other runs");
  EXPECT_NE(manager_->webhooks()->port(), 0);
  Stop();
  Make();
  EXPECT_EQ(manager_->webhooks(), nullptr);
}

bool Listens(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int error = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  ::close(fd);
  return error == 0;
}

TEST_F(ManagerTest, AWebhookThatIsAskedAnswersBeforeTheEnd) {
  Make({.webhooks = {{.address = "127.0.0.1:0"}}});
  Add("server", Stage::kServer);
  manager_->webhooks()->HandleRaw("/ask", [this](const webhook::Call&) {
    thread_.request_stop();
    journal_.Await("server ends");  // only the HTTP servers end after it
    KX_AWAIT(!Listens(manager_->webhooks()->port()));
    return webhook::Response::Allowed();
  });
  Run();
  journal_.Await("server runs");
  const auto client = rest::testing::ClientFor(
      {.host = "https://127.0.0.1:" + std::to_string(manager_->webhooks()->port()),
       .tls = {.insecure_skip_verify = true}});
  const auto answer =
      client->Post()
          .AbsPath("/ask")
          .Body(codec::Encoding::kJson, R"({"apiVersion":"admission.k8s.io/v1",)"
                                        R"("kind":"AdmissionReview","request":{"uid":"u"}})")
          .MaxRetries(0)
          .Do();
  ASSERT_TRUE(answer) << answer.error().ToString();
  EXPECT_THAT(answer->body, HasSubstr("\"allowed\":true"));
}

TEST_F(ManagerTest, AddressThatIsTakenIsAnError) {
  Make({.http = {{.address = "no address"}}});
  Run();
  Join();
  EXPECT_FALSE(*result_);
}

TEST_F(ManagerTest, RunsOnce) {
  Make();
  Run();
  Stop();
  EXPECT_TRUE(*result_);
  EXPECT_EQ(manager_->Run({}).error().reason, Reason::kInvalidConfig);
}

TEST_F(ManagerTest, SourcesHaveTheNameOfTheirControllerWheneverThatIsTold) {
  using api::core::v1::ConfigMap;
  Make();
  for (const char* name : {"one", "two"}) {
    ASSERT_TRUE(ControllerBuilder<ConfigMap>(*manager_).Owns<ConfigMap>().Named(name).Complete(
        [](const Request&, Context&) -> Result<Action> { return Action::Done(); }));
  }
  const std::string metrics = manager_->registry().Serialize();
  for (const char* source : {"one/v1/configmaps/0", "two/v1/configmaps/0", "two/v1/configmaps/1"}) {
    EXPECT_THAT(metrics, HasSubstr("source=\"" + std::string(source) + "\""));
  }
}

TEST_F(ManagerTest, ControllerNamesAreUniqueAndOptionsChecked) {
  Make();
  ControllerOptions options = manager_->ControllerDefaults("ConfigMap");
  EXPECT_EQ(options.name, "configmap");
  EXPECT_TRUE(manager_->ClaimControllerName(options));
  EXPECT_EQ(manager_->ClaimControllerName(options).error().reason, Reason::kAlreadyExists);
  options.name = "other";
  options.max_concurrent_reconciles = 0;
  EXPECT_EQ(manager_->ClaimControllerName(options).error().reason, Reason::kInvalidConfig);
}

}  // namespace
}  // namespace kubexx::controller
