#include "kubexx/reloader/webhook_relay.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/mutex.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/codec/codec.h"

namespace kubexx::reloader {
namespace {

namespace core = api::core::v1;

/// A cluster with ConfigMaps and the messages that were sent about them.
class WebhookRelayTest : public testing::Test {
 protected:
  void Put(const std::string& name, const std::string& value, const std::string& label = "",
           const std::string& ns = "ns") {
    core::ConfigMap object;
    object.metadata.namespace_ = ns;
    object.metadata.name = name;
    object.metadata.labels["label"] = label;
    object.data["key"] = value;
    config_maps_->PutObject({.encoding = codec::Encoding::kJson,
                             .bytes = codec::EncodeJson(object),
                             .key = {ns, name}});
  }
  void Start(WebhookRelay::Options options) {
    InformerSet set;
    set.sources[SourceType::kConfigMap] = std::make_shared<cache::SharedInformer<core::ConfigMap>>(
        config_maps_,
        cache::InformerOptions{.transform = TransformFor(SourceType::kConfigMap, {})});
    std::vector<InformerSet> sets;
    sets.push_back(std::move(set));
    options.registry = &registry_;
    relay_ = std::make_unique<WebhookRelay>(std::move(options), std::move(sets), sender_);
    relay_->Start();
  }
  /// Until the relay has worked through `n` events of this type.
  void AwaitEvents(const char* type, double n) {
    const auto processed = registry_.Counter(
        "reloader_events_processed_total", "Events of sources that have been worked through.",
        {{"event_type", type}, {"resource_type", "configmaps"}, {"result", "success"}});
    while (processed.Value() < n) {
      std::this_thread::yield();
    }
  }
  std::vector<std::string> Sent() {
    relay_->Stop();
    sender_.Stop();
    const base::MutexLock lock(mu_);
    return sent_;
  }

  metrics::Registry registry_;
  base::Mutex mu_;
  std::vector<std::string> sent_ KX_GUARDED_BY(mu_);
  MessageSender sender_{
      {.name = "webhook", .accepts = [](int) { return true; }},
      [this](const Message& message, const std::stop_token&) -> apimachinery::Result<int> {
        const base::MutexLock lock(mu_);
        sent_.push_back(message.content_type + " " + message.body);
        return 200;
      }};
  std::shared_ptr<cache::testing::FakeSource> config_maps_ =
      std::make_shared<cache::testing::FakeSource>();
  std::unique_ptr<WebhookRelay> relay_;
};

TEST_F(WebhookRelayTest, TellsOfChangedData) {
  Put("config", "old");
  Put("other", "old", "", "ignored");
  Start({.ignored_namespaces = {"ignored"}});
  AwaitEvents("add", 2);
  Put("config", "old", "relabelled");
  Put("config", "new");
  Put("other", "new", "", "ignored");
  AwaitEvents("update", 3);
  EXPECT_EQ(Sent(),
            (std::vector<std::string>{R"(application/json {"webhook":"update successful"})"}));
}

TEST_F(WebhookRelayTest, TellsOfCreatedAndDeletedOnRequest) {
  Put("config", "old");
  Start({.on_create = true, .on_delete = true});
  AwaitEvents("add", 1);
  Put("new", "value");
  AwaitEvents("add", 2);
  config_maps_->Delete({"ns", "new"});
  AwaitEvents("delete", 1);
  EXPECT_EQ(Sent().size(), 2U);
}

TEST_F(WebhookRelayTest, WhatIsThereMayCountAsCreated) {
  Put("config", "old");
  Start({.on_create = true, .initial_counts = true});
  AwaitEvents("add", 1);
  EXPECT_EQ(Sent().size(), 1U);
}

TEST_F(WebhookRelayTest, OnlyWhoHoldsTheShardTells) {
  ShardGate gate(1);
  Start({.on_create = true, .gate = &gate});
  Put("config", "old");
  AwaitEvents("add", 1);
  EXPECT_TRUE(Sent().empty());
}

}  // namespace
}  // namespace kubexx::reloader
