#include "kubexx/cache/internal/packed/content_hash.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace kubexx::cache::internal {
namespace {

std::string Text(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    text += static_cast<char>('a' + i * 7 % 26);
  }
  return text;
}

TEST(ContentHashTest, DependsOnEveryBitAndOnTheLength) {
  for (const std::size_t size : {1U, 7U, 8U, 47U, 48U, 49U, 96U, 97U, 1000U}) {
    std::string text = Text(size);
    std::set<std::uint64_t> seen{ContentHash(text), ContentHash(text + '\0'),
                                 ContentHash(text.substr(1))};
    EXPECT_EQ(seen.size(), 3U);
    for (char& byte : text) {
      for (int bit = 0; bit < 8; ++bit) {
        byte = static_cast<char>(byte ^ (1 << bit));
        EXPECT_TRUE(seen.insert(ContentHash(text)).second) << size;
        byte = static_cast<char>(byte ^ (1 << bit));
      }
    }
  }
}

TEST(ContentHashTest, IsTheSameForEqualBytesWhereverTheyLie) {
  const std::string text = Text(200);
  const std::string moved = "x" + text;
  EXPECT_EQ(ContentHash(text), ContentHash(std::string_view(moved).substr(1)));
  EXPECT_EQ(ContentHash({}), ContentHash(std::string()));
}

TEST(ContentHashTest, SpreadsLikeRandomNumbers) {
  std::set<std::uint32_t> low;
  std::set<std::uint32_t> high;
  for (int i = 0; i < 4096; ++i) {
    const std::uint64_t hash = ContentHash(std::to_string(i));
    low.insert(static_cast<std::uint32_t>(hash) & 0xffff);
    high.insert(static_cast<std::uint32_t>(hash >> 48));
  }
  // When 4,096 random numbers are put into 65,536 places, about 3,970 places are expected to be
  // used.
  EXPECT_GT(low.size(), 3850U);
  EXPECT_GT(high.size(), 3850U);
}

}  // namespace
}  // namespace kubexx::cache::internal
