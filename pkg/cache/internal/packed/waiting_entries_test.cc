#include "kubexx/cache/internal/packed/waiting_entries.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kubexx::cache {
namespace {

class WaitingEntriesTest : public ::testing::Test {
 protected:
  static EntryRef MakeEntry(const std::string& name, std::size_t size, std::uint64_t hash = 1,
                            bool waits = true) {
    const apimachinery::ObjectKey key{"ns", name};
    const std::string bytes(size, 'x');
    return *Entry::New({.key = key,
                        .resource_version = {},
                        .terms = {},
                        .encoding = codec::Encoding::kJson,
                        .raw_size = size,
                        .content_hash = hash,
                        .changed = true,
                        .waits = waits,
                        .packed = bytes});
  }
  void Put(const EntryRef& entry) {
    const EntryRef old = table_.Insert(entry);
    waiting_.Put(*entry, old.get());
  }
  std::vector<std::string> Overdue() {
    std::vector<std::string> names;
    for (const EntryRef& entry : waiting_.TakeOverdue(table_)) {
      names.emplace_back(entry->name());
    }
    return names;
  }

  static constexpr std::size_t kHalf = WaitingEntries::kMinRoom / 2;
  EntryTable table_;
  WaitingEntries waiting_;
};

TEST_F(WaitingEntriesTest, WhatCameFirstIsOverdueFirst) {
  Put(MakeEntry("a", 100));
  Put(MakeEntry("b", kHalf));
  EXPECT_TRUE(Overdue().empty());
  Put(MakeEntry("c", kHalf));
  EXPECT_EQ(Overdue(), (std::vector<std::string>{"a", "b"}));
}

TEST_F(WaitingEntriesTest, AChangeBeginsTheWaitAnew) {
  Put(MakeEntry("a", 100));
  Put(MakeEntry("b", kHalf));
  Put(MakeEntry("a", 101, 2));
  Put(MakeEntry("c", kHalf));
  EXPECT_EQ(Overdue(), (std::vector<std::string>{"b"}));
}

TEST_F(WaitingEntriesTest, CountsWhatWaits) {
  const EntryRef a = MakeEntry("a", 100);
  Put(a);
  Put(a);
  EXPECT_EQ(waiting_.bytes(), a->size());
  const EntryRef packed = Entry::WithBytes(*a, {.compressed = true, .bytes = "x"});
  EXPECT_TRUE(packed->changed());
  EXPECT_FALSE(packed->waits());
  Put(packed);
  EXPECT_EQ(waiting_.bytes(), 0U);
  const EntryRef again = MakeEntry("a", 100, 2);
  Put(again);
  EXPECT_GT(waiting_.room(), WaitingEntries::kMinRoom) << "it was packed for nothing";
  waiting_.Remove(*table_.Erase("ns", "a"));
  EXPECT_EQ(waiting_.bytes(), 0U);
  Put(again);
  waiting_.Reset(EntryTable());
  EXPECT_EQ(waiting_.bytes(), 0U);
  waiting_.Reset(table_);
  EXPECT_EQ(waiting_.bytes(), again->size());
}

// An object that changes all the time does not leave places behind.
TEST_F(WaitingEntriesTest, PlacesOfReplacedStatesDoNotPileUp) {
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    Put(MakeEntry("hot", 100, i));
    ASSERT_TRUE(Overdue().empty());
  }
  Put(MakeEntry("large", 2 * kHalf - 100));
  EXPECT_EQ(Overdue(), (std::vector<std::string>{"hot"}));
}

}  // namespace
}  // namespace kubexx::cache
