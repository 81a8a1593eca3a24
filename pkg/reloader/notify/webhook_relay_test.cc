#include "kubexx/reloader/notify/webhook_relay.h"

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
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/codec/codec.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/testing/new_informer.h"

namespace kubexx::reloader {
namespace {

namespace core = api::core::v1;

/// The content type of a message that no test counts. It shows how far the sender has come.
constexpr const char* kMark = "mark";

/// Tells HeldShards whether a Lease is held, and can make a caller wait. The caller is a handler,
/// so that an event waits, or the keeper, between reading the sources and using them.
class SlowLease {
 public:
  bool Ask() {
    const base::MutexLock lock(mu_);
    if (++asked_ != slow_) {
      return true;
    }
    waits_ = true;
    KX_AWAIT_CHANGE(changed_, mu_, !waits_);
    return answer_;
  }
  /// Makes the n-th caller from now on wait.
  void Keep(int n) {
    const base::MutexLock lock(mu_);
    asked_ = 0;
    slow_ = n;
  }
  bool keeps() {
    const base::MutexLock lock(mu_);
    return waits_;
  }
  void Await() { KX_AWAIT(keeps()); }
  void LetGo(bool answer = true) {
    const base::MutexLock lock(mu_);
    answer_ = answer;
    waits_ = false;
    changed_.notify_all();
  }

