#include "kubexx/reloader/webhook_relay.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/cache/shared_informer.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/codec/codec.h"
#include "kubexx/reloader/digest.h"

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
    const auto& source = other_ && ns == "other" ? other_ : config_maps_;
    source->PutObject({.encoding = codec::Encoding::kJson,
                       .bytes = codec::EncodeJson(object),
                       .key = {ns, name}});
  }
  void Start(WebhookRelay::Options options) {
    InformerSet set;
    const cache::InformerOptions of_config_maps{.transform =
                                                    TransformFor(SourceType::kConfigMap, {})};
    if (other_) {
      set.namespaces = {"ns", "other"};
      set.sources[SourceType::kConfigMap] =
          std::make_shared<cache::SharedInformer<core::ConfigMap>>(
              std::vector<cache::NamespacedSource>{{"ns", config_maps_}, {"other", other_}},
              of_config_maps);
    } else {
      set.sources[SourceType::kConfigMap] =
          std::make_shared<cache::SharedInformer<core::ConfigMap>>(config_maps_, of_config_maps);
    }
    if (secrets_) {
      set.sources[SourceType::kSecret] = std::make_shared<cache::SharedInformer<core::Secret>>(
          secrets_, cache::InformerOptions{.transform = TransformFor(SourceType::kSecret, {})});
      set.refused[SourceType::kSecret] = secrets_refused_.get_token();
    }
    std::vector<InformerSet> sets;
    sets.push_back(std::move(set));
    options.registry = &registry_;
    relay_ = std::make_unique<WebhookRelay>(std::move(options), std::move(sets), *sender_);
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
  double Updates() {
    return registry_
        .Counter("reloader_events_processed_total",
                 "Events of sources that have been worked through.",
                 {{"event_type", "update"}, {"resource_type", "configmaps"}, {"result", "success"}})
        .Value();
  }
  std::vector<std::string> Sent() {
    relay_->Stop();
    const base::MutexLock lock(mu_);
    return sent_;
  }
  /// Blocks until so many calls have been made.
  void AwaitSent(std::size_t n) {
    const base::MutexLock lock(mu_);
    while (sent_.size() < n) {
      changed_.wait(mu_);
    }
  }
  /// A process with the store, from its start to its end; `then` runs in between.
  void Run(const std::function<void()>& then = {}) {
    relay_.reset();  // which stops its sender
    sender_ = NewSender();
    Start({.gate = gate_, .store = Store(), .clock = clock_});
    clock_.AwaitSleepers(1);  // it has compared
    if (then) {
      then();
    }
    relay_->Stop();
  }
  WebhookStore Store() {
    return {.own = {"own", "record"},
            .load = [this](const std::stop_token&) -> apimachinery::Result<std::string> {
              return stored_;
            },
            .save = [this](const std::string& text,
                           const std::stop_token&) -> apimachinery::Result<void> {
              stored_ = text;
              return {};
            }};
  }
  std::unique_ptr<MessageSender> NewSender() {
    return std::make_unique<MessageSender>(
        MessageSender::Options{.name = "webhook",
                               .accepts = [](int status) { return status < 300; },
                               .queue_size = queue_size_,
                               // The end of a run loses no message to a slow machine.
                               .flush_limit = std::chrono::minutes(1)},
        [this](const Message& message, const std::stop_token&) -> apimachinery::Result<int> {
          const base::MutexLock lock(mu_);
          sent_.push_back(message.content_type + " " + message.body);
          changed_.notify_all();
          while (is_blocked_) {
            changed_.wait(mu_);
          }
          return answer_;
        });
  }
  void Block(bool is_blocked) {
    const base::MutexLock lock(mu_);
    is_blocked_ = is_blocked;
    changed_.notify_all();
  }
  /// Of all that is asked of the source.
  static void Refuse(cache::testing::FakeSource& source, int times = 1'000'000) {
    const apimachinery::Status forbidden(apimachinery::Reason::kForbidden, "no right");
    source.FailLists(forbidden, times);
    source.FailWatches(forbidden, times);
  }

  void Answer(int status) {
    const base::MutexLock lock(mu_);
    answer_ = status;
  }
  std::size_t Calls() {
    const base::MutexLock lock(mu_);
    return sent_.size();
  }

  metrics::Registry registry_;
  base::Mutex mu_;
  std::vector<std::string> sent_ KX_GUARDED_BY(mu_);
  base::CondVar changed_;
  int answer_ KX_GUARDED_BY(mu_) = 200;
  bool is_blocked_ KX_GUARDED_BY(mu_) = false;
  std::size_t queue_size_ = 1000;
  std::string stored_;
  base::testing::FakeClock clock_;
  std::unique_ptr<MessageSender> sender_ = NewSender();
  std::shared_ptr<cache::testing::FakeSource> config_maps_ =
      std::make_shared<cache::testing::FakeSource>();
  /// When set, ConfigMaps are watched in "ns" and "other", which has these.
  std::shared_ptr<cache::testing::FakeSource> other_;
  /// When set, Secrets are watched.
  std::shared_ptr<cache::testing::FakeSource> secrets_;
  std::stop_source secrets_refused_;
  /// When set, of the relay; outlives it.
  ShardGate* gate_ = nullptr;
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

TEST_F(WebhookRelayTest, WhatTheOperatorWritesItselfIsNotToldOf) {
  Put("reloader-meta-info", "old", "", "own");
  Put("record", "old", "", "own");
  Put("reloader-meta-info", "old");
  Start({.on_create = true, .store = Store(), .clock = clock_});
  AwaitEvents("add", 3);
  Put("reloader-meta-info", "new", "", "own");
  Put("record", "new", "", "own");
  Put("reloader-meta-info", "new");
  AwaitEvents("update", 3);
  EXPECT_EQ(Sent().size(), 1U) << "of another namespace: it is somebody's own";
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

TEST_F(WebhookRelayTest, AChangeMadeWhileDownIsCalledForOnce) {
  Put("config", "old");
  Run();
  EXPECT_EQ(Calls(), 0U) << "a first sight";
  Put("config", "new");
  Run([this] { AwaitSent(1); });
  Run();
  EXPECT_EQ(Calls(), 1U);
}

TEST_F(WebhookRelayTest, AChangeWhoseCallFailedIsCalledForAfterARestart) {
  Put("config", "old");
  Answer(404);
  Run([this] {
    Put("config", "new");
    AwaitSent(1);
  });
  Answer(200);
  Run([this] { AwaitSent(2); });
  Run();
  EXPECT_EQ(Calls(), 2U);
}

TEST_F(WebhookRelayTest, AChangeWhoseCallFailedIsCalledForLater) {
  Put("config", "old");
  Answer(404);
  Run([this] {
    Put("config", "new");
    AwaitSent(1);
    Answer(200);
    while (Calls() < 2) {  // the sender may yet have to say that the first call failed
      clock_.AwaitSleepers(1);
      clock_.Advance(std::chrono::seconds(5));
    }
  });
  Run();
  EXPECT_EQ(Calls(), 2U);
}

TEST_F(WebhookRelayTest, AChangeWithoutTheLeaseIsCalledForWhenItIsBack) {
  for (const bool is_lost : {true, false}) {
    ShardGate gate(1);
    std::atomic<bool> holds = true;
    const auto open = [&] { gate.Open(0, [&holds] { return holds.load(); }); };
    open();
    gate_ = &gate;
    stored_.clear();
    Put("config", "old");
    const double updates = Updates();
    const std::size_t calls = Calls();
    Run([&] {
      holds = false;
      if (is_lost) {
        gate.Close(0, base::Duration(0));
      }
      Put("config", "new");
      AwaitEvents("update", updates + 1);
      holds = true;
      if (is_lost) {
        open();
      }
      clock_.Advance(std::chrono::seconds(5));
      AwaitSent(calls + 1);
    });
    relay_.reset();
    config_maps_->Delete({"ns", "config"});
  }
}

TEST_F(WebhookRelayTest, WhatAnotherReplicaHasKeptMeanwhileIsNotWrittenOver) {
  ShardGate gate(1);
  gate.Open(0);
  gate_ = &gate;
  Put("config", "old");
  Put("other", "old");
  WebhookRecord expected(clock_);
  Run([&] {
    gate.Close(0, base::Duration(0));
    expected.Load(stored_);
    expected.Note({SourceType::kConfigMap, {"ns", "config"}}, DigestOf("key=new"));
    ASSERT_NE(expected.Text(), stored_);
    stored_ = expected.Text();
    Put("config", "new");
    Put("other", "new");
    AwaitEvents("update", 2);
    gate.Open(0);
    clock_.Advance(std::chrono::seconds(5));
    AwaitSent(1);
  });
  EXPECT_EQ(Calls(), 1U);
  expected.Note({SourceType::kConfigMap, {"ns", "other"}}, DigestOf("key=new"));
  EXPECT_EQ(stored_, expected.Text());
  relay_.reset();
}

TEST_F(WebhookRelayTest, ACallThatTheQueueHasNoRoomForIsMadeLater) {
  queue_size_ = 1;
  for (const char* name : {"a", "b", "c"}) {
    Put(name, "old");
  }
  Block(true);
  Run([this] {
    Put("a", "new");
    AwaitSent(1);
    Put("b", "new");
    Put("c", "new");
    AwaitEvents("update", 3);
    Block(false);
    AwaitSent(2);
    clock_.AwaitSleepers(1);
    clock_.Advance(std::chrono::minutes(1));
    AwaitSent(3);
  });
}

TEST_F(WebhookRelayTest, ATypeThatIsRefusedKeepsNoOtherFromBeingCompared) {
  Put("config", "old");
  Run();
  Put("config", "new");
  secrets_ = std::make_shared<cache::testing::FakeSource>();
  Refuse(*secrets_);
  secrets_refused_.request_stop();
  Run([this] { AwaitSent(1); });
}

TEST_F(WebhookRelayTest, WhatMayNotBeReadForAWhileIsComparedWhenItMay) {
  other_ = std::make_shared<cache::testing::FakeSource>();
  Put("config", "old", "", "other");
  Run();
  const std::string stored = stored_;
  Refuse(*other_);
  Run();
  ASSERT_EQ(stored_, stored) << "it is not known to be gone";
  Put("config", "new", "", "other");
  Run([this] {
    EXPECT_EQ(Calls(), 0U);
    Refuse(*other_, 0);
    while (Calls() < 1) {
      clock_.AwaitSleepers(1);
      clock_.Advance(std::chrono::seconds(5));
    }
  });
  Run();
  EXPECT_EQ(Calls(), 1U);
}

TEST_F(WebhookRelayTest, ItsOwnRecordIsNoSource) {
  Put("record", "old", "", "own");
  Put("config", "old");
  Run([this] { Put("record", "new", "", "own"); });
  Put("record", "newer", "", "own");
  Run();
  EXPECT_EQ(Calls(), 0U);
}

TEST_F(WebhookRelayTest, WhatIsGoneIsForgottenAndComesAgainAsNew) {
  Put("config", "old");
  Run();
  EXPECT_FALSE(stored_.empty());
  config_maps_->Delete({"ns", "config"});
  Run();
  EXPECT_TRUE(stored_.empty());
  Put("config", "new");
  Run();
  EXPECT_EQ(Calls(), 0U);
}

TEST(WebhookRecord, KeepsABoundedNumberAndReadsWhatItWrites) {
  base::testing::FakeClock clock;
  WebhookRecord record(clock);
  for (std::size_t i = 0; i < WebhookRecord::kMaxEntries + 10; ++i) {
    record.Note({SourceType::kSecret, {"ns", std::to_string(i)}}, DigestOf(std::to_string(i)));
  }
  const std::string text = record.Text();
  EXPECT_EQ(text.size(), WebhookRecord::kMaxEntries * 33);
  WebhookRecord other(clock);
  other.Load("mangled\n" + text);
  EXPECT_EQ(other.Text(), text);
  EXPECT_FALSE(other.TakeChanged());
}

TEST_F(WebhookRelayTest, ALabelThatGoesOrComesIsNoDeletionAndNoCreation) {
  SourceAbsences absences(
      {.has_selector = true, .exists = [](const SourceId& id, const std::stop_token&) {
         return apimachinery::Result<bool>(id.key.name == "unlabelled");
       }});
  Put("unlabelled", "1");
  Put("deleted", "1");
  Start({.on_create = true, .on_delete = true, .absences = &absences});
  AwaitEvents("add", 2);
  config_maps_->Delete({"ns", "unlabelled"});  // so a watch with a selector tells of it
  config_maps_->Delete({"ns", "deleted"});
  AwaitEvents("delete", 2);
  Put("unlabelled", "1");  // without fields that are as old as it
  AwaitEvents("add", 3);
  EXPECT_EQ(Sent().size(), 1U);
}

}  // namespace
}  // namespace kubexx::reloader
