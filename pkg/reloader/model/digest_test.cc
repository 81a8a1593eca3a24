#include "kubexx/reloader/model/digest.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <algorithm>
#include <random>

namespace kubexx::reloader {
namespace {

struct DigestCase {
  std::string name;
  std::vector<std::pair<std::string, std::string>> items;
  std::string want;
};

class DigestTable : public testing::TestWithParam<DigestCase> {};

TEST_P(DigestTable, EqualsTheOriginals) {
  DigestBuilder builder;
  for (const auto& [key, value] : GetParam().items) {
    builder.Add(key, value);
  }
  EXPECT_EQ(builder.Finish().ToString(), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Vectors, DigestTable,
    testing::Values(
        DigestCase{"Empty", {}, "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
        DigestCase{"OneItem", {{"key", "updated"}}, "6b3093988321555757cc9b88a5f2d59101a0261c"},
        DigestCase{
            "TwoItems", {{"a", "1"}, {"b", "2"}}, "f83e99e324ba68ccc373a58ef1eb42f8ab88646a"},
        DigestCase{
            "AnyOrder", {{"b", "2"}, {"a", "1"}}, "f83e99e324ba68ccc373a58ef1eb42f8ab88646a"}),
    [](const auto& row) { return row.param.name; });

TEST(Digest, WhereOpenSslHasNoSha1ThatIsSaid) {
  EXPECT_TRUE(CheckDigests());
  ASSERT_EQ(EVP_default_properties_enable_fips(nullptr, 1), 1);
  const auto checked = CheckDigests();
  ASSERT_EQ(EVP_default_properties_enable_fips(nullptr, 0), 1);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().reason, apimachinery::Reason::kInvalidConfig);
  EXPECT_TRUE(CheckDigests());
}

TEST(Digest, SortsWholeItemsNotKeys) {
  // '-' sorts before '=', so "a-b=1" comes before "a=2" although "a" sorts before "a-b".
  DigestBuilder builder;
  builder.Add("a", "2");
  builder.Add("a-b", "1");
  EXPECT_EQ(builder.Finish(), DigestOf("a-b=1;a=2"));
}

TEST(Digest, ComparesBytesAsUnsigned) {
  DigestBuilder builder;
  builder.Add("k", "\xff");
  builder.Add("k", "a");
  EXPECT_EQ(builder.Finish(), DigestOf("k=a;k=\xff"));
}

TEST(Digest, OfTheDeleteMarker) {
  EXPECT_EQ(DigestOf("__RELOADER_EMPTY_DELETE_MARKER__").ToString(),
            "aae45badef99284e4dae01d6046154ea9d99532f");
}

TEST(Digest, OfRandomItemsEqualsThatOfTheJoinedSortedStrings) {
  std::mt19937 random(20240611);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::pair<std::string, std::string>> items(random() % 6);
    for (auto& [key, value] : items) {
      for (std::size_t i = random() % 4; i > 0; --i) {
        key.push_back("ab=-"[random() % 4]);
      }
      for (std::size_t i = random() % 4; i > 0; --i) {
        value.push_back(static_cast<char>(random()));
      }
    }
    std::vector<std::string> joined;
    DigestBuilder builder;
    for (const auto& [key, value] : items) {
      builder.Add(key, value);
      joined.push_back(key + "=" + value);
    }
    std::ranges::sort(joined, [](const std::string& a, const std::string& b) {
      return std::ranges::lexicographical_compare(a, b, [](char x, char y) {
        return static_cast<unsigned char>(x) < static_cast<unsigned char>(y);
      });
    });
    std::string all;
    for (std::size_t i = 0; i < joined.size(); ++i) {
      all += (i == 0 ? "" : ";") + joined[i];
    }
    ASSERT_EQ(builder.Finish(), DigestOf(all)) << "round " << round;
  }
}

TEST(Digest, TextRoundTrips) {
  const Digest digest = DigestOf("x");
  EXPECT_EQ(Digest::Parse(digest.ToString()), digest);
}

TEST(Digest, RefusesOtherText) {
  const std::string good = DigestOf("x").ToString();
  EXPECT_EQ(Digest::Parse(""), std::nullopt);
  EXPECT_EQ(Digest::Parse(good.substr(1)), std::nullopt);
  EXPECT_EQ(Digest::Parse(good + "0"), std::nullopt);
  EXPECT_EQ(Digest::Parse("G" + good.substr(1)), std::nullopt);
  EXPECT_EQ(Digest::Parse("A" + good.substr(1)), std::nullopt);
}

}  // namespace
}  // namespace kubexx::reloader
