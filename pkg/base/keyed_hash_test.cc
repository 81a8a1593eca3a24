#include "kubexx/base/keyed_hash.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace kubexx::base {
namespace {

TEST(KeyedHashTest, IsTheSameForTheSameText) {
  const std::string text = "the text of a name that is longer than two words";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const std::string copy(text, 0, size);
    EXPECT_EQ(KeyedHash(copy), KeyedHash(std::string_view(text).substr(0, size))) << size;
    EXPECT_EQ(KeyedHash(copy, 7), KeyedHash(copy, 7)) << size;
    EXPECT_NE(KeyedHash(copy, 7), KeyedHash(copy, 8)) << size;
  }
}

TEST(KeyedHashTest, EachByteCounts) {
  std::unordered_set<std::uint64_t> seen;
  std::size_t texts = 0;
  for (std::size_t size = 0; size <= 70; ++size) {
    std::string text(size, 'a');
    seen.insert(KeyedHash(text));
    ++texts;
    for (char& each : text) {
      each = 'b';
      seen.insert(KeyedHash(text));
      each = 'a';
      ++texts;
    }
  }
  EXPECT_EQ(seen.size(), texts);
}

TEST(KeyedHashTest, WhereAChainedKeyIsSplitCounts) {
  EXPECT_NE(KeyedHash("b", KeyedHash("a")), KeyedHash("ab", KeyedHash("")));
  EXPECT_NE(KeyedHash("b", KeyedHash("a")), KeyedHash("a", KeyedHash("b")));
}

// A table of a power of two takes low bits of the hash, and others high ones.
TEST(KeyedHashTest, NumberedNamesAreSpreadOverATable) {
  constexpr std::size_t kSlots = 1024;
  constexpr int kNames = 16 * kSlots;
  std::vector<int> low(kSlots);
  std::vector<int> high(kSlots);
  for (int i = 0; i < kNames; ++i) {
    const std::uint64_t hash = KeyedHash("web-" + std::to_string(i), KeyedHash("team"));
    ++low[hash % kSlots];
    ++high[hash >> 54];
  }
  for (std::size_t i = 0; i < kSlots; ++i) {
    // Of 16 that are expected; more than 50 come once in 10^10 slots.
    EXPECT_LT(low[i], 50) << i;
    EXPECT_LT(high[i], 50) << i;
  }
}

// Names that meet in the low bits of the standard library's hash: everybody can
// compute as many as they like.
TEST(KeyedHashTest, NamesThatMeetInAHashWithoutAKeyAreSpread) {
  std::unordered_map<std::size_t, std::vector<std::string>> places;
  const std::vector<std::string>* worst = nullptr;
  for (int i = 0; worst == nullptr; ++i) {
    const std::string name = "config-" + std::to_string(i);
    std::vector<std::string>& place = places[std::hash<std::string>()(name) & 0xff];
    place.push_back(name);
    worst = place.size() == 1024 ? &place : nullptr;
  }
  std::map<std::uint64_t, int> now;
  for (const std::string& name : *worst) {
    ++now[KeyedHash(name) & 0xff];
  }
  for (const auto& [place, names] : now) {
    EXPECT_LT(names, 40) << place;  // of 4 that are expected
  }
}

}  // namespace
}  // namespace kubexx::base
