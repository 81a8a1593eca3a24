// Tests a queue with debounced adds against a model that is simple enough to be seen correct.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/workqueue/queue.h"

namespace kubexx::workqueue {
namespace {

using std::chrono::milliseconds;

/// Does what the queue promises, without any optimisation. Times are relative to the start.
class DebounceModel {
 public:
  struct Adds {
    milliseconds first{0};
    std::optional<milliseconds> last{};
    milliseconds due{0};
  };
  struct Taken {
    Key key{};
    std::optional<Adds> settled{};
    bool settling = false;
  };

  void Add(const Key& key) {
    if (!shut_down_) {
      MakeReady(key, false);
    }
  }
  void AddAfter(const Key& key, milliseconds delay) {
    if (delay <= milliseconds(0)) {
      Add(key);
    } else if (State& state = keys_[key];
               !shut_down_ && !(state.delayed && state.delayed->at <= now_ + delay)) {
      state.delayed = {now_ + delay, next_++};
    }
  }
  void AddDebounced(const Key& key, const Debounce& debounce) {
    State& state = keys_[key];
    if (shut_down_ || (state.pending && !debounce.puts_off)) {
      return;
    }
    if (!std::exchange(state.pending, true)) {
      state.adds = {.first = now_, .due = now_};
    }
    if (debounce.puts_off) {
      state.adds.last = now_;
    }
    const auto window = std::chrono::duration_cast<milliseconds>(debounce.window);
    const milliseconds due =
        std::min(now_ + window, state.adds.first + debounce.max_windows * window);
    if (state.settles && state.settles->at >= due) {
      return;
    }
    if (due <= now_) {
      Settle(key, now_);
    } else {
      state.settles = {due, next_++};
    }
  }
  void EndWindows() {
    while (true) {
      const auto settling = NextSettling(now_ + std::chrono::hours(1));
      const auto put_back = NextPutBack();
      if (!settling && !put_back) {
        return;
      }
      if (settling && (!put_back || *keys_[*settling].settles < *keys_[*put_back].delayed)) {
        Settle(*settling, now_);
      } else {
        keys_[*put_back].delayed.reset();
        MakeReady(*put_back, false);
      }
    }
  }
  void Advance(milliseconds d) {
    now_ += d;
    while (true) {
      const auto settling = NextSettling(now_);
      const auto delayed = NextDelayed(now_);
      if (!settling && !delayed) {
        return;
      }
      if (settling && (!delayed || *keys_[*settling].settles < *keys_[*delayed].delayed)) {
        Settle(*settling, keys_[*settling].settles->at);
      } else {
        keys_[*delayed].delayed.reset();
        MakeReady(*delayed, false);
      }
    }
  }
  /// Whether Get returns a key. Otherwise it would wait.
  bool HasKey() const {
    return std::ranges::any_of(ready_, [this](const Key& key) { return !IsPutOff(key); });
  }
  Taken Get() {
    while (IsPutOff(ready_.front())) {
      keys_[ready_.front()].dirty = false;
      ready_.pop_front();
    }
    Taken taken{.key = ready_.front()};
    ready_.pop_front();
    State& state = keys_[taken.key];
    state.dirty = false;
    state.processing = true;
    taken.settling = state.settles.has_value();
    if (state.pending && !taken.settling) {
      taken.settled = state.adds;
      state.pending = false;
    }
    return taken;
  }
  void Done(const Key& key) {
    State& state = keys_[key];
    if (std::exchange(state.processing, false) && state.dirty) {
      ready_.push_back(key);
    }
  }
  void PutBack(const Taken& taken, milliseconds after) {
    State& state = keys_[taken.key];
    if (taken.settled) {
      if (!std::exchange(state.pending, true)) {
        state.adds = *taken.settled;
      } else {
        state.adds.first = std::min(state.adds.first, taken.settled->first);
        state.adds.last = state.adds.last ? state.adds.last : taken.settled->last;
      }
    }
    if (shut_down_ && taken.settled) {
      MakeReady(taken.key, false);
    } else {
      AddAfter(taken.key, after);
    }
    Done(taken.key);
  }
  void ShutDown() {
    shut_down_ = true;
    for (auto& [key, state] : keys_) {
      state.delayed.reset();
      state.settles.reset();
    }
  }
  std::size_t Len() const { return ready_.size(); }

 private:
  struct Time {
    milliseconds at{0};
    std::size_t order = 0;
    auto operator<=>(const Time&) const = default;
  };
  struct State {
    bool dirty = false;
    bool alone = false;
    bool processing = false;
    std::optional<Time> delayed{};
    bool pending = false;
    Adds adds{};
    std::optional<Time> settles{};
  };

