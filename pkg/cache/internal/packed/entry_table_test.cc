#include "kubexx/cache/internal/packed/entry_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>

namespace kubexx::cache {
namespace {

using apimachinery::ObjectKey;

EntryRef MakeEntry(const ObjectKey& key, const std::string& version, const IndexTerms& terms = {},
                   const std::string& bytes = "bytes") {
  std::string encoded;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    EXPECT_TRUE(EncodedTerms::Append(static_cast<IndexId>(i), terms[i].second, encoded));
  }
  auto entry = Entry::New({.key = key,
                           .resource_version = version,
                           .terms = encoded,
                           .encoding = codec::Encoding::kJson,
                           .raw_size = bytes.size(),
                           .content_hash = 7,
                           .packed = bytes});
  EXPECT_TRUE(entry.has_value());
  return *entry;
}

TEST(EntryTest, KeepsItsParts) {
  const IndexTerms terms{{"node", "n1"}, {"empty", ""}};
  const EntryRef entry = MakeEntry({"ns", "name"}, "12", terms, std::string("a\0b", 3));
  EXPECT_EQ(entry->namespace_(), "ns");
  EXPECT_EQ(entry->name(), "name");
  EXPECT_EQ(entry->resource_version(), "12");
  EXPECT_EQ(entry->packed(), std::string_view("a\0b", 3));
  std::vector<std::string> seen;
  for (const std::string_view term : entry->terms()) {
    seen.emplace_back(term);
  }
  EXPECT_EQ(seen, (std::vector<std::string>{EncodeTerm(0, "n1"), EncodeTerm(1, "")}));
  EXPECT_EQ(entry->encoding(), codec::Encoding::kJson);
  EXPECT_EQ(entry->content_hash(), 7U);
  EXPECT_EQ(entry->key(), (ObjectKey{"ns", "name"}));
}

// These names were chosen by a hash that Entry had before, and which everybody could compute. The
// low ten bits of their hashes were the same, so that in a table of 1,024 slots all of them were in
// one run.
TEST(EntryTest, NobodyCanChooseNamesThatMeet) {
  constexpr std::size_t kPlaces = 1024;
  const std::hash<std::string_view> hash;
  const std::size_t of_namespace = hash("ns") * 0x9e3779b97f4a7c15ULL;
  std::set<std::size_t> places;
  int names = 0;
  for (int i = 0; names < 512; ++i) {
    const std::string name = "config-" + std::to_string(i);
    const std::size_t mixed = of_namespace ^ hash(name);
    if (static_cast<std::uint32_t>(mixed ^ (mixed >> 32)) % kPlaces == 7) {
      places.insert(Entry::HashKey("ns", name) % kPlaces);
      ++names;
    }
  }
  EXPECT_GT(places.size(), 300U) << "403 are expected";
}

TEST(EntryTest, RefusesAnAbsurdKey) {
  const ObjectKey key{"", std::string(70000, 'x')};
  const auto entry = Entry::New({.key = key,
                                 .resource_version = "1",
                                 .terms = {},
                                 .encoding = codec::Encoding::kJson,
                                 .raw_size = 0,
                                 .content_hash = 0,
                                 .packed = {}});
  ASSERT_FALSE(entry.has_value());
  EXPECT_EQ(entry.error().reason, apimachinery::Reason::kInvalid);
}

TEST(EntryTableTest, TellsNamespaceAndNameApart) {
  EntryTable table;
  table.Insert(MakeEntry({"ab", "c"}, "1"));
  EXPECT_FALSE(table.Find("a", "bc"));
  EXPECT_FALSE(table.Find("", "abc"));
  EXPECT_TRUE(table.Find("ab", "c"));
}

// Every operation has the same result as the operation of a map, size and bytes are the right sums,
// and every entry is listed once.
TEST(EntryTableTest, BehavesAsAMapUnderRandomOperations) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  EntryTable table;
  std::map<ObjectKey, std::string> model;
  for (int i = 0; i < 20000; ++i) {
    const ObjectKey key{"ns" + std::to_string(random() % 3), std::to_string(random() % 300)};
    const std::string version = std::to_string(i);
    const auto known = model.find(key);
    const std::string expected = known == model.end() ? "" : known->second;
    switch (random() % 3) {
      case 0: {
        const EntryRef old = table.Insert(MakeEntry(key, version));
        EXPECT_EQ(old ? old->resource_version() : "", expected);
        model[key] = version;
        break;
      }
      case 1: {
        const EntryRef old = table.Erase(key.namespace_, key.name);
        EXPECT_EQ(old ? old->resource_version() : "", expected);
        model.erase(key);
        break;
      }
      default: {
        const EntryRef found = table.Find(key.namespace_, key.name);
        EXPECT_EQ(found ? found->resource_version() : "", expected);
        break;
      }
    }
    ASSERT_EQ(table.size(), model.size());
  }
  std::map<ObjectKey, std::string> listed;
  for (const EntryRef& entry : table.Entries()) {
    EXPECT_TRUE(listed.emplace(entry->key(), entry->resource_version()).second);
  }
  EXPECT_EQ(listed, model);
}

TEST(EntryTableTest, CountsBytes) {
  EntryTable table;
  const EntryRef entry = MakeEntry({"ns", "a"}, "1");
  table.Insert(entry);
  table.Insert(MakeEntry({"ns", "b"}, "1"));
  const std::size_t with_two = table.bytes();
  table.Insert(MakeEntry({"ns", "c"}, "1"));  // the table already has a slot for this entry
  EXPECT_EQ(table.bytes(), with_two + entry->size());
  table.Erase("ns", "c");
  EXPECT_EQ(table.bytes(), with_two);
}

TEST(EntryTableTest, GivesSlotsBack) {
  EntryTable table;
  for (int i = 0; i < 10000; ++i) {
    table.Insert(MakeEntry({"ns", std::to_string(i)}, "1"));
  }
  for (int i = 1; i < 10000; ++i) {
    table.Erase("ns", std::to_string(i));
  }
  EXPECT_TRUE(table.Find("ns", "0"));
  EXPECT_LE(table.slots(), 16U);
}

}  // namespace
}  // namespace kubexx::cache
