#include "kubexx/cache/entry_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace kubexx::cache {
namespace {

using apimachinery::ObjectKey;

EntryRef MakeEntry(const ObjectKey& key, const std::string& version, const IndexTerms& terms = {},
                   const std::string& bytes = "bytes") {
  const Packed packed{.bytes = bytes};
  auto entry = Entry::New({.key = key,
                           .resource_version = version,
                           .terms = terms,
                           .encoding = codec::Encoding::kJson,
                           .raw_size = bytes.size(),
                           .content_hash = 7,
                           .packed = packed});
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
  EXPECT_EQ(entry->terms(), terms);
  EXPECT_EQ(entry->encoding(), codec::Encoding::kJson);
  EXPECT_EQ(entry->content_hash(), 7U);
  EXPECT_EQ(entry->key(), (ObjectKey{"ns", "name"}));
}

TEST(EntryTest, RefusesAnAbsurdKey) {
  const Packed packed{};
  const ObjectKey key{"", std::string(70000, 'x')};
  const auto entry = Entry::New({.key = key,
                                 .resource_version = "1",
                                 .terms = {},
                                 .encoding = codec::Encoding::kJson,
                                 .raw_size = 0,
                                 .content_hash = 0,
                                 .packed = packed});
  ASSERT_FALSE(entry.has_value());
  EXPECT_EQ(entry.status().reason, apimachinery::Reason::kInvalid);
}

TEST(EntryTableTest, TellsNamespaceAndNameApart) {
  EntryTable table;
  table.Insert(MakeEntry({"ab", "c"}, "1"));
  EXPECT_FALSE(table.Find("a", "bc"));
  EXPECT_FALSE(table.Find("", "abc"));
  EXPECT_TRUE(table.Find("ab", "c"));
}

// Invariants: the same answers as a map for every operation; size and bytes add up; every entry is
// listed once.
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
  const std::size_t with_one = table.bytes();
  table.Insert(MakeEntry({"ns", "b"}, "1"));
  EXPECT_EQ(table.bytes(), with_one + entry->size());
  table.Erase("ns", "b");
  EXPECT_EQ(table.bytes(), with_one);
}

}  // namespace
}  // namespace kubexx::cache
