#include "kubexx/apiserver/storage/internal/history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace kubexx::apiserver::storage::internal {
namespace {

using base::TimePoint;

struct ModelValue {
  std::string value{};
  Revision create = 0;
  Revision mod = 0;
  bool operator==(const ModelValue&) const = default;
};
using ModelState = std::map<std::string, ModelValue>;

ModelValue Seen(const Item& item) {
  return {.value = item.value ? item.value->bytes : "", .create = item.create, .mod = item.mod};
}

/// Every state there ever was, in full: what a History has to agree with.
class Model {
 public:
  Model() { states_.emplace_back(); }

  Revision current() const { return static_cast<Revision>(states_.size()) - 1; }
  const ModelState& At(Revision revision) const {
    return states_[static_cast<std::size_t>(revision)];
  }

  void Put(const std::string& key, const std::string& value) {
    ModelState next = states_.back();
    const Revision revision = current() + 1;
    ModelValue& entry = next[key];
    entry.create = entry.create == 0 ? revision : entry.create;
    entry.mod = revision;
    entry.value = value;
    states_.push_back(std::move(next));
  }

  void Undo(Revision kept) { states_.resize(static_cast<std::size_t>(kept) + 1); }

  void Delete(const std::string& key) {
    ModelState next = states_.back();
    next.erase(key);
    states_.push_back(std::move(next));
  }

 private:
  std::vector<ModelState> states_;
};

void ExpectSameState(const History& history, const Model& model, Revision revision) {
  const ModelState& expected = model.At(revision);
  const Range all = history.List("", "", revision, 0);
  ASSERT_EQ(all.items.size(), expected.size()) << "revision " << revision;
  auto at = expected.begin();
  for (const Item& item : all.items) {
    EXPECT_EQ(*item.key, at->first);
    EXPECT_EQ(Seen(item), at->second);
    EXPECT_EQ(Seen(history.Find(at->first, revision)), at->second);
    ++at;
  }
  EXPECT_EQ(history.Count("", revision), static_cast<std::int64_t>(expected.size()));
  const Range some = history.List("b/", "b/3", revision, 2);
  std::int64_t after = 0;
  for (const auto& [key, value] : expected) {
    after += key.starts_with("b/") && key > "b/3" ? 1 : 0;
  }
  EXPECT_EQ(static_cast<std::int64_t>(some.items.size()) + some.remaining, after);
  EXPECT_EQ(some.items.size(), static_cast<std::size_t>(std::min<std::int64_t>(after, 2)));
}

void ExpectSameChange(const History& history, const Model& model, Revision revision) {
  const Change change = history.ChangeAt(revision);
  const std::string& key = history.KeyAt(revision);
  const ModelState& now = model.At(revision);
  const ModelState& before = model.At(revision - 1);
  const auto put = now.find(key);
  EXPECT_EQ(change.now.value != nullptr, put != now.end());
  EXPECT_EQ(change.now.mod, revision);
  if (put != now.end()) {
    EXPECT_EQ(Seen(change.now), put->second);
  }
  const auto old = before.find(key);
  EXPECT_EQ(Seen(change.before), old != before.end() ? old->second : ModelValue());
}

TEST(History, AgreesWithAModelOfAllStates) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto pick = [&random](int below) {
    return std::uniform_int_distribution<int>(0, below - 1)(random);
  };
  History history;
  Model model;
  for (int step = 0; step < 2000; ++step) {
    const std::string key =
        std::string(1, static_cast<char>('a' + pick(3))) + "/" + std::to_string(pick(8));
    const bool exists = model.At(model.current()).contains(key);
    const int what = pick(10);
    if (what < 3 && exists) {
      model.Delete(key);
      EXPECT_EQ(history.Write(key, nullptr, TimePoint()).mod, model.current());
    } else if (what < 8) {
      const std::string value = "value-" + std::to_string(step);
      model.Put(key, value);
      EXPECT_EQ(history.Write(key, MakeBlob(value), TimePoint()).mod, model.current());
    } else if (what == 8 && pick(5) == 0) {
      history.Compact(history.compacted() +
                      pick(static_cast<int>(model.current() - history.compacted()) + 1));
    } else if (what == 9 && pick(2) == 0) {
      const Revision kept = std::max(history.compacted(), model.current() - pick(5));
      model.Undo(kept);
      history.Undo(kept);
    } else {
      history.Trim(static_cast<std::size_t>(pick(20)));
    }
    ASSERT_EQ(history.current(), model.current());
    if (step % 20 == 0) {
      const int span = static_cast<int>(model.current() - history.compacted());
      ExpectSameState(history, model, history.compacted() + pick(span + 1));
      if (span > 0) {
        ExpectSameChange(history, model, history.compacted() + 1 + pick(span));
      }
    }
  }
  // All of the past forgotten, what is left is the present and nothing else.
  history.Compact(model.current());
  while (history.Trim(7)) {
  }
  ExpectSameState(history, model, model.current());
  std::size_t bytes = 0;
  for (const auto& [key, value] : model.At(model.current())) {
    bytes += value.value.size();
  }
  EXPECT_EQ(history.value_bytes(), bytes);
  EXPECT_EQ(history.keys(), model.At(model.current()).size());
  EXPECT_EQ(history.revisions(), 0U);
}

