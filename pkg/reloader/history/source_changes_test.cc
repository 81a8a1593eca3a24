#include "kubexx/reloader/history/source_changes.h"

#include <gtest/gtest.h>

#include <string>

namespace kubexx::reloader {
namespace {

using What = KeyChange::What;

const SourceId kLogged{SourceType::kConfigMap, {"ns", "config"}};

ShortDigest Value(std::uint8_t value) { return {value, 0, 0, 0xff}; }

SourceTrace TraceOf(std::map<std::string, ShortDigest> values, const std::string& manager,
                    std::int64_t written = 100) {
  return {.values = std::move(values),
          .writer = DataWriter{.manager = manager, .time = {.seconds = written}}};
}

TEST(ChangeBetween, NamesTheKeysAndWhoWroteThem) {
  const SourceTrace before = TraceOf({{"a", Value(1)}, {"b", Value(1)}, {"c", Value(1)}}, "old");
  const SourceTrace now = TraceOf({{"a", Value(1)}, {"b", Value(2)}, {"d", Value(3)}}, "new");
  const SourceChange change = ChangeBetween(SourceType::kConfigMap, DigestOf("1"), &before,
                                            DigestOf("2"), &now, {.seconds = 7});
  ASSERT_TRUE(change.keys);
  EXPECT_EQ(*change.keys, (KeyChanges{{"b", {What::kChanged, "020000ff"}},
                                      {"c", {What::kRemoved, ""}},
                                      {"d", {What::kAdded, "030000ff"}}}));
  ASSERT_TRUE(change.writer);
  EXPECT_EQ(change.writer->manager, "new");
}

TEST(ChangeBetween, OfASecretTellsNoDigestOfASingleValue) {
  const SourceTrace before = TraceOf({{"password", Value(1)}}, "x");
  const SourceTrace now = TraceOf({{"password", Value(2)}}, "x");
  const SourceChange change =
      ChangeBetween(SourceType::kSecret, DigestOf("1"), &before, DigestOf("2"), &now, {});
  ASSERT_TRUE(change.keys);
  EXPECT_EQ(*change.keys, (KeyChanges{{"password", {What::kChanged, ""}}}));
}

TEST(ChangeBetween, BlamesNobodyWhoHasOnlyRemovedKeys) {
  const SourceTrace before = TraceOf({{"a", Value(1)}, {"b", Value(1)}}, "innocent");
  const SourceTrace now = TraceOf({{"a", Value(1)}}, "innocent");
  EXPECT_FALSE(
      ChangeBetween(SourceType::kConfigMap, DigestOf("1"), &before, DigestOf("2"), &now, {})
          .writer);
  const SourceTrace wrote = TraceOf({{"a", Value(1)}}, "innocent", 200);
  EXPECT_TRUE(
      ChangeBetween(SourceType::kConfigMap, DigestOf("1"), &before, DigestOf("2"), &wrote, {})
          .writer);
}

TEST(ChangeBetween, OfASourceThatAppearsOrGoesNamesAllKeys) {
  const SourceTrace trace = TraceOf({{"a", Value(1)}}, "x");
  const SourceChange made =
      ChangeBetween(SourceType::kConfigMap, kNoSource, nullptr, DigestOf("1"), &trace, {});
  ASSERT_TRUE(made.keys);
  EXPECT_EQ(made.keys->at("a").what, What::kAdded);
  const SourceChange gone =
      ChangeBetween(SourceType::kConfigMap, DigestOf("1"), &trace, kNoSource, nullptr, {});
  ASSERT_TRUE(gone.keys);
  EXPECT_EQ(gone.keys->at("a").what, What::kRemoved);
  EXPECT_FALSE(gone.writer);
}

/// A change from one number to the next, of a key that is named after the first number.
SourceChange Step(int number, std::int64_t seen = 0) {
  return {.before = DigestOf(std::to_string(number)),
          .now = DigestOf(std::to_string(number + 1)),
          .keys = KeyChanges{{"k" + std::to_string(number), {What::kChanged, "00"}}},
          .writer = DataWriter{.manager = "m" + std::to_string(number)},
          .seen = {.seconds = seen}};
}

TEST(SourceChanges, AreJoinedSinceWhatTheWorkloadHas) {
  SourceChanges changes;
  for (int i = 1; i <= 3; ++i) {
    changes.Add(kLogged, Step(i));
  }
  const auto two = changes.Since(kLogged, DigestOf("4"), DigestOf("2"), std::nullopt);
  ASSERT_TRUE(two && two->keys);
  EXPECT_EQ(two->keys->size(), 2U);
  EXPECT_TRUE(two->keys->contains("k2"));
  EXPECT_EQ(two->writer->manager, "m3");
  const auto one = changes.Since(kLogged, DigestOf("4"), DigestOf("3"), std::nullopt);
  ASSERT_TRUE(one && one->keys);
  EXPECT_EQ(one->keys->size(), 1U);
}

TEST(SourceChanges, WithoutTheFirstOfThemLeaveTheKeysUnknown) {
  SourceChanges changes;
  changes.Add(kLogged, Step(5));
  const auto some = changes.Since(kLogged, DigestOf("6"), DigestOf("2"), std::nullopt);
  ASSERT_TRUE(some);
  EXPECT_FALSE(some->keys);
  EXPECT_EQ(some->writer->manager, "m5");
  EXPECT_FALSE(changes.Since(kLogged, DigestOf("7"), DigestOf("6"), std::nullopt));
  EXPECT_FALSE(changes.Since({SourceType::kSecret, kLogged.key}, DigestOf("6"), {}, {}));
}

TEST(SourceChanges, OfDataKnownInPartCountByTime) {
  SourceChanges changes;
  for (int i = 1; i <= 3; ++i) {
    changes.Add(kLogged, Step(i, 10 * i));
  }
  const auto late =
      changes.Since(kLogged, DigestOf("4"), std::nullopt, apimachinery::Time{.seconds = 15});
  ASSERT_TRUE(late && late->keys);
  EXPECT_EQ(late->keys->size(), 2U);
}

TEST(SourceChanges, ThatUndoEachOtherLeaveNothing) {
  SourceChanges changes;
  SourceChange added = Step(1);
  added.keys = KeyChanges{{"a", {What::kAdded, "01"}}, {"b", {What::kRemoved, ""}}};
  SourceChange removed = Step(2);
  removed.keys = KeyChanges{{"a", {What::kRemoved, ""}}, {"b", {What::kAdded, "02"}}};
  changes.Add(kLogged, added);
  changes.Add(kLogged, removed);
  const auto all = changes.Since(kLogged, DigestOf("3"), DigestOf("1"), std::nullopt);
  ASSERT_TRUE(all && all->keys);
  EXPECT_EQ(*all->keys, (KeyChanges{{"b", {What::kChanged, "02"}}}));
}

TEST(SourceChanges, AreBounded) {
  SourceChanges changes;
  for (int i = 0; i < 20; ++i) {
    changes.Add(kLogged, Step(i));
  }
  EXPECT_FALSE(changes.Since(kLogged, DigestOf("20"), DigestOf("1"), std::nullopt)->keys);
  EXPECT_TRUE(changes.Since(kLogged, DigestOf("20"), DigestOf("12"), std::nullopt)->keys);
  for (std::size_t i = 0; i < SourceChanges::kMaxSources; ++i) {
    changes.Add({SourceType::kSecret, {"ns", std::to_string(i)}}, Step(1));
  }
  EXPECT_FALSE(changes.Since(kLogged, DigestOf("20"), DigestOf("19"), std::nullopt));
}

/// A change of `count` keys with names of `length` characters.
SourceChange WideStep(int number, int count, std::size_t length) {
  SourceChange change = Step(number);
  change.keys.emplace();
  for (int i = 0; i < count; ++i) {
    std::string key = std::to_string(i);
    key.insert(0, length - key.size(), 'k');
    change.keys->emplace(std::move(key), KeyChange{What::kChanged, "01234567"});
  }
  return change;
}

// They could take more than a gigabyte.
TEST(SourceChanges, OfManyLongKeysTakeBoundedMemory) {
  SourceChanges changes;
  const auto source = [](std::size_t number) {
    return SourceId{SourceType::kConfigMap, {"ns", std::to_string(number)}};
  };
  for (std::size_t i = 0; i < SourceChanges::kMaxSources; ++i) {
    changes.Add(source(i), WideStep(1, static_cast<int>(SourceTrace::kMaxKeys), 253));
    ASSERT_LE(changes.key_bytes(), SourceChanges::kMaxKeyBytes);
  }
  EXPECT_GT(changes.key_bytes(), SourceChanges::kMaxKeyBytes * 9 / 10) << "no more than necessary";
  const auto last =
      changes.Since(source(SourceChanges::kMaxSources - 1), DigestOf("2"), DigestOf("1"), {});
  ASSERT_TRUE(last && last->keys);
  EXPECT_EQ(last->keys->size(), SourceTrace::kMaxKeys);
  const auto first = changes.Since(source(0), DigestOf("2"), DigestOf("1"), {});
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->keys);
  EXPECT_EQ(first->writer->manager, "m1") << "that is still known";
}

TEST(SourceChanges, OfAFewKeysEachAreAllKept) {
  SourceChanges changes;
  for (std::size_t i = 0; i < SourceChanges::kMaxSources; ++i) {
    for (int step = 1; step <= static_cast<int>(SourceChanges::kMaxChanges) + 2; ++step) {
      changes.Add({SourceType::kConfigMap, {"ns", std::to_string(i)}}, WideStep(step, 3, 20));
    }
  }
  const auto first =
      changes.Since({SourceType::kConfigMap, {"ns", "0"}}, DigestOf("11"), DigestOf("3"), {});
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->keys);
}

}  // namespace
}  // namespace kubexx::reloader
