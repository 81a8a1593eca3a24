#include <gtest/gtest.h>

#include <string>

#include "kubexx/cache/internal/packed/packed_store.h"
#include "kubexx/cache/testing/fake_source.h"

namespace kubexx::cache {
namespace {

Object MakeLarge(const std::string& name, int version) {
  const std::string text = std::to_string(version);
  std::string payload;
  for (int i = 0; i < 200; ++i) {
    payload += "line " + std::to_string(i) + " of what all objects have in common; ";
  }
  const apimachinery::ObjectKey key{"ns", name};
  return {.encoding = codec::Encoding::kJson,
          .bytes = testing::FakeJson(key, text, payload + text),
          .key = key,
          .resource_version = text};
}

class PackedStoreRecentTest : public ::testing::Test {
 protected:
  PackedStoreRecentTest() {
    for (int i = 0; i < 300; ++i) {  // enough to learn a dictionary from
      store_.Put(*store_.Pack(MakeLarge("first-" + std::to_string(i), i)));
    }
    (void)store_.AddIndexer(
        [](const Object& object) { return IndexTerms{{"name", object.key.name}}; });
  }

  void Update(const std::string& name, int version) {
    const Object object = MakeLarge(name, version);
    const EntryRef entry = *store_.MakeRecent(object, PackedStore::HashContent(object));
    store_.Put(entry);
    store_.PackOverdue();
  }

  // Updates more objects than may wait to be packed.
  void UpdateOthers() {
    const std::size_t size = MakeLarge("other", 0).bytes.size();
    for (std::size_t i = 0; i * size < (4U << 20); ++i) {
      Update("other-" + std::to_string(i), static_cast<int>(i));
    }
  }

  // Returns the bytes of a store of `objects` objects after all of them were updated `rounds`
  // times.
  std::size_t BytesAfterRounds(int objects, int rounds) {
    for (int i = 0; i < objects * rounds; ++i) {
      Update("object-" + std::to_string(i % objects), i);
    }
    return store_.bytes();
  }

  EntryRef Find(const std::string& name) const { return store_.Find({"ns", name}); }

  PackedStore store_{};
};

TEST_F(PackedStoreRecentTest, KeepsANewStateUnpackedForNow) {
  Update("a", 1);
  EXPECT_FALSE(Find("a")->compressed());
  EXPECT_EQ(store_.Unpack(*Find("a"))->bytes, MakeLarge("a", 1).bytes);
}

TEST_F(PackedStoreRecentTest, PacksWhatHasBeenQuiet) {
  Update("a", 1);
  const std::size_t before = Find("a")->size();
  UpdateOthers();
  EXPECT_TRUE(Find("a")->compressed());
  EXPECT_LT(Find("a")->size(), before / 4);
  EXPECT_EQ(store_.Unpack(*Find("a"))->bytes, MakeLarge("a", 1).bytes);
  EXPECT_EQ(Find("a")->content_hash(), PackedStore::HashContent(MakeLarge("a", 1)));
  EXPECT_EQ(store_.KeysByIndex("name", "a").size(), 1U);
}

TEST_F(PackedStoreRecentTest, BringsNothingBackThatWasReplacedOrRemoved) {
  Update("a", 1);
  Update("b", 1);
  Update("a", 2);
  store_.Remove({"ns", "b"});
  UpdateOthers();
  EXPECT_EQ(Find("a")->resource_version(), "2");
  EXPECT_FALSE(Find("b"));
  EXPECT_TRUE(store_.KeysByIndex("name", "b").empty());
}

TEST_F(PackedStoreRecentTest, HoldsAFewMegabytesOfStatesAtMost) {
  for (int i = 0; i < 2000; ++i) {
    Update("object-" + std::to_string(i), i);
  }
  const std::size_t raw = 2000 * MakeLarge("object", 0).bytes.size();
  ASSERT_GT(raw, std::size_t{16} << 20);
  EXPECT_LT(store_.bytes(), std::size_t{5} << 20);
}

TEST_F(PackedStoreRecentTest, ReplacedStatesTakeNoRoom) {
  Update("a", 1);
  const std::size_t size = MakeLarge("other", 0).bytes.size();
  for (std::size_t i = 0; i * size < (8U << 20); ++i) {
    Update("other", static_cast<int>(i));
  }
  EXPECT_FALSE(Find("a")->compressed());
}

TEST_F(PackedStoreRecentTest, WhatChangesAgainAndAgainFindsRoom) {
  const std::size_t raw = 800 * MakeLarge("object", 0).bytes.size();
  ASSERT_GT(raw, 2 * WaitingEntries::kMinRoom);
  EXPECT_LT(BytesAfterRounds(800, 1), raw / 2);
  EXPECT_GT(BytesAfterRounds(800, 3), raw) << "none of them is packed any more";
  for (int i = 0; i < 800; ++i) {
    EXPECT_FALSE(Find("object-" + std::to_string(i))->compressed());
  }
}

TEST_F(PackedStoreRecentTest, TheRoomHasALimit) {
  constexpr int kObjects = 4000;
  ASSERT_GT(kObjects * MakeLarge("object", 0).bytes.size(), WaitingEntries::kMaxRoom);
  const std::size_t bytes = BytesAfterRounds(kObjects, 4);
  EXPECT_GT(bytes, WaitingEntries::kMaxRoom / 2);
  EXPECT_LT(bytes, WaitingEntries::kMaxRoom + WaitingEntries::kMaxRoom / 4);
}

TEST_F(PackedStoreRecentTest, ChangesOfOthersMakeTheRoomSmallAgain) {
  BytesAfterRounds(800, 3);
  const std::size_t size = MakeLarge("once", 0).bytes.size();
  for (std::size_t i = 0; i * size < (48U << 20); ++i) {
    Update("once-" + std::to_string(i), static_cast<int>(i));
  }
  EXPECT_LT(store_.bytes(), std::size_t{6} << 20);
}

TEST_F(PackedStoreRecentTest, AnIndexThatComesLaterDoesNotKeepThemFromBeingPacked) {
  Update("a", 1);
  (void)store_.AddIndexer([](const Object&) { return IndexTerms{{"late", "yes"}}; });
  EXPECT_FALSE(Find("a")->compressed());
  UpdateOthers();
  EXPECT_TRUE(Find("a")->compressed());
  EXPECT_GE(store_.CountByIndex("late", "yes"), 300U);
}

}  // namespace
}  // namespace kubexx::cache