 private:
  base::Mutex mu_;
  base::CondVar changed_;
  int asked_ KX_GUARDED_BY(mu_) = 0;
  int slow_ KX_GUARDED_BY(mu_) = 0;
  bool waits_ KX_GUARDED_BY(mu_) = false;
  bool answer_ KX_GUARDED_BY(mu_) = true;
};

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
      set.sources[SourceType::kConfigMap] = NewTestInformer(
          std::vector<cache::NamespacedSource>{{"ns", config_maps_}, {"other", other_}},
          of_config_maps);
    } else {
      set.sources[SourceType::kConfigMap] = NewTestInformer(config_maps_, of_config_maps);
    }
    if (secrets_) {
      set.sources[secrets_type_] = NewTestInformer(
          secrets_, cache::InformerOptions{.transform = TransformFor(SourceType::kSecret, {})});
      set.refused[secrets_type_] = secrets_refused_.get_token();
    }
    std::vector<InformerSet> sets;
    sets.push_back(std::move(set));
    options.registry = &registry_;
    relay_ = std::make_unique<WebhookRelay>(std::move(options), std::move(sets), *sender_);
    relay_->Start();
  }
  /// Waits until the relay has handled `n` events of this type.
  void AwaitEvents(const char* type, double n) {
    const auto processed = registry_.Counter(
        "reloader_events_processed_total", "Events of sources that have been worked through.",
        {{"event_type", type}, {"resource_type", "configmaps"}, {"result", "success"}});
    KX_AWAIT_GE(processed.Value(), n);
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
  /// Blocks until this many calls of the webhook have been made.
  void AwaitSent(std::size_t n,
                 const base::testing::Where& where = base::testing::Where::current()) {
    const base::MutexLock lock(mu_);
    base::testing::Patience patience(base::testing::Shown(n) + " calls", where);
    while (sent_.size() < n) {
      patience.Wait(changed_, mu_, sent_);
    }
  }
  /// Runs a process with the store from its start to its end. `then` runs in between.
  void Run(const std::function<void()>& then = {}) {
    Begin();
    clock_.AwaitSleepers(1);  // it has compared by then
    if (then) {
      then();
    }
    relay_->Stop();
  }
  /// Starts a process with the store.
  void Begin() {
    relay_.reset();  // this also stops its sender
    sender_ = NewSender();
    Start({.held_shards = held_, .store = Store(), .clock = clock_});
  }
  /// Waits until it has begun to load the record.
  void AwaitLoaded(const base::testing::Where& where = base::testing::Where::current()) {
    const base::MutexLock lock(mu_);
    base::testing::Patience patience("loads_", where);
    while (!loads_) {
      patience.Wait(changed_, mu_);
    }
  }
  /// Starts a process that begins to load its record. `then` runs before the record is loaded.
  void RunAndLoadLate(const std::function<void()>& then) {
    Block(false, &loads_);
    Block(true, &loads_slowly_);
    Begin();
    AwaitLoaded();
    then();
    Block(false, &loads_slowly_);
    clock_.AwaitSleepers(1);
  }
  /// Lets time pass until the keeper compares, and makes it wait when it has read the sources.
  void AwaitCompare(SlowLease& lease) {
    clock_.AwaitSleepers(1);
    KX_UNTIL(lease.keeps()) {
      lease.Keep(2);  // it asks for its term, and then for each source that it has read
      clock_.Advance(std::chrono::seconds(5));
      KX_AWAIT(clock_.Sleepers() != 0 || lease.keeps());
    }
  }
  /// Returns the HeldShards, with a Lease that may be slow.
  std::unique_ptr<HeldShards> OpenShard(SlowLease& lease) {
    auto held = std::make_unique<HeldShards>(1);
    held->Open(0, [&lease] { return lease.Ask(); });
    held_ = held.get();
    return held;
  }
  /// Waits until this many calls have been made. There must not be more.
  void LetTimePass(std::size_t calls) {
    KX_UNTIL(Calls() >= calls) {
      clock_.AwaitSleepers(1);
      clock_.Advance(std::chrono::seconds(5));
      clock_.AwaitSleepers(1);
      AwaitDelivered();
    }
    clock_.AwaitSleepers(1);
    AwaitDelivered();
    EXPECT_EQ(Calls(), calls);
  }
  /// Waits until the relay knows how each call ended that has been requested so far.
  void AwaitDelivered() {
    std::atomic<bool> is_known = false;
    sender_->Send({kMark, ""}, [&is_known](bool) { is_known = true; });
    KX_AWAIT(is_known);
  }
  WebhookStore Store() {
    return {.own = {"own", "record"},
            .load = [this](const std::stop_token&) -> apimachinery::Result<std::string> {
              const base::MutexLock lock(mu_);
              loads_ = true;
              changed_.notify_all();
              KX_AWAIT_CHANGE(changed_, mu_, !loads_slowly_);
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
                               // A slow machine must not lose a message at the end of a run.
                               .flush_limit = std::chrono::minutes(1)},
        [this](const Message& message, const std::stop_token&) -> apimachinery::Result<int> {
          if (message.content_type == kMark) {
            return 200;
          }
          const base::MutexLock lock(mu_);
          sent_.push_back(message.content_type + " " + message.body);
          changed_.notify_all();
          KX_AWAIT_CHANGE(changed_, mu_, !is_blocked_);
          return answer_;
        });
  }
  void Block(bool is_blocked, bool* what = nullptr) {
    const base::MutexLock lock(mu_);
    (what == nullptr ? is_blocked_ : *what) = is_blocked;
    changed_.notify_all();
  }
  /// Makes the source refuse all requests.
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
  bool loads_ = false;
  bool loads_slowly_ = false;
  std::size_t queue_size_ = 1000;
  std::string stored_;
  base::testing::FakeClock clock_;
  std::unique_ptr<MessageSender> sender_ = NewSender();
  std::shared_ptr<cache::testing::FakeSource> config_maps_ =
      std::make_shared<cache::testing::FakeSource>();
  /// When it is set, ConfigMaps are watched in "ns" and in "other", which has these.
  std::shared_ptr<cache::testing::FakeSource> other_;
  /// When set, Secrets are watched.
  SourceType secrets_type_ = SourceType::kSecret;  ///< of `secrets_`
  std::shared_ptr<cache::testing::FakeSource> secrets_;
  std::stop_source secrets_refused_;
  /// When it is set, the relay uses it. It outlives the relay.
  HeldShards* held_ = nullptr;
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
  HeldShards held(1);
  Start({.on_create = true, .held_shards = &held});
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
    // The sender may not have reported yet that the first call failed.
    KX_UNTIL(Calls() >= 2) {
      clock_.AwaitSleepers(1);
      clock_.Advance(std::chrono::seconds(5));
    }
  });
  Run();
  EXPECT_EQ(Calls(), 2U);
}

