#include "kubexx/apiserver/storage/memory.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apiserver/storage/testing/conformance.h"
#include "kubexx/apiserver/storage/testing/watch_recorder.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/base/testing/temporary_folder.h"

namespace kubexx::apiserver::storage {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using testing::ConformanceCase;
using testing::EventRef;
using testing::WatchRecorder;

std::unique_ptr<MemoryStorage> MustMake(MemoryOptions options) {
  auto made = NewMemoryStorage(std::move(options));
  EXPECT_TRUE(made.has_value()) << made.error().ToString();
  return made ? std::move(*made) : nullptr;
}

class MemoryConformance : public ::testing::TestWithParam<ConformanceCase> {};

TEST_P(MemoryConformance, Holds) {
  const std::unique_ptr<MemoryStorage> storage = MustMake({});
  GetParam().Run(*storage);
}

TEST_P(MemoryConformance, HoldsWhenAllIsCompressed) {
  MemoryOptions options;
  options.uncompressed_bytes = 0;
  const std::unique_ptr<MemoryStorage> storage = MustMake(std::move(options));
  GetParam().Run(*storage);
}

TEST_P(MemoryConformance, HoldsWithAFile) {
  const base::testing::TemporaryFolder folder;
  MemoryOptions options;
  options.file = folder / "store";
  options.rewrite_bytes = 4 << 10;  // so that it is rewritten under the case's writes
  const std::unique_ptr<MemoryStorage> storage = MustMake(std::move(options));
  ASSERT_NE(storage, nullptr);
  GetParam().Run(*storage);
}

INSTANTIATE_TEST_SUITE_P(All, MemoryConformance, ::testing::ValuesIn(testing::ConformanceCases()),
                         [](const auto& one) { return one.param.name; });

/// A value such as an object is: much of it the same in all, and no shorter than `size`.
std::string Value(int number, std::size_t size) {
  std::string value;
  for (int line = 0; value.size() < size; ++line) {
    value += "{\"name\":\"object-" + std::to_string(number) +
             "\",\"line\":" + std::to_string(line * number % 997) +
             ",\"image\":\"registry.example.com/app:v1\"}";
  }
  return value;
}

std::string NumberedKey(int number) {
  return "/registry/pods/default/pod-" + std::to_string(number);
}

TEST(MemoryStorage, CompressedValuesComeBackAsTheyWere) {
  MemoryOptions options;
  options.uncompressed_bytes = 100 << 10;
  const auto storage = MustMake(std::move(options));
  constexpr int kObjects = 2000;
  std::size_t raw = 0;
  for (int number = 0; number < kObjects; ++number) {
    std::string value = Value(number, 1300);
    raw += value.size();
    ASSERT_TRUE(storage->Create(NumberedKey(number), std::move(value), {}).has_value());
  }
  EXPECT_LT(storage->Usage().value_bytes, raw / 3);
  EXPECT_EQ(storage->Usage().keys, static_cast<std::size_t>(kObjects));
  for (int number = 0; number < kObjects; ++number) {
    const Result<KeyValue> kv = storage->Get(NumberedKey(number), 0, {});
    ASSERT_TRUE(kv.has_value());
    ASSERT_EQ(*kv->value, Value(number, 1300));
  }
  // The events of the past are made of compressed values.
  WatchRecorder watch(*storage, "/registry/pods/", {.from_revision = 1});
  const std::vector<EventRef> events = watch.Await(kObjects - 1);
  ASSERT_EQ(events.size(), static_cast<std::size_t>(kObjects - 1));
  EXPECT_EQ(*events[7]->kv.value, Value(8, 1300));
}

TEST(MemoryStorage, HistoryIsKeptByCount) {
  MemoryOptions options;
  options.keep_revisions = 10;
  const auto storage = MustMake(std::move(options));
  for (int number = 1; number <= 100; ++number) {
    ASSERT_TRUE(storage->Create(NumberedKey(number), "x", {}).has_value());
    ASSERT_TRUE(storage->Delete(NumberedKey(number), 0, {}).has_value());
  }
  EXPECT_LE(storage->Usage().revisions, 16U);
  EXPECT_EQ(storage->Usage().keys, 0U);
  EXPECT_EQ(storage->Usage().value_bytes <= 16, true);
  EXPECT_TRUE(storage->Get(NumberedKey(100), 199, {}).has_value());
  const Result<KeyValue> old = storage->Get(NumberedKey(1), 1, {});
  ASSERT_FALSE(old.has_value());
  EXPECT_EQ(old.error().reason, Reason::kExpired);
}

TEST(MemoryStorage, HistoryIsKeptByBytes) {
  MemoryOptions options;
  options.keep_history_bytes = 100000;
  options.uncompressed_bytes = 1 << 30;
  const auto storage = MustMake(std::move(options));
  ASSERT_TRUE(storage->Create(NumberedKey(0), "x", {}).has_value());
  WatchRecorder watch(*storage, "/registry/", {.from_revision = 1});
  Revision last = 0;
  for (int number = 1; number <= 100; ++number) {
    const std::string value(10000, static_cast<char>('a' + number % 26));
    const auto written = GuaranteedUpdate(
        *storage, NumberedKey(1),
        [&](const KeyValue&) -> Result<std::optional<std::string>> { return std::optional(value); },
        {.create_if_missing = true}, {});
    ASSERT_TRUE(written);
    last = written->mod_revision;
    EXPECT_EQ(watch.Await(static_cast<std::size_t>(number)).size(),
              static_cast<std::size_t>(number));
    EXPECT_LE(storage->Usage().value_bytes, 130000U);
  }
  EXPECT_TRUE(storage->Get(NumberedKey(1), last - 5, {}));
  const Result<KeyValue> old = storage->Get(NumberedKey(1), 1, {});
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().reason, Reason::kExpired);
}

