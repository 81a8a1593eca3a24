#include "kubexx/apiserver/storage/testing/conformance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <optional>
#include <ostream>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kubexx::apiserver::storage::testing {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

Reason ReasonOf(const auto& result) { return result ? Reason::kUnknown : result.error().reason; }

KeyValue MustCreate(Storage& storage, const std::string& key, std::string value) {
  Result<KeyValue> made = storage.Create(key, std::move(value), {});
  EXPECT_TRUE(made.has_value()) << made.error().ToString();
  return made.value_or(KeyValue());
}

struct Listed {
  ListResult result{};
  std::vector<KeyValue> items{};
};

Result<Listed> List(Storage& storage, const std::string& prefix, const ListOptions& options = {}) {
  Listed listed;
  const auto sink = [&listed](KeyValue&& kv) -> Result<void> {
    listed.items.push_back(std::move(kv));
    return {};
  };
  KX_ASSIGN_OR_RETURN(listed.result, storage.GetList(prefix, options, sink, {}));
  return listed;
}

void WriteReadDelete(Storage& storage, const std::string& prefix) {
  const std::string key = prefix + "a";
  const std::string bytes("k8s\0\n\xff", 6);
  const KeyValue made = MustCreate(storage, key, bytes);
  EXPECT_EQ(made.key, key);
  EXPECT_GT(made.mod_revision, 0);
  EXPECT_EQ(made.create_revision, made.mod_revision);

  const Result<Swap> swap = storage.CompareAndSwap(key, made.mod_revision, "two", {});
  ASSERT_TRUE(swap.has_value()) << swap.error().ToString();
  EXPECT_TRUE(swap->done);
  EXPECT_GT(swap->current.mod_revision, made.mod_revision);
  EXPECT_EQ(swap->current.create_revision, made.create_revision);

  const Result<KeyValue> now = storage.Get(key, 0, {});
  ASSERT_TRUE(now.has_value()) << now.error().ToString();
  EXPECT_EQ(*now->value, "two");
  EXPECT_EQ(now->mod_revision, swap->current.mod_revision);
  const Result<KeyValue> before = storage.Get(key, made.mod_revision, {});
  ASSERT_TRUE(before.has_value()) << before.error().ToString();
  EXPECT_EQ(*before->value, bytes);

  const Result<Deleted> gone = storage.Delete(key, now->mod_revision, {});
  ASSERT_TRUE(gone.has_value()) << gone.error().ToString();
  EXPECT_EQ(*gone->last.value, "two");
  EXPECT_GT(gone->revision, now->mod_revision);
  EXPECT_EQ(ReasonOf(storage.Get(key, 0, {})), Reason::kNotFound);
  EXPECT_TRUE(storage.Get(key, now->mod_revision, {}).has_value());

  const KeyValue again = MustCreate(storage, key, "three");
  EXPECT_EQ(again.create_revision, again.mod_revision);
  EXPECT_GT(again.create_revision, gone->revision);
  const Result<Revision> current = storage.CurrentRevision({});
  ASSERT_TRUE(current.has_value());
  EXPECT_EQ(*current, again.mod_revision);
}

void RefusalsHaveReasons(Storage& storage, const std::string& prefix) {
  const std::string key = prefix + "a";
  EXPECT_EQ(ReasonOf(storage.Get(key, 0, {})), Reason::kNotFound);
  EXPECT_EQ(ReasonOf(storage.Delete(key, 0, {})), Reason::kNotFound);
  const Result<Swap> none = storage.CompareAndSwap(key, 1, "x", {});
  ASSERT_TRUE(none.has_value()) << none.error().ToString();
  EXPECT_FALSE(none->done);
  EXPECT_EQ(none->current.mod_revision, 0);
  EXPECT_EQ(none->current.key, key);

  const KeyValue made = MustCreate(storage, key, "one");
  EXPECT_EQ(ReasonOf(storage.Create(key, "two", {})), Reason::kAlreadyExists);
  EXPECT_EQ(ReasonOf(storage.Delete(key, made.mod_revision + 1, {})), Reason::kConflict);
  const Result<Swap> stale = storage.CompareAndSwap(key, made.mod_revision + 1, "x", {});
  ASSERT_TRUE(stale.has_value()) << stale.error().ToString();
  EXPECT_FALSE(stale->done);
  EXPECT_EQ(*stale->current.value, "one");
  EXPECT_EQ(stale->current.mod_revision, made.mod_revision);

  const Revision future = made.mod_revision + 1000000;
  const Result<KeyValue> early = storage.Get(key, future, {});
  ASSERT_FALSE(early.has_value());
  EXPECT_TRUE(apimachinery::IsTooLargeResourceVersion(early.error())) << early.error().ToString();
  const auto list = List(storage, prefix, {.revision = future});
  ASSERT_FALSE(list.has_value());
  EXPECT_TRUE(apimachinery::IsTooLargeResourceVersion(list.error())) << list.error().ToString();
  EXPECT_EQ(ReasonOf(storage.Create(prefix + "big", std::string(2 << 20, 'x'), {})),
            Reason::kRequestEntityTooLarge);
}