TEST_F(WebhookRelayTest, AChangeWithoutTheLeaseIsCalledForWhenItIsBack) {
  for (const bool is_lost : {true, false}) {
    HeldShards held(1);
    std::atomic<bool> holds = true;
    const auto open = [&] { held.Open(0, [&holds] { return holds.load(); }); };
    open();
    held_ = &held;
    stored_.clear();
    Put("config", "old");
    const double updates = Updates();
    const std::size_t calls = Calls();
    Run([&] {
      holds = false;
      if (is_lost) {
        held.Close(0, base::Duration(0));
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
  HeldShards held(1);
  held.Open(0);
  held_ = &held;
  Put("config", "old");
  Put("other", "old");
  WebhookRecord expected(clock_);
  Run([&] {
    held.Close(0, base::Duration(0));
    expected.Load(stored_);
    expected.Note(
        {.id = {SourceType::kConfigMap, {"ns", "config"}}, .digest = DigestOf("key=new")});
    ASSERT_NE(expected.Text(), stored_);
    stored_ = expected.Text();
    Put("config", "new");
    Put("other", "new");
    AwaitEvents("update", 2);
    held.Open(0);
    clock_.Advance(std::chrono::seconds(5));
    AwaitSent(1);
  });
  EXPECT_EQ(Calls(), 1U);
  expected.Note({.id = {SourceType::kConfigMap, {"ns", "other"}}, .digest = DigestOf("key=new")});
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
    KX_UNTIL(Calls() >= 1) {
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

TEST_F(WebhookRelayTest, AKindThatIsNeverInstalledKeepsNothingThatIsGone) {
  AddSourceKinds({{.group = "relay.example.com",
                   .version = "v1",
                   .kind = "RelayCertificate",
                   .resource = "relaycertificates",
                   .fields = {ObjectField::Parse("status.revision").value()}}});
  Put("config", "old");
  Run();
  EXPECT_FALSE(stored_.empty());
  config_maps_->Delete({"ns", "config"});
  secrets_type_ = TypeCalled(&SourceTypeNames::kind, "RelayCertificate").value();
  secrets_ = std::make_shared<cache::testing::FakeSource>();
  Refuse(*secrets_);
  secrets_refused_.request_stop();
  Run();
  EXPECT_TRUE(stored_.empty());
}

TEST(WebhookRecord, KeepsABoundedNumberAndReadsWhatItWrites) {
  base::testing::FakeClock clock;
  WebhookRecord record(clock);
  for (std::size_t i = 0; i < WebhookRecord::kMaxEntries + 10; ++i) {
    record.Note({.id = {SourceType::kSecret, {"ns", std::to_string(i)}},
                 .digest = DigestOf(std::to_string(i))});
  }
  const std::string text = record.Text();
  EXPECT_EQ(text.size(), WebhookRecord::kMaxEntries * 33);
  WebhookRecord other(clock);
  other.Load("mangled\n" + text);
  EXPECT_EQ(other.Text(), text);
  EXPECT_FALSE(other.TakeChanged());
}

TEST_F(WebhookRelayTest, AChangeThatIsComparedBeforeItsEventIsCalledForOnce) {
  SlowLease lease;
  const auto held = OpenShard(lease);
  Put("config", "old");
  Put("other", "old");
  Run([&] {
    Answer(404);
    Put("other", "new");
    AwaitSent(1);
    Answer(200);
    lease.Keep(1);
    Put("config", "new");
    lease.Await();
    LetTimePass(3);
    lease.LetGo();
    AwaitEvents("update", 2);
    LetTimePass(3);
  });
  Run();
  EXPECT_EQ(Calls(), 3U);
  relay_.reset();
}

TEST_F(WebhookRelayTest, AChangeThatIsFirstSeenBeforeItsEventIsCalledForUntilItIsDelivered) {
  for (const bool has_permit : {true, false}) {
    SlowLease lease;
    const auto held = OpenShard(lease);
    stored_.clear();
    Put("config", "old");
    const std::size_t calls = Calls();
    RunAndLoadLate([&] {
      lease.Keep(1);
      Put("config", "new");
      lease.Await();
    });
    Answer(404);
    lease.LetGo(has_permit);
    if (has_permit) {
      AwaitSent(calls + 1);
    }
    Answer(200);
    LetTimePass(calls + (has_permit ? 2 : 1));
    relay_.reset();
    config_maps_->Delete({"ns", "config"});
  }
}

TEST_F(WebhookRelayTest, WhatIsCalledForBeforeTheRecordIsLoadedIsPartOfIt) {
  Put("config", "old");
  Run();
  RunAndLoadLate([this] {
    Put("config", "new");
    AwaitSent(1);
    AwaitDelivered();
  });
  LetTimePass(1);
  relay_->Stop();
  stored_.clear();
  Answer(404);
  RunAndLoadLate([this] {
    Put("config", "newer");
    AwaitSent(2);
    AwaitDelivered();
  });
  Answer(200);
  LetTimePass(3);
}

TEST_F(WebhookRelayTest, WhatChangesWhileSourcesAreComparedIsNotTakenBack) {
  SlowLease lease;
  const auto held = OpenShard(lease);
  Put("config", "old");
  Put("other", "old");
  Run([&] {
    const double added =
        registry_
            .Counter(
                "reloader_events_processed_total",
                "Events of sources that have been worked through.",
                {{"event_type", "add"}, {"resource_type", "configmaps"}, {"result", "success"}})
            .Value();
    Answer(404);
    Put("other", "new");
    AwaitSent(1);
    Answer(200);
    AwaitCompare(lease);
    Put("config", "new");
    AwaitSent(2);
    Put("added", "first");
    AwaitEvents("add", added + 1);
    AwaitDelivered();
    lease.LetGo();
    LetTimePass(3);
  });
  EXPECT_EQ(stored_.size(), 3U * 33) << "what was added is known";
  Run();
  EXPECT_EQ(Calls(), 3U);
  relay_.reset();
}

TEST_F(WebhookRelayTest, WhatItMayNotCallForWhileItComparesIsNotForgotten) {
  SlowLease lease;
  const auto held = OpenShard(lease);
  Put("config", "old");
  Run([&] {
    Answer(404);
    Put("config", "new");
    AwaitSent(1);
    Answer(200);
    AwaitCompare(lease);
    lease.LetGo(false);
    LetTimePass(2);
  });
  relay_.reset();
}

TEST(WebhookRecord, FollowsAStoreThatIsRestored) {
  base::testing::FakeClock clock;
  WebhookRecord record(clock);
  SourceState source{
      .id = {SourceType::kSecret, {"ns", "a"}}, .digest = DigestOf("1"), .version = 9};
  ASSERT_TRUE(record.Begin(source));
  record.End(source, 0, true);
  source = {.id = source.id, .digest = DigestOf("2"), .version = 5};
  EXPECT_FALSE(record.Begin(source)) << "an event from before the call";
  record.Rewind(source.id);
  EXPECT_TRUE(record.Begin(source));
}

TEST(WebhookRecord, ACallForALaterStateIsTheOneThatCounts) {
  base::testing::FakeClock clock;
  WebhookRecord record(clock);
  const SourceId id{SourceType::kSecret, {"ns", "a"}};
  const SourceState a{.id = id, .digest = DigestOf("a"), .version = 1};
  const SourceState b{.id = id, .digest = DigestOf("b"), .version = 2};
  const SourceState again{.id = id, .digest = DigestOf("a"), .version = 3};
  record.Note(a);
  EXPECT_TRUE(record.Begin(b));
  EXPECT_TRUE(record.Begin(again)) << "who was told of b has to be told";
  record.End(b, 0, true);
  record.End(again, 0, false);
  EXPECT_EQ(record.Compare({again}, record.Mark()), std::vector{WebhookRecord::Finding::kChanged});
  EXPECT_TRUE(record.Begin(again));
  record.End(again, 0, true);
  EXPECT_EQ(record.Compare({again}, record.Mark()), std::vector{WebhookRecord::Finding::kSame});
  EXPECT_EQ(record.Compare({b}, record.Mark()), std::vector{WebhookRecord::Finding::kSame})
      << "read before";
}

// docs/reloader/behaviour.md states the limits of the record.
TEST(WebhookRecord, WhatItHasNoRoomForIsCalledForByEventsOnly) {
  base::testing::FakeClock clock;
  WebhookRecord record(clock);
  for (std::size_t i = 0; i < WebhookRecord::kMaxEntries; ++i) {
    record.Note({.id = {SourceType::kSecret, {"ns", std::to_string(i)}}, .version = 1});
  }
  SourceState beyond{
      .id = {SourceType::kSecret, {"ns", "beyond"}}, .digest = DigestOf("old"), .version = 2};
  const auto compare = [&] { return record.Compare({beyond}, std::nullopt).front(); };
  EXPECT_EQ(compare(), WebhookRecord::Finding::kFirst);
  beyond = {.id = beyond.id, .digest = DigestOf("new"), .version = 3};
  EXPECT_TRUE(record.Begin(beyond)) << "an event tells of it";
  record.End(beyond, 0, false);
  EXPECT_EQ(compare(), WebhookRecord::Finding::kFirst) << "that the call failed is not known";
  EXPECT_EQ(record.Text().size(), WebhookRecord::kMaxEntries * 33);
}

TEST_F(WebhookRelayTest, WithoutARecordWhatWasChangedWhileDownIsNotCalledFor) {
  HeldShards shards(2);  // so there are several replicas, and none has the whole record
  for (const int shard : {0, 1}) {
    shards.Open(shard);
  }
  std::size_t called = 0;
  double adds = 0;
  double updates = Updates();
  for (const bool has_shards : {false, true}) {
    for (const char* value : {"old", "changed while down"}) {
      Put("config", value);
      relay_.reset();
      sender_ = NewSender();
      Start({.held_shards = has_shards ? &shards : nullptr,
             .store = has_shards ? Store() : WebhookStore(),
             .clock = clock_});
      AwaitEvents("add", ++adds);
      Put("config", std::string(value) + ", and once more");
      AwaitEvents("update", ++updates);
      EXPECT_EQ(Sent().size(), ++called) << value << (has_shards ? ", shards" : "");
    }
  }
  EXPECT_EQ(stored_, "");
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
  config_maps_->Delete({"ns", "unlabelled"});  // a watch with a selector sends this event
  config_maps_->Delete({"ns", "deleted"});
  AwaitEvents("delete", 2);
  Put("unlabelled", "1");  // its managed fields are younger than it is
  AwaitEvents("add", 3);
  EXPECT_EQ(Sent().size(), 1U);
}

}  // namespace
}  // namespace kubexx::reloader