TEST(MemoryStorage, HistoryIsKeptByTime) {
  base::testing::FakeClock clock;
  MemoryOptions options;
  options.clock = &clock;
  options.keep_history = std::chrono::minutes(5);
  const auto storage = MustMake(std::move(options));
  ASSERT_TRUE(storage->Create(NumberedKey(1), "one", {}).has_value());
  clock.Advance(std::chrono::minutes(4));
  ASSERT_TRUE(storage->Create(NumberedKey(2), "two", {}).has_value());
  EXPECT_TRUE(storage->Get(NumberedKey(1), 1, {}).has_value());
  clock.Advance(std::chrono::minutes(4));
  ASSERT_TRUE(storage->Create(NumberedKey(3), "three", {}).has_value());
  ASSERT_TRUE(storage->CompareAndSwap(NumberedKey(1), 1, "uno", {}).has_value());
  clock.Advance(std::chrono::minutes(4));
  ASSERT_TRUE(storage->Create(NumberedKey(4), "four", {}).has_value());
  const Result<KeyValue> old = storage->Get(NumberedKey(1), 1, {});
  ASSERT_FALSE(old.has_value());
  EXPECT_EQ(old.error().reason, Reason::kExpired);
  EXPECT_TRUE(storage->Get(NumberedKey(3), 3, {}).has_value());
}

TEST(MemoryStorage, HistoryBecomesOldWithoutAWrite) {
  base::testing::FakeClock clock;
  MemoryOptions options;
  options.clock = &clock;
  options.keep_history = std::chrono::minutes(5);
  const auto storage = MustMake(std::move(options));
  ASSERT_TRUE(storage->Create(NumberedKey(1), "one", {}).has_value());
  ASSERT_TRUE(storage->Create(NumberedKey(2), "two", {}).has_value());
  EXPECT_TRUE(storage->Get(NumberedKey(1), 1, {}).has_value());
  clock.Advance(std::chrono::minutes(6));
  const Result<KeyValue> old = storage->Get(NumberedKey(1), 1, {});
  ASSERT_FALSE(old.has_value());
  EXPECT_EQ(old.error().reason, Reason::kExpired);
  EXPECT_TRUE(storage->Get(NumberedKey(1), 2, {}).has_value()) << "the present state";
  EXPECT_EQ(storage->Usage().revisions, 0U);
}