TEST(History, ADeletionThatWasForgottenDoesNotComeBackByAnUndo) {
  History history;
  history.Write("key", MakeBlob("one"), TimePoint());
  history.Write("key", nullptr, TimePoint());
  history.Write("key", MakeBlob("two"), TimePoint());
  history.Compact(2);
  while (history.Trim(1)) {
  }
  history.Undo(2);
  EXPECT_EQ(history.current(), 2);
  EXPECT_EQ(history.keys(), 0U);
  EXPECT_EQ(history.value_bytes(), 0U);
  EXPECT_EQ(history.List("", "", 2, 0).items.size(), 0U);
  EXPECT_EQ(history.Write("key", MakeBlob("three"), TimePoint()).create, 3);
}

TEST(History, LimitsCompact) {
  History history;
  const TimePoint start = TimePoint() + std::chrono::hours(1);
  for (int number = 0; number < 10; ++number) {
    history.Write("key", MakeBlob("x"), start + std::chrono::seconds(number));
  }
  history.CompactOld(100, start, 10);
  EXPECT_EQ(history.compacted(), 0);
  history.CompactOld(100, start + std::chrono::seconds(3), 10);
  EXPECT_EQ(history.compacted(), 3);
  history.CompactOld(4, start, 10);
  EXPECT_EQ(history.compacted(), 6);
  history.CompactOld(0, start, 8);
  EXPECT_EQ(history.compacted(), 8);
  history.CompactOld(0, start + std::chrono::hours(1), 100);
  EXPECT_EQ(history.compacted(), 10);
}

TEST(History, ALimitOfBytesIsOfThePast) {
  History history;
  for (int number = 0; number < 10; ++number) {
    history.Write("key", MakeBlob(std::string(100, 'x')), TimePoint());
    history.Write("other", MakeBlob(std::string(10, 'x')), TimePoint());
  }
  EXPECT_EQ(history.past_bytes(), 990U);
  history.CompactLarge(1000, 20);
  EXPECT_EQ(history.compacted(), 0);
  history.CompactLarge(500, 4);
  EXPECT_EQ(history.compacted(), 4);
  EXPECT_EQ(history.past_bytes(), 880U);
  history.CompactLarge(500, 20);
  EXPECT_EQ(history.past_bytes(), 450U);
  while (history.Trim(1)) {
  }
  EXPECT_EQ(history.value_bytes(), 450U + 110U);
  history.Repack("key", 17, MakeBlob("packed"));
  EXPECT_EQ(history.past_bytes(), 356U);
  history.Repack("key", 19, MakeBlob("live"));
  EXPECT_EQ(history.past_bytes(), 356U);
  history.Write("key", nullptr, TimePoint());
  EXPECT_EQ(history.past_bytes(), 360U);
  history.Undo(18);
  EXPECT_EQ(history.past_bytes(), 356U - 6U - 10U);
  history.CompactLarge(0, 18);
  EXPECT_EQ(history.past_bytes(), 0U);
  EXPECT_EQ(history.compacted(), 18);
}

TEST(History, ALongChainIsFreedWithoutDeepRecursion) {
  History history;
  for (int number = 0; number < 300000; ++number) {
    history.Write("key", MakeBlob("x"), TimePoint());
  }
  EXPECT_EQ(history.Find("key", 5).mod, 5);
}

TEST(History, RepackedValuesStayWithTheirRevision) {
  History history;
  history.Write("key", MakeBlob("one"), TimePoint());
  history.Write("key", MakeBlob("two"), TimePoint());
  history.EventAt(1) = std::make_shared<const Event>();
  const BlobRef packed = MakeBlob("packed");
  history.Repack("key", 1, packed);
  history.Repack("key", 7, packed);
  history.Repack("other", 1, packed);
  EXPECT_EQ(history.Find("key", 1).value, packed);
  EXPECT_EQ(history.Find("key", 2).value->bytes, "two");
  EXPECT_EQ(history.EventAt(1), nullptr);
  EXPECT_EQ(history.value_bytes(), std::string("packedtwo").size());
}

}  // namespace
}  // namespace kubexx::apiserver::storage::internal
