// Tests the queue against a model that is simple enough to be seen correct, and tests its promises
// with several threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/workqueue/queue.h"

namespace kubexx::workqueue {
namespace {

using std::chrono::milliseconds;

Key K(std::size_t i) { return {"", {"ns", std::to_string(i)}}; }

/// Does what the queue promises, without any optimisation.
class Model {
 public:
  void Add(const Key& key) {
    if (!shut_down_ && dirty_.insert(key).second && !processing_.contains(key)) {
      ready_.push_back(key);
    }
  }
  void AddAfter(const Key& key, milliseconds delay) {
    if (shut_down_) {
      return;
    }
    if (delay <= milliseconds(0)) {
      Add(key);
      return;
    }
    const auto found = std::ranges::find(delayed_, key, &Entry::key);
    const Entry entry{now_ + delay, next_++, key};
    if (found == delayed_.end()) {
      delayed_.push_back(entry);
    } else if (entry.at < found->at) {
      *found = entry;
    }
  }
  void Advance(milliseconds d) {
    now_ += d;
    std::ranges::sort(delayed_, {}, [](const Entry& e) { return std::pair(e.at, e.order); });
    while (!delayed_.empty() && delayed_.front().at <= now_) {
      const Key key = delayed_.front().key;
      delayed_.pop_front();
      Add(key);
    }
  }
  std::optional<Key> Get() {
    if (ready_.empty()) {
      return std::nullopt;
    }
    const Key key = ready_.front();
    ready_.pop_front();
    dirty_.erase(key);
    processing_.insert(key);
    return key;
  }
  void Done(const Key& key) {
    if (processing_.erase(key) > 0 && dirty_.contains(key)) {
      ready_.push_back(key);
    }
  }
  void ShutDown() {
    shut_down_ = true;
    delayed_.clear();
  }
  std::size_t Len() const { return ready_.size(); }
  bool shut_down() const { return shut_down_; }

 private:
  struct Entry {
    milliseconds at;
    std::size_t order;
    Key key;
  };
  milliseconds now_{0};
  std::size_t next_ = 0;
  bool shut_down_ = false;
  std::deque<Key> ready_;
  std::deque<Entry> delayed_;
  std::set<Key> dirty_;
  std::set<Key> processing_;
};

class QueueModelTest : public ::testing::TestWithParam<unsigned> {};

TEST_P(QueueModelTest, RandomCallsBehaveAsTheModel) {
  constexpr std::size_t kKeys = 12;
  constexpr int kSteps = 3000;
  std::mt19937 random(GetParam());
  const auto pick = [&random](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  base::testing::FakeClock clock;
  metrics::Registry registry;
  Queue queue({.name = "q", .clock = clock, .registry = &registry});
  std::map<Key, Queue::Item> working;
  Model model;
  for (int step = 0; step < kSteps; ++step) {
    const Key key = K(pick(kKeys));
    switch (pick(10)) {
      case 0:
      case 1:
      case 2:
        queue.Add(key);
        model.Add(key);
        break;
      case 3:
      case 4: {
        const milliseconds delay(static_cast<int>(pick(50)) - 5);
        queue.AddAfter(key, delay);
        model.AddAfter(key, delay);
        break;
      }
      case 5:
      case 6:
        if (const auto expected = model.Get()) {
          Queue::Item item = queue.Get();
          ASSERT_EQ(*item, *expected) << "step " << step;
          working[*expected] = std::move(item);
        }
        break;
      case 7:
      case 8:
        working.erase(key);
        model.Done(key);
        break;
      default: {
        // The delay thread works at its own pace. A new key that is due at the same time is handled
        // last, so it shows that the thread has handled the others.
        const milliseconds d(1 + static_cast<int>(pick(20)));
        const Key mark = K(1000 + static_cast<std::size_t>(step));
        queue.AddAfter(mark, d);
        model.AddAfter(mark, d);
        clock.Advance(d);
        model.Advance(d);
        KX_AWAIT_EQ(queue.Len(), model.Len());
        break;
      }
    }
    ASSERT_EQ(queue.Len(), model.Len()) << "step " << step;
    if (step == kSteps - 200) {
      queue.ShutDown();
      model.ShutDown();
    }
  }
  while (const auto expected = model.Get()) {
    working[*expected] = queue.Get();
    ASSERT_EQ(*working[*expected], *expected);
  }
  EXPECT_EQ(queue.Len(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, QueueModelTest, ::testing::Range(1U, 21U));

/// Producers raise a key's version and add the key. Workers record the version that they see. Each
/// key is processed by one worker at a time, and the last version of each is seen.
TEST(QueueThreadsTest, SingleFlightAndNothingLost) {
  constexpr std::size_t kKeys = 16;
  constexpr int kProducers = 4;
  constexpr int kWorkers = 4;
  constexpr int kAdds = 3000;
  struct Slot {
    std::atomic<int> version = 0;
    std::atomic<int> seen = 0;
    std::atomic<bool> busy = false;
  };
  std::array<Slot, kKeys> slots;
  std::atomic<int> overlaps = 0;
  Queue queue({});
  std::vector<std::jthread> workers;
  for (int w = 0; w < kWorkers; ++w) {
    workers.emplace_back([&] {
      for (auto item = queue.Get(); item; item = queue.Next(std::move(item))) {
        Slot& slot = slots.at(std::stoul(item->object.name));
        overlaps += slot.busy.exchange(true) ? 1 : 0;
        slot.seen = slot.version.load();
        slot.busy = false;
      }
    });
  }
  {
    std::vector<std::jthread> producers;
    for (int p = 0; p < kProducers; ++p) {
      producers.emplace_back([&, p] {
        std::mt19937 random(static_cast<unsigned>(p));
        for (int i = 0; i < kAdds; ++i) {
          const std::size_t k = random() % kKeys;
          ++slots.at(k).version;
          if (i % 8 == 0) {
            queue.AddAfter(K(k), std::chrono::microseconds(random() % 200));
            queue.Add(K(k));
          } else {
            queue.Add(K(k));
          }
        }
      });
    }
  }
  queue.ShutDownWithDrain();
  workers.clear();
  EXPECT_EQ(overlaps, 0);
  for (const Slot& slot : slots) {
    EXPECT_EQ(slot.seen, slot.version);
  }
}

/// Workers that stop at any moment, while new ones start, never leave a key behind.
TEST(QueueThreadsTest, StoppingWorkersLoseNoKey) {
  constexpr int kRounds = 300;
  Queue queue({});
  std::atomic<int> worked = 0;
  const auto work = [&](const std::stop_token& stop) {
    while (const auto item = queue.Get(stop)) {
      ++worked;
    }
  };
  std::jthread steady(work);
  for (int round = 0; round < kRounds; ++round) {
    std::jthread passing(work);
    queue.Add(K(static_cast<std::size_t>(round)));
    passing.request_stop();
  }
  KX_AWAIT_GE(worked, kRounds);
  EXPECT_EQ(worked, kRounds);
}

}  // namespace
}  // namespace kubexx::workqueue
