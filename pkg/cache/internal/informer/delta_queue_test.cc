#include "kubexx/cache/internal/informer/delta_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::cache {
namespace {

Delta Upsert(const std::string& name, std::size_t bytes = 1) {
  const std::string raw(bytes, 'x');
  return UpsertDelta{*Entry::New({.key = {.name = name},
                                  .resource_version = "1",
                                  .terms = "",
                                  .encoding = codec::Encoding::kProtobuf,
                                  .raw_size = bytes,
                                  .content_hash = 0,
                                  .packed = raw})};
}

DeltaQueue::Options OneAtATime() { return {.max_batch = 1}; }

// Returns "0 1 2 " and so on up to `end` - 1.
std::string AllUpTo(int end) {
  std::string all;
  for (int i = 0; i < end; ++i) {
    all += std::to_string(i) + " ";
  }
  return all;
}

/// Takes deltas as an informer's distribution does: when it has been woken, it takes deltas until
/// none is left.
class Consumer {
 public:
  std::function<void()> Wake() {
    return [this] {
      const base::MutexLock lock(mu_);
      is_woken_ = true;
      changed_.notify_all();
    };
  }
  std::optional<DeltaBatch> Take(DeltaQueue& queue) {
    while (true) {
      if (looks_) {
        if (auto batch = queue.Pop()) {
          return batch;
        }
      }
      const base::MutexLock lock(mu_);
      KX_AWAIT_CHANGE(changed_, mu_, is_woken_);
      is_woken_ = false;
      looks_ = true;
    }
  }

 private:
  bool looks_ = false;
  base::Mutex mu_;
  base::CondVar changed_;
  bool is_woken_ KX_GUARDED_BY(mu_) = false;
};

// Returns the names in a batch.
std::string NameOf(const std::optional<DeltaBatch>& batch) {
  std::string names;
  if (batch) {
    for (const Delta& delta : batch->deltas) {
      names += (names.empty() ? "" : " ") + std::string(std::get<UpsertDelta>(delta).entry->name());
    }
  }
  return names;
}

TEST(DeltaQueueTest, ChangesComeInBatchesAndTheRestAlone) {
  base::testing::FakeClock clock;
  DeltaQueue queue({.clock = clock, .max_batch = 3});
  ASSERT_TRUE(queue.Push(Upsert("a")));
  clock.Advance(std::chrono::seconds(5));
  for (const char* name : {"b", "a", "c"}) {
    ASSERT_TRUE(queue.Push(Upsert(name)));
  }
  ASSERT_TRUE(queue.Push(ResyncDelta{}));
  ASSERT_TRUE(queue.Push(BookmarkDelta{"7", ""}));
  ASSERT_TRUE(queue.Push(Upsert("d")));
  const auto first = queue.Pop();
  EXPECT_EQ(NameOf(first), "a b a");
  EXPECT_EQ(first->queued, clock.Now() - std::chrono::seconds(5));
  EXPECT_EQ(NameOf(queue.Pop()), "c");
  EXPECT_TRUE(std::holds_alternative<ResyncDelta>(queue.Pop()->deltas.front()));
  EXPECT_TRUE(std::holds_alternative<Rare<BookmarkDelta>>(queue.Pop()->deltas.front()));
  EXPECT_EQ(NameOf(queue.Pop()), "d");
}

TEST(DeltaQueueTest, KeepsOrder) {
  DeltaQueue queue(OneAtATime());
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(queue.Push(Upsert(std::to_string(i))).has_value());
  }
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(NameOf(queue.Pop()), std::to_string(i));
  }
}

