#include "kubexx/cache/internal/informer/listener.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/executor/executor.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/cache/internal/informer/packed_event.h"
#include "kubexx/cache/internal/packed/packed_store.h"
#include "kubexx/cache/shared_informer.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::cache {
namespace {

class ListenerTest : public ::testing::Test {
 protected:
  EntryRef Put(const std::string& name) {
    const EntryRef entry = store_->Pack({.bytes = "x", .key = {"ns", name}}).value();
    store_->Put(entry);
    return entry;
  }
  std::shared_ptr<const Snapshot> Take(Snapshot::Kind kind) {
    return std::make_shared<const Snapshot>(store_, store_->Entries(), kind);
  }
  metrics::Gauge QueuedItems() {
    return registry_.Gauge("informer_handler_queued_items", "",
                           {{"name", "things"}, {"handler", "slow"}});
  }
  double Queued() { return QueuedItems().Value(); }
  std::unique_ptr<SharedInformerBase> NewInformer() {
    return std::make_unique<SharedInformerBase>(
        std::make_shared<testing::FakeSource>(),
        InformerOptions{.name = "things", .registry = &registry_});
  }

  metrics::Registry registry_;
  std::shared_ptr<PackedStore> store_ = std::make_shared<PackedStore>();
};

// The listener is not started, so its handler gets nothing.
TEST_F(ListenerTest, ResyncsDoNotPileUpBeforeASlowHandler) {
  Put("a");
  Put("b");
  Listener listener(std::make_shared<base::Executor>(),
                    {.informer = "things", .name = "slow", .registry = &registry_, .max_events = 8},
                    store_, [](const RawEvent&) {});
  std::vector<std::weak_ptr<const Snapshot>> held;
  for (int i = 0; i < 100; ++i) {
    const auto resync = Take(Snapshot::Kind::kResync);
    listener.PushSnapshot(resync);
    held.push_back(resync);
  }
  EXPECT_LE(Queued(), 8);
  std::size_t alive = 0;
  for (const auto& each : held) {
    alive += each.expired() ? 0 : 1;
  }
  EXPECT_LE(alive, 1U);
}

// This listener is not started either.
TEST_F(ListenerTest, WalksDoNotPileUpBehindAFullQueue) {
  const EntryRef a = Put("a");
  Put("b");
  for (const auto kind : {Snapshot::Kind::kResync, Snapshot::Kind::kInitialAdd}) {
    Listener listener(
        std::make_shared<base::Executor>(),
        {.informer = "things", .name = "slow", .registry = &registry_, .max_events = 8}, store_,
        [](const RawEvent&) {});
    const std::vector<std::shared_ptr<const PackedEvent>> events(
        8, std::make_shared<const PackedEvent>(store_, RawEvent::Type::kAdd, a, EntryRef(),
                                               RawEvent::Flags()));
    listener.Push(events);
    ASSERT_EQ(Queued(), 8);
    std::vector<std::weak_ptr<const Snapshot>> held;
    for (int i = 0; i < 100; ++i) {
      const auto walk = Take(kind);
      listener.PushSnapshot(walk);
      held.push_back(walk);
    }
    EXPECT_LE(Queued(), 8 + 2) << "one change for each object";
    for (const auto& each : held) {
      EXPECT_TRUE(each.expired());
    }
  }
}

// A metrics registry outlives its informers, but need not outlive their registrations.
TEST_F(ListenerTest, ARegistrationThatOutlivesItsInformerTouchesNoMetrics) {
  for (const bool started : {false, true}) {
    auto informer = NewInformer();
    HandlerRegistration registration = informer->AddRawHandler("slow", [](const RawEvent&) {});
    if (started) {
      informer->Start();
      ASSERT_TRUE(registration.WaitForSync(base::testing::PatienceEnd().token()));
    }
    informer.reset();
    QueuedItems().Set(7);  // by now the memory may belong to another metric, or may be freed
    registration.Reset();
    EXPECT_EQ(Queued(), 7) << "started: " << started;
  }
}

TEST_F(ListenerTest, WhatIsRemovedBeforeTheStartIsGone) {
  const auto informer = NewInformer();
  auto kept = std::make_shared<int>(0);
  const std::weak_ptr<int> captured = kept;
  HandlerRegistration registration =
      informer->AddRawHandler("slow", [kept = std::move(kept)](const RawEvent&) {});
  registration = {};
  EXPECT_TRUE(captured.expired());
}

}  // namespace
}  // namespace kubexx::cache