TEST(MemoryStorage, WatchersShareEvents) {
  const auto storage = MustMake({});
  ASSERT_TRUE(storage->Create(NumberedKey(0), "x", {}).has_value());
  WatchRecorder one(*storage, "/registry/", {.from_revision = 1});
  WatchRecorder two(*storage, "/registry/pods/", {.from_revision = 1});
  const Result<KeyValue> made = storage->Create(NumberedKey(1), "x", {});
  ASSERT_TRUE(made.has_value());
  const auto first = one.Await(1);
  const auto second = two.Await(1);
  ASSERT_EQ(first.size(), 1U);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(first[0], second[0]);
  EXPECT_EQ(first[0]->kv.value, made->value);
}

TEST(MemoryStorage, SlowWatchersAreCutOff) {
  const auto storage = MustMake({});
  ASSERT_TRUE(storage->Create(NumberedKey(0), "x", {}).has_value());
  int number = 0;
  // The sink itself is what writes more than the watch may be behind.
  const auto slow = [&storage, &number](EventRef) -> Result<void> {
    for (int more = 0; more < 20; ++more) {
      KX_RETURN_IF_ERROR(storage->Create(NumberedKey(++number), "x", {}));
    }
    return {};
  };
  WatchOptions options;
  options.from_revision = 1;
  options.max_behind = 10;
  options.progress_interval = std::chrono::milliseconds(1);
  const Result<void> ended = storage->Watch("/registry/", options, slow, {});
  ASSERT_FALSE(ended.has_value());
  EXPECT_EQ(ended.error().reason, Reason::kTooManyRequests);
  EXPECT_EQ(ended.error().code, 429);
}

TEST(GuaranteedUpdate, DecidesNothingByAStaleOrigin) {
  const auto storage = MustMake({});
  const Result<KeyValue> made = storage->Create(NumberedKey(1), "one", {});
  ASSERT_TRUE(made.has_value());
  ASSERT_TRUE(storage->CompareAndSwap(NumberedKey(1), 1, "two", {}).has_value());
  const auto only_two = [](const KeyValue& now) -> Result<std::optional<std::string>> {
    if (*now.value != "two") {
      return Fail(Reason::kInvalid, "not two");
    }
    return std::optional<std::string>("three");
  };
  UpdateOptions options;
  options.origin = *made;
  Result<KeyValue> changed = GuaranteedUpdate(*storage, NumberedKey(1), only_two, options, {});
  ASSERT_TRUE(changed.has_value()) << changed.error().ToString();
  EXPECT_EQ(*changed->value, "three");
  // The error of the present counts.
  changed = GuaranteedUpdate(*storage, NumberedKey(1), only_two, options, {});
  ASSERT_FALSE(changed.has_value());
  EXPECT_EQ(changed.error().reason, Reason::kInvalid);
}

TEST(GuaranteedUpdate, WritesNothingWhenThereIsNothingToChange) {
  const auto storage = MustMake({});
  const auto same = [](const KeyValue&) -> Result<std::optional<std::string>> {
    return std::optional<std::string>();
  };
  const Result<KeyValue> missing = GuaranteedUpdate(*storage, NumberedKey(1), same, {}, {});
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().reason, Reason::kNotFound);
  ASSERT_TRUE(storage->Create(NumberedKey(1), "one", {}).has_value());
  const Result<KeyValue> kept = GuaranteedUpdate(*storage, NumberedKey(1), same, {}, {});
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(kept->mod_revision, 1);
  EXPECT_EQ(storage->CurrentRevision({}).value_or(0), 1);
}

TEST(MemoryBaseTest, AStoreCanBeginLater) {
  const auto storage = *NewMemoryStorage({.base_revision = 1'000'000});
  EXPECT_EQ(*storage->CurrentRevision({}), 1'000'000);
  const auto made = storage->Create("/registry/a/b", "c", {});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->mod_revision, 1'000'001);
  // What another store gave out has expired here.
  const auto watched = storage->Watch(
      "/registry/a/", {.from_revision = 500},
      [](const std::shared_ptr<const Event>&) -> apimachinery::Result<void> { return {}; }, {});
  ASSERT_FALSE(watched);
  EXPECT_EQ(watched.error().reason, apimachinery::Reason::kExpired);
  const auto old = storage->Get("/registry/a/b", 500, {});
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().reason, apimachinery::Reason::kExpired);
}

}  // namespace
}  // namespace kubexx::apiserver::storage