TEST(DeltaQueueTest, AFullQueueHoldsTheProducerBack) {
  metrics::Registry registry;
  const metrics::Gauge queued = registry.Gauge("queued", "");
  for (const auto& [max_deltas, max_bytes] : {std::pair<std::size_t, std::size_t>{2, 1 << 20},
                                              std::pair<std::size_t, std::size_t>{1000, 2500}}) {
    Consumer consumer;
    DeltaQueue queue({.max_deltas = max_deltas,
                      .max_bytes = max_bytes,
                      .max_batch = 1,
                      .queued = queued,
                      .wake = consumer.Wake()});
    std::atomic<int> pushed = 0;
    std::jthread producer([&queue, &pushed] {
      for (int i = 0; i < 50; ++i) {
        ASSERT_TRUE(queue.Push(Upsert(std::to_string(i), 1000)).has_value());
        ++pushed;
      }
    });
    for (int i = 0; i < 50; ++i) {
      EXPECT_EQ(NameOf(consumer.Take(queue)), std::to_string(i));
      EXPECT_LE(pushed.load(), i + 1 + 3);
      EXPECT_LE(queued.Value(), 2);
    }
  }
}

TEST(DeltaQueueTest, SomeAreTakenAfterAFlushAPushOrWhenItIsFull) {
  Consumer consumer;
  DeltaQueue queue({.max_deltas = 2, .max_batch = 10, .wake = consumer.Wake()});
  std::jthread producer([&queue] {
    // There are more deltas than the queue has room for, so that the consumer has to be woken
    // without a Flush.
    for (int i = 0; i < 51; ++i) {
      ASSERT_TRUE(queue.PushSome(Upsert(std::to_string(i))).has_value());
    }
    queue.Flush();
    ASSERT_TRUE(queue.PushSome(Upsert("51")).has_value());
    ASSERT_TRUE(queue.Push(Upsert("52")).has_value());
    queue.Flush();  // Nothing to do.
  });
  std::string taken;
  while (taken.size() < AllUpTo(53).size()) {
    taken += NameOf(consumer.Take(queue)) + " ";
  }
  EXPECT_EQ(taken, AllUpTo(53));
}

TEST(DeltaQueueTest, WakesForAWholeBatchAndOnceForEachFlush) {
  int wakes = 0;
  DeltaQueue queue({.max_batch = 3, .wake = [&wakes] { ++wakes; }});
  queue.Flush();
  EXPECT_EQ(wakes, 0) << "there is nothing to take";
  for (const char* name : {"a", "b"}) {
    ASSERT_TRUE(queue.PushSome(Upsert(name)));
  }
  EXPECT_EQ(wakes, 0);
  for (const char* name : {"c", "d"}) {
    ASSERT_TRUE(queue.PushSome(Upsert(name)));
  }
  EXPECT_EQ(wakes, 1);
  queue.Flush();
  EXPECT_EQ(wakes, 2);
  EXPECT_TRUE(queue.Pop()->more);
  EXPECT_FALSE(queue.Pop()->more);
  EXPECT_FALSE(queue.Pop()) << "nothing is left";
}

TEST(DeltaQueueTest, OneLargeDeltaPasses) {
  DeltaQueue queue({.max_bytes = 100});
  ASSERT_TRUE(queue.Push(Upsert("large", 10000)).has_value());
  EXPECT_EQ(NameOf(queue.Pop()), "large");
}

TEST(DeltaQueueTest, CloseEndsWaitsAndOpenBeginsEmpty) {
  DeltaQueue queue({.max_deltas = 1});
  ASSERT_TRUE(queue.Push(Upsert("a")).has_value());
  std::jthread producer([&queue] {
    const auto result = queue.Push(Upsert("b"));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().reason, apimachinery::Reason::kCancelled);
  });
  queue.Close();
  producer.join();
  EXPECT_FALSE(queue.Pop().has_value());
  queue.Open();
  ASSERT_TRUE(queue.Push(Upsert("c")).has_value());
  EXPECT_EQ(NameOf(queue.Pop()), "c");
}

TEST(DeltaQueueTest, WakeNeverWaits) {
  DeltaQueue queue({.max_deltas = 1});
  ASSERT_TRUE(queue.Push(Upsert("a")).has_value());
  queue.Wake();
  EXPECT_EQ(NameOf(queue.Pop()), "a");
  EXPECT_TRUE(std::holds_alternative<WakeDelta>(queue.Pop()->deltas.front()));
}

}  // namespace
}  // namespace kubexx::cache