Result<std::optional<std::string>> Increment(const KeyValue& current) {
  int number = 0;
  if (current.mod_revision != 0) {
    const std::string& text = *current.value;
    std::from_chars(text.data(), text.data() + text.size(), number);
  }
  return std::optional<std::string>(std::to_string(number + 1));
}

void ConcurrentUpdatesAllCount(Storage& storage, const std::string& prefix) {
  constexpr int kWriters = 8;
  constexpr int kEach = 25;
  const std::string key = prefix + "counter";
  std::atomic<int> failures = 0;
  {
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&storage, &key, &failures] {
        for (int count = 0; count < kEach; ++count) {
          UpdateOptions options;
          options.create_if_missing = true;
          if (!GuaranteedUpdate(storage, key, Increment, std::move(options), {})) {
            ++failures;
          }
        }
      });
    }
  }
  EXPECT_EQ(failures, 0);
  const Result<KeyValue> end = storage.Get(key, 0, {});
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(*end->value, std::to_string(kWriters * kEach));
}

void OneOfManyCreatesWins(Storage& storage, const std::string& prefix) {
  constexpr int kWriters = 8;
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const std::string key = prefix + std::to_string(round);
    std::atomic<int> won = 0;
    std::atomic<int> refused = 0;
    {
      std::vector<std::jthread> writers;
      for (int writer = 0; writer < kWriters; ++writer) {
        writers.emplace_back([&storage, &key, &won, &refused] {
          const Result<KeyValue> made = storage.Create(key, "x", {});
          won += made ? 1 : 0;
          refused += ReasonOf(made) == Reason::kAlreadyExists ? 1 : 0;
        });
      }
    }
    EXPECT_EQ(won, 1);
    EXPECT_EQ(refused, kWriters - 1);
  }
}

void ListsAreOrderedAndSeparate(Storage& storage, const std::string& prefix) {
  for (const char* name : {"b/2", "b/1", "bc/1", "a/1", "b0"}) {
    MustCreate(storage, prefix + name, name);
  }
  const auto listed = List(storage, prefix + "b/");
  ASSERT_TRUE(listed.has_value()) << listed.error().ToString();
  ASSERT_EQ(listed->items.size(), 2U);
  EXPECT_EQ(listed->items[0].key, prefix + "b/1");
  EXPECT_EQ(listed->items[1].key, prefix + "b/2");
  EXPECT_EQ(*listed->items[1].value, "b/2");
  EXPECT_FALSE(listed->result.more);
  EXPECT_EQ(listed->result.last_key, prefix + "b/2");
  EXPECT_GT(listed->result.revision, 0);
  EXPECT_EQ(storage.Count(prefix, {}).value_or(0), 5);
  EXPECT_EQ(storage.Count(prefix + "b/", {}).value_or(0), 2);
  EXPECT_EQ(storage.Count(prefix + "none/", {}).value_or(-1), 0);
  const auto none = List(storage, prefix + "none/");
  ASSERT_TRUE(none.has_value());
  EXPECT_TRUE(none->items.empty());
  EXPECT_GE(none->result.revision, listed->result.revision);
  const auto keys = List(storage, prefix, {.limit = 1, .keys_only = true});
  ASSERT_TRUE(keys.has_value()) << keys.error().ToString();
  ASSERT_EQ(keys->items.size(), 1U);
  EXPECT_EQ(keys->items[0].value, nullptr);
  EXPECT_TRUE(keys->items[0].key.starts_with(prefix));
  EXPECT_GT(keys->items[0].mod_revision, 0);
}

