#include "kubexx/cache/internal/packed/decoded_cache.h"

#include <gtest/gtest.h>

#include <string>

#include "kubexx/cache/internal/packed/packed_store.h"

namespace kubexx::cache {
namespace {

EntryRef MakeEntry(PackedStore& store, const std::string& name, std::size_t bytes) {
  return *store.Pack({.bytes = std::string(bytes, 'x'), .key = {"ns", name}});
}

TEST(DecodedCacheTest, KeepsNothingBeforeAnOldStateWasAskedFor) {
  PackedStore store;
  DecodedCache cache;
  const EntryRef entry = MakeEntry(store, "a", 10);
  cache.Put(entry, std::make_shared<const int>(1));
  EXPECT_EQ(cache.size(), 0U);
  EXPECT_EQ(cache.Take(*entry), nullptr);
  cache.Put(entry, std::make_shared<const int>(1));
  EXPECT_EQ(cache.size(), 1U);
}

TEST(DecodedCacheTest, GivesWhatWasPutOnce) {
  PackedStore store;
  DecodedCache cache;
  const EntryRef entry = MakeEntry(store, "a", 10);
  const auto decoded = std::make_shared<const int>(1);
  (void)cache.Take(*entry);
  cache.Put(entry, decoded);
  EXPECT_EQ(cache.Take(*entry), decoded);
  EXPECT_EQ(cache.Take(*entry), nullptr);
  EXPECT_EQ(decoded.use_count(), 1);
}

TEST(DecodedCacheTest, KeepsTheFirstOfTwo) {
  PackedStore store;
  DecodedCache cache;
  const EntryRef entry = MakeEntry(store, "a", 10);
  const auto first = std::make_shared<const int>(1);
  (void)cache.Take(*entry);
  cache.Put(entry, first);
  cache.Put(entry, std::make_shared<const int>(2));
  EXPECT_EQ(cache.size(), 1U);
  EXPECT_EQ(cache.Take(*entry), first);
}

TEST(DecodedCacheTest, DropsTheOldestBeyondItsBytes) {
  PackedStore store;
  DecodedCache cache(25);
  const EntryRef a = MakeEntry(store, "a", 10);
  const EntryRef b = MakeEntry(store, "b", 10);
  const EntryRef c = MakeEntry(store, "c", 10);
  const EntryRef large = MakeEntry(store, "large", 26);
  const auto decoded = std::make_shared<const int>(1);
  (void)cache.Take(*a);
  for (const EntryRef& entry : {a, b, c, large}) {
    cache.Put(entry, decoded);
  }
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_EQ(cache.Take(*a), nullptr);
  EXPECT_EQ(cache.Take(*large), nullptr);
  EXPECT_NE(cache.Take(*b), nullptr);
  EXPECT_NE(cache.Take(*c), nullptr);
}

}  // namespace
}  // namespace kubexx::cache