  void MakeReady(const Key& key, bool debounced) {
    State& state = keys_[key];
    state.alone = debounced && (!state.dirty || state.alone);
    if (!std::exchange(state.dirty, true) && !state.processing) {
      ready_.push_back(key);
    }
  }
  void Settle(const Key& key, milliseconds due) {
    keys_[key].settles.reset();
    keys_[key].adds.due = due;
    MakeReady(key, true);
  }
  bool IsPutOff(const Key& key) const {
    const State& state = keys_.at(key);
    return state.alone && state.settles.has_value();
  }
  std::optional<Key> NextSettling(milliseconds until) const { return Next(until, &State::settles); }
  std::optional<Key> NextDelayed(milliseconds until) const { return Next(until, &State::delayed); }
  /// The next key that was put back with its debounced adds and waits only for its delay.
  std::optional<Key> NextPutBack() const {
    std::optional<Key> next;
    for (const auto& [key, state] : keys_) {
      if (state.pending && !state.settles && !state.dirty && state.delayed) {
        next = !next || *state.delayed < *keys_.at(*next).delayed ? key : *next;
      }
    }
    return next;
  }
  std::optional<Key> Next(milliseconds until, std::optional<Time> State::* time) const {
    std::optional<Key> next;
    for (const auto& [key, state] : keys_) {
      if (const auto& each = state.*time; each && each->at <= until) {
        next = !next || *each < *(keys_.at(*next).*time) ? key : *next;
      }
    }
    return next;
  }

  milliseconds now_{0};
  std::size_t next_ = 0;
  bool shut_down_ = false;
  std::map<Key, State> keys_;
  std::deque<Key> ready_;
};

class QueueDebounceModelTest : public ::testing::TestWithParam<unsigned> {
 protected:
  std::size_t Pick(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
  }
  static Key Of(std::size_t i) { return {"", {"ns", std::to_string(i)}}; }

  void Add() {
    const Key key = Of(Pick(kKeys));
    const milliseconds delay(static_cast<int>(Pick(50)) - 5);
    queue_.AddAfter(key, delay);
    model_.AddAfter(key, delay);
  }
  void AddDebounced() {
    const Key key = Of(Pick(kKeys));
    const Debounce debounce{.window = milliseconds(Pick(30)),
                            .max_windows = static_cast<int>(1 + Pick(4)),
                            .puts_off = Pick(3) > 0};
    queue_.AddDebounced(key, debounce);
    model_.AddDebounced(key, debounce);
  }
  void Take() {
    if (!model_.HasKey()) {
      return;
    }
    const DebounceModel::Taken expected = model_.Get();
    Queue::Item item = queue_.Get();
    ASSERT_EQ(*item, expected.key);
    ASSERT_EQ(item.settling(), expected.settling);
    ASSERT_EQ(item.settled() != nullptr, expected.settled.has_value());
    if (expected.settled) {
      ASSERT_EQ(item.settled()->first, begin_ + expected.settled->first);
      ASSERT_EQ(item.settled()->due, begin_ + expected.settled->due);
      ASSERT_EQ(item.settled()->last, expected.settled->last
                                          ? std::optional(begin_ + *expected.settled->last)
                                          : std::nullopt);
    }
    working_.insert_or_assign(expected.key, std::pair(std::move(item), expected));
  }
  void End() {
    const Key key = Of(Pick(kKeys));
    const auto found = working_.find(key);
    if (found == working_.end()) {
      return;
    }
    if (Pick(3) == 0) {
      const milliseconds after(static_cast<int>(Pick(10)) - 2);
      queue_.PutBack(std::move(found->second.first), after);
      model_.PutBack(found->second.second, after);
    } else {
      model_.Done(key);
    }
    working_.erase(found);
  }
  void Advance(std::size_t step) {
    // The delay thread works at its own pace. A new key that is due at the same time is handled
    // last, so it shows that the thread has handled the others.
    const milliseconds d(1 + static_cast<int>(Pick(20)));
    const Key mark = Of(1000 + step);
    queue_.AddAfter(mark, d);
    model_.AddAfter(mark, d);
    clock_.Advance(d);
    model_.Advance(d);
    KX_AWAIT_EQ(queue_.Len(), model_.Len());  // the delay thread does this
  }

  static constexpr std::size_t kKeys = 8;
  std::mt19937 random_{GetParam()};
  base::testing::FakeClock clock_;
  const base::TimePoint begin_ = clock_.Now();
  Queue queue_{{.clock = clock_}};
  std::map<Key, std::pair<Queue::Item, DebounceModel::Taken>> working_;
  DebounceModel model_;
};

TEST_P(QueueDebounceModelTest, RandomCallsBehaveAsTheModel) {
  constexpr std::size_t kSteps = 3000;
  for (std::size_t step = 0; step < kSteps; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    switch (Pick(20)) {
      case 0:
        queue_.EndWindows();
        model_.EndWindows();
        break;
      case 1:
      case 2:
      case 3:
        Add();
        break;
      case 4:
      case 5:
      case 6:
      case 7:
      case 8:
        AddDebounced();
        break;
      case 9:
      case 10:
      case 11:
      case 12:
        Take();
        break;
      case 13:
      case 14:
      case 15:
        End();
        break;
      default:
        Advance(step);
        break;
    }
    if (step == kSteps - 200) {
      queue_.ShutDown();
      model_.ShutDown();
    }
    ASSERT_FALSE(HasFatalFailure());
    ASSERT_EQ(queue_.Len(), model_.Len());
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, QueueDebounceModelTest, ::testing::Range(1U, 21U));

}  // namespace
}  // namespace kubexx::workqueue