void OldRevisionsCanBeListedWhileWriting(Storage& storage, const std::string& prefix) {
  constexpr int kKeys = 20;
  std::vector<KeyValue> made;
  for (int number = 0; number < kKeys; ++number) {
    made.push_back(MustCreate(storage, prefix + std::to_string(100 + number), "old"));
  }
  const Revision then = made.back().mod_revision;
  std::jthread writer([&storage, &prefix](const std::stop_token& stop) {
    for (int number = 0; !stop.stop_requested(); ++number) {
      const std::string key = prefix + std::to_string(100 + number % kKeys);
      if (number % 3 == 0) {
        (void)storage.Delete(key, 0, {}).has_value();
        (void)storage.Create(key, "new", {}).has_value();
      } else {
        const Result<KeyValue> now = storage.Get(key, 0, {});
        (void)(now && storage.CompareAndSwap(key, now->mod_revision, "new", {}).has_value());
      }
    }
  });
  for (int round = 0; round < 10; ++round) {
    const auto listed = List(storage, prefix, {.revision = then});
    ASSERT_TRUE(listed.has_value()) << listed.error().ToString();
    EXPECT_EQ(listed->result.revision, then);
    ASSERT_EQ(listed->items.size(), static_cast<std::size_t>(kKeys));
    EXPECT_TRUE(std::ranges::all_of(listed->items, [then](const KeyValue& kv) {
      return *kv.value == "old" && kv.mod_revision <= then;
    }));
  }
}

void ListsContinueAcrossWrites(Storage& storage, const std::string& prefix) {
  for (int number = 0; number < 10; ++number) {
    MustCreate(storage, prefix + std::to_string(number), "old");
  }
  std::vector<std::string> keys;
  ListOptions options;
  options.limit = 4;
  for (bool more = true; more;) {
    const auto part = List(storage, prefix, options);
    ASSERT_TRUE(part.has_value()) << part.error().ToString();
    for (const KeyValue& kv : part->items) {
      EXPECT_EQ(*kv.value, "old");
      keys.push_back(kv.key);
    }
    more = part->result.more;
    EXPECT_EQ(part->result.remaining, static_cast<std::int64_t>(10 - keys.size()));
    options.revision = part->result.revision;
    options.continue_after = part->result.last_key;
    ASSERT_TRUE(storage.Delete(prefix + std::to_string(keys.size() - 1), 0, {}).has_value());
    MustCreate(storage, prefix + "5" + std::to_string(keys.size()), "new");
  }
  ASSERT_EQ(keys.size(), 10U);
  EXPECT_TRUE(std::ranges::is_sorted(keys));
  // Without a revision, the list continues with the present state.
  const auto rest = List(storage, prefix, {.continue_after = prefix + "8"});
  ASSERT_TRUE(rest.has_value());
  EXPECT_TRUE(rest->items.empty());
}

