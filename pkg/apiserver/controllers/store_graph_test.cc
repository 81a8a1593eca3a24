#include "kubexx/apiserver/controllers/store_graph.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>

#include "kubexx/apiserver/endpoints/testing/forwarding_storage.h"
#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::apiserver::controllers {
namespace {

/// A storage like an etcd that has compacted the state before each change.
class ForgetfulStorage final : public apiserver::testing::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;

  Result<void> Watch(std::string_view prefix, const storage::WatchOptions& options, EventSink sink,
                     std::stop_token stop) override {
    return ForwardingStorage::Watch(
        prefix, options,
        [&sink](const std::shared_ptr<const storage::Event>& event) {
          auto forgetful = std::make_shared<storage::Event>(*event);
          forgetful->prev = {};
          return sink(std::move(forgetful));
        },
        std::move(stop));
  }
};

TEST(StoreGraphTest, WhatWasDeletedUnseenIsGone) {
  const auto memory = *storage::NewMemoryStorage({});
  ForgetfulStorage forgetful(*memory);
  base::testing::FakeClock clock;
  StoreGraph graph(forgetful, clock);
  const std::string key = "/registry/configmaps/ns/a";
  ASSERT_TRUE(memory->Create(key,
                             R"({"apiVersion":"v1","kind":"ConfigMap",
                                 "metadata":{"name":"a","namespace":"ns","uid":"uid-a"}})",
                             {}));
  const std::jthread follower(
      [&graph](const std::stop_token& stop) { graph.Follow([](const std::string&) {}, stop); });
  ASSERT_TRUE(graph.WaitForSync(base::testing::PatienceEnd().token()));
  ASSERT_TRUE(graph.Find("uid-a").value().has_value());
  ASSERT_TRUE(memory->Delete(key, 0, {}));
  KX_UNTIL(!graph.Find("uid-a").value().has_value()) {
    clock.Advance(std::chrono::seconds(1));
  }
}

}  // namespace
}  // namespace kubexx::apiserver::controllers
