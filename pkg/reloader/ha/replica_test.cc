#include "kubexx/reloader/ha/replica.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/controller/manager.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"
#include "kubexx/rest/testing/http_threads.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Result;
using controller::Stage;
using rest::testing::FakeConnection;
using rest::testing::FakeServer;

/// Keeps one Lease as it was written last, and records events in their order. Thread-safe.
class LeaseKeeper {
 public:
  void Serve(FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      if (request->method == "GET" && request->target.contains("labelSelector=")) {
        connection.Respond(200, "application/json",
                           R"({"kind":"LeaseList","apiVersion":"coordination.k8s.io/v1",)"
                           R"("metadata":{"resourceVersion":"1"},"items":[]})");
        continue;
      }
      if (request->method == "GET") {
        const base::MutexLock lock(mu_);
        if (body_.empty()) {
          connection.Respond(
              404, "application/json",
              R"({"kind":"Status","reason":"NotFound","code":404,"details":{"name":"x"}})");
        } else {
          connection.Respond(200, type_, body_);
        }
        continue;
      }
      {
        const base::MutexLock lock(mu_);
        body_ = request->body;
        type_ = request->headers.at("content-type");
        connection.Respond(request->method == "POST" ? 201 : 200, type_, body_);
      }
      Note(request->body.contains("pod-1") ? "the Lease is written" : "the Lease is given back");
    }
  }
  void Note(const std::string& what) {
    const base::MutexLock lock(mu_);
    notes_.push_back(what);
    changed_.notify_all();
  }
  std::vector<std::string> notes() const {
    const base::MutexLock lock(mu_);
    return notes_;
  }
  bool Await(const std::string& what) {
    const auto give_up = base::Clock::Real().Now() + std::chrono::seconds(60);
    const base::MutexLock lock(mu_);
    while (std::ranges::find(notes_, what) == notes_.end()) {
      if (base::Clock::Real().WaitUntil(mu_, changed_, {}, give_up) == base::Wake::kTimeout) {
        ADD_FAILURE() << "waited 60 s for: " << what;
        return false;
      }
    }
    return true;
  }

 private:
  mutable base::Mutex mu_;
  base::CondVar changed_;
  std::string body_ KX_GUARDED_BY(mu_);
  std::string type_ KX_GUARDED_BY(mu_);
  std::vector<std::string> notes_ KX_GUARDED_BY(mu_);
};

void SleepUntilStop(const std::stop_token& stop) {
  base::Mutex mu;
  base::CondVar never;
  const base::MutexLock lock(mu);
  while (!stop.stop_requested()) {
    (void)base::Clock::Real().WaitUntil(mu, never, stop, base::TimePoint::max());
  }
}

class ReplicaTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { rest::testing::StartHttpThreads(); }
};

// The manager's runnables work at once on every replica, and what they write at their end is
// written while the Lease is held.
TEST_F(ReplicaTest, AManagerGivesTheLeaseBackWhenWhatWritesHasEnded) {
  LeaseKeeper keeper;
  FakeServer server([&keeper](FakeConnection& connection) { keeper.Serve(connection); });
  const auto replica = Replica::New(
      rest::testing::NewClient(server.Url()),
      {.enabled = true, .pod_name = "pod-1", .pod_namespace = "ns"},
      [&keeper](int shard) { keeper.Note("acquired " + std::to_string(shard)); }, nullptr);
  controller::Manager manager(rest::testing::NewClient(server.Url()), {.leadership = replica});
  ASSERT_TRUE(manager.Add("writer", Stage::kLeader, [&](const std::stop_token& stop) {
    keeper.Note("the writer runs");
    SleepUntilStop(stop);
    EXPECT_TRUE(replica->held_shards().Enter("any")) << "it writes what is due";
    keeper.Note("the writer ends");
    return Result<void>();
  }));
  std::stop_source stop;
  Result<void> ran;
  {
    const std::jthread runner([&] { ran = manager.Run(stop.get_token()); });
    EXPECT_TRUE(keeper.Await("the writer runs"));
    EXPECT_TRUE(keeper.Await("acquired 0"));
    EXPECT_TRUE(replica->Check());
    EXPECT_TRUE(manager.IsLeader());
    stop.request_stop();
  }
  EXPECT_TRUE(ran) << ran.error().ToString();
  const std::vector<std::string> notes = keeper.notes();
  ASSERT_GE(notes.size(), 2U);
  EXPECT_EQ(notes[notes.size() - 2], "the writer ends");
  EXPECT_EQ(notes.back(), "the Lease is given back");
  EXPECT_FALSE(replica->held_shards().IsOpenFor("any"));
}

// A replica that waits for a Lease must not be behind when the Lease becomes free, so its caches
// are kept in sync meanwhile.
TEST_F(ReplicaTest, WhatAManagerLeadsWithRunsAlsoWithoutALease) {
  FakeServer server([](FakeConnection& connection) {
    while (connection.ReadRequest()) {
      connection.Respond(403, "application/json",
                         R"({"kind":"Status","reason":"Forbidden","code":403})");
    }
  });
  const auto replica = Replica::New(
      rest::testing::NewClient(server.Url()),
      {.enabled = true, .pod_name = "pod-1", .pod_namespace = "ns"},
      [](int) { ADD_FAILURE() << "nobody gave it a Lease"; }, nullptr);
  controller::Manager manager(rest::testing::NewClient(server.Url()), {.leadership = replica});
  std::stop_source stop;
  ASSERT_TRUE(manager.Add("writer", Stage::kLeader, [&](const std::stop_token& /*end*/) {
    EXPECT_FALSE(replica->held_shards().Enter("any"));
    stop.request_stop();
    return Result<void>();
  }));
  const auto ran = manager.Run(stop.get_token());
  EXPECT_TRUE(ran) << ran.error().ToString();
}

}  // namespace
}  // namespace kubexx::reloader
