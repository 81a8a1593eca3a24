// Deletions of namespaces that meet other requests when that is worst.
#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "kubexx/apiserver/endpoints/handlers/api.h"
#include "kubexx/apiserver/endpoints/testing/forwarding_storage.h"
#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Result;
using codec::JsonTree;

constexpr const char* kRacedTeam = "/api/v1/namespaces/team";
constexpr const char* kRacedMaps = "/api/v1/namespaces/team/configmaps";

/// A storage that does something at certain calls.
class RacingStorage final : public testing::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;
  using Action = std::function<void()>;

  /// Once, before the next answer to which revision there is.
  void BeforeRevision(Action action) { Set(before_revision_, std::move(action)); }
  /// Once, between the next reading of the namespace and the answer.
  void AfterReadingTeam(Action action) { Set(after_team_, std::move(action)); }
  /// Once, before the next creation of a ConfigMap.
  void BeforeMap(Action action) { Set(before_map_, std::move(action)); }

  Result<storage::Revision> CurrentRevision(std::stop_token stop) override {
    Run(before_revision_);
    return ForwardingStorage::CurrentRevision(std::move(stop));
  }
  Result<storage::KeyValue> Get(std::string_view key, storage::Revision revision,
                                std::stop_token stop) override {
    auto found = ForwardingStorage::Get(key, revision, std::move(stop));
    if (key == "/registry/namespaces/team") {
      Run(after_team_);
    }
    return found;
  }
  Result<storage::KeyValue> Create(std::string_view key, std::string value,
                                   std::stop_token stop) override {
    if (key.starts_with("/registry/configmaps/")) {
      Run(before_map_);
    }
    return ForwardingStorage::Create(key, std::move(value), std::move(stop));
  }

 private:
  void Set(Action& slot, Action action) {
    base::MutexLock lock(mu_);
    slot = std::move(action);
  }
  void Run(Action& slot) {
    Action action;
    {
      base::MutexLock lock(mu_);
      action = std::exchange(slot, nullptr);
    }
    if (action) {
      action();
    }
  }

  base::Mutex mu_;
  Action before_revision_;
  Action after_team_;
  Action before_map_;
};

class NamespaceRaceTest : public ::testing::Test {
 protected:
  NamespaceRaceTest() {
    EXPECT_TRUE(api_.Bootstrap({}));
    EXPECT_EQ(Do("POST", "/api/v1/namespaces", R"({"metadata":{"name":"team"}})").status, 201);
  }
  static ApiOptions Options() {
    ApiOptions options;
    options.cacher.patience = std::chrono::minutes(1);
    return options;
  }
  http::Response Do(std::string method, std::string path, std::string body = {},
                    std::string query = {}) {
    http::Request request;
    request.method = std::move(method);
    request.path = std::move(path);
    request.query = std::move(query);
    request.body = std::move(body);
    request.headers = {{"Content-Type", "application/json"}};
    return api_.Handle(request);
  }
  /// Deletes nothing; the server looks whether there is something to do nevertheless.
  void FailToDelete() {
    EXPECT_EQ(Do("DELETE", kRacedTeam, R"({"preconditions":{"uid":"another"}})").status, 409);
  }

  std::unique_ptr<storage::MemoryStorage> memory_ = *storage::NewMemoryStorage({});
  RacingStorage storage_{*memory_};
  Api api_{storage_, Options()};
};

TEST_F(NamespaceRaceTest, WhatWasBegunBeforeTheMarkGoesToo) {
  std::latch held(1);
  std::latch release(1);
  storage_.BeforeMap([&] {
    held.count_down();
    KX_AWAIT(release.try_wait());
  });
  std::jthread creator;
  storage_.BeforeRevision([&] {
    creator = std::jthread(
        [&] { EXPECT_EQ(Do("POST", kRacedMaps, R"({"metadata":{"name":"m"}})").status, 201); });
    KX_AWAIT(held.try_wait());
    EXPECT_EQ(Do("DELETE", kRacedTeam).status, 200);
  });
  FailToDelete();
  release.count_down();
  creator.join();
  api_.Reap();
  api_.Reap();
  EXPECT_EQ(Do("GET", kRacedTeam).status, 404);
  EXPECT_FALSE(memory_->Get("/registry/configmaps/team/m", 0, {}).has_value());
}

TEST_F(NamespaceRaceTest, ADeletionBesideALookFromBeforeIsNotForgotten) {
  storage_.BeforeRevision([&] {
    storage_.AfterReadingTeam([&] {
      const auto ending = JsonTree::Parse(Do("DELETE", kRacedTeam).body);
      ASSERT_TRUE(ending);
      const JsonTree* const version = ending->At({"metadata", "resourceVersion"});
      ASSERT_NE(version, nullptr);
      // The thread that ends namespaces has heard of it, too, and leaves it to who is at it.
      ASSERT_EQ(
          Do("GET", "/api/v1/namespaces", "", "resourceVersion=" + *version->AsString()).status,
          200);
      api_.Reap();
    });
  });
  FailToDelete();
  api_.Reap();
  EXPECT_EQ(Do("GET", kRacedTeam).status, 404);
}

}  // namespace
}  // namespace kubexx::apiserver