void CompactionExpiresTheOld(Storage& storage, const std::string& prefix) {
  const KeyValue made = MustCreate(storage, prefix + "a", "one");
  MustCreate(storage, prefix + "b", "b");
  ASSERT_TRUE(storage.Delete(prefix + "b", 0, {}).has_value());
  const Result<Swap> two = storage.CompareAndSwap(prefix + "a", made.mod_revision, "two", {});
  ASSERT_TRUE(two.has_value());
  const Revision kept = two->current.mod_revision;
  const Result<Swap> three = storage.CompareAndSwap(prefix + "a", kept, "three", {});
  ASSERT_TRUE(three.has_value());
  EXPECT_EQ(ReasonOf(storage.Compact(kept + 1000000, {})), Reason::kBadRequest);
  const Result<void> compacted = storage.Compact(kept, {});
  ASSERT_TRUE(compacted.has_value()) << compacted.error().ToString();
  EXPECT_EQ(ReasonOf(storage.Compact(made.mod_revision, {})), Reason::kExpired);

  const Result<KeyValue> old = storage.Get(prefix + "a", made.mod_revision, {});
  ASSERT_FALSE(old.has_value());
  EXPECT_TRUE(apimachinery::IsExpired(old.error())) << old.error().ToString();
  EXPECT_EQ(ReasonOf(List(storage, prefix, {.revision = made.mod_revision})), Reason::kExpired);
  const auto sink = [](std::shared_ptr<const Event>) -> Result<void> {
    return Fail(Reason::kInternalError, "an event of what was compacted");
  };
  EXPECT_EQ(ReasonOf(storage.Watch(prefix, {.from_revision = made.mod_revision}, sink, {})),
            Reason::kExpired);

  const auto at_compaction = List(storage, prefix, {.revision = kept});
  ASSERT_TRUE(at_compaction.has_value()) << at_compaction.error().ToString();
  ASSERT_EQ(at_compaction->items.size(), 1U);
  EXPECT_EQ(*at_compaction->items[0].value, "two");
  EXPECT_EQ(*storage.Get(prefix + "a", 0, {})->value, "three");
}

void StoppedCallsAreCancelled(Storage& storage, const std::string& prefix) {
  std::stop_source source;
  source.request_stop();
  const std::stop_token stop = source.get_token();
  const std::string key = prefix + "a";
  EXPECT_EQ(ReasonOf(storage.Get(key, 0, stop)), Reason::kCancelled);
  EXPECT_EQ(ReasonOf(storage.Create(key, "x", stop)), Reason::kCancelled);
  EXPECT_EQ(ReasonOf(storage.CompareAndSwap(key, 1, "x", stop)), Reason::kCancelled);
  EXPECT_EQ(ReasonOf(storage.Delete(key, 0, stop)), Reason::kCancelled);
  EXPECT_EQ(ReasonOf(storage.Count(prefix, stop)), Reason::kCancelled);
  EXPECT_EQ(ReasonOf(storage.CurrentRevision(stop)), Reason::kCancelled);
  EXPECT_EQ(ReasonOf(GuaranteedUpdate(storage, key, Increment, {}, stop)), Reason::kCancelled);
  const auto sink = [](std::shared_ptr<const Event>) -> Result<void> { return {}; };
  EXPECT_EQ(ReasonOf(storage.Watch(prefix, {}, sink, stop)), Reason::kCancelled);

  MustCreate(storage, prefix + "b", "b");
  MustCreate(storage, prefix + "c", "c");
  std::stop_source during;
  const auto stopping = [&during](KeyValue&&) -> Result<void> {
    during.request_stop();
    return {};
  };
  EXPECT_EQ(ReasonOf(storage.GetList(prefix, {}, stopping, during.get_token())),
            Reason::kCancelled);
  const auto failing = [](KeyValue&&) -> Result<void> {
    return Fail(Reason::kInvalid, "no more of it");
  };
  EXPECT_EQ(ReasonOf(storage.GetList(prefix, {}, failing, {})), Reason::kInvalid);
}

}  // namespace

void PrintTo(const ConformanceCase& one, std::ostream* out) { *out << one.name; }

std::vector<ConformanceCase> ReadWriteCases() {
  return {
      {"WriteReadDelete", WriteReadDelete},
      {"RefusalsHaveReasons", RefusalsHaveReasons},
      {"ConcurrentUpdatesAllCount", ConcurrentUpdatesAllCount},
      {"OneOfManyCreatesWins", OneOfManyCreatesWins},
      {"ListsAreOrderedAndSeparate", ListsAreOrderedAndSeparate},
      {"OldRevisionsCanBeListedWhileWriting", OldRevisionsCanBeListedWhileWriting},
      {"ListsContinueAcrossWrites", ListsContinueAcrossWrites},
      {"CompactionExpiresTheOld", CompactionExpiresTheOld},
      {"StoppedCallsAreCancelled", StoppedCallsAreCancelled},
  };
}

std::vector<ConformanceCase> ConformanceCases() {
  std::vector<ConformanceCase> all = ReadWriteCases();
  for (ConformanceCase& one : WatchCases()) {
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace kubexx::apiserver::storage::testing
