#include "kubexx/cache/internal/informer/merge_buffer.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace kubexx::cache {
namespace {

using Type = RawEvent::Type;

EntryRef MakeEntry(const std::string& name, int version) {
  const apimachinery::ObjectKey key{"ns", name};
  auto entry = Entry::New({.key = key,
                           .resource_version = std::to_string(version),
                           .terms = {},
                           .encoding = codec::Encoding::kJson,
                           .raw_size = 0,
                           .content_hash = 0,
                           .packed = {}});
  EXPECT_TRUE(entry.has_value());
  return *entry;
}

std::string Describe(const std::optional<MergeBuffer::Item>& item) {
  if (!item) {
    return "none";
  }
  const auto* change = std::get_if<MergeBuffer::Change>(&*item);
  if (change == nullptr) {
    return "synced";
  }
  const std::string type = change->type == Type::kAdd      ? "add "
                           : change->type == Type::kUpdate ? "update "
                                                           : "delete ";
  return type + std::string(change->object->name()) + " " +
         (change->old ? std::string(change->old->resource_version()) : "-") + ">" +
         std::string(change->object->resource_version());
}

TEST(MergeBufferTest, KeepsTheFirstOldAndTheLastNewState) {
  MergeBuffer buffer;
  const EntryRef a1 = MakeEntry("a", 1);
  const EntryRef a2 = MakeEntry("a", 2);
  const EntryRef a3 = MakeEntry("a", 3);
  EXPECT_FALSE(buffer.Push({Type::kUpdate, a2, a1}));
  EXPECT_FALSE(buffer.Push({Type::kAdd, MakeEntry("b", 9)}));
  buffer.PushSynced();
  EXPECT_TRUE(buffer.Push({Type::kUpdate, a3, a2}));
  EXPECT_TRUE(buffer.Push({Type::kUpdate, a3, a3})) << "a resync";
  EXPECT_EQ(buffer.size(), 3U);
  EXPECT_EQ(Describe(buffer.Pop()), "update a 1>3");
  EXPECT_EQ(Describe(buffer.Pop()), "add b ->9");
  EXPECT_EQ(Describe(buffer.Pop()), "synced");
  EXPECT_EQ(Describe(buffer.Pop()), "none");
}

TEST(MergeBufferTest, DeletesAndCreationsMeet) {
  MergeBuffer buffer;
  const EntryRef a1 = MakeEntry("a", 1);
  EXPECT_FALSE(buffer.Push({Type::kDelete, MakeEntry("a", 2), a1}));
  EXPECT_TRUE(buffer.Push({Type::kAdd, MakeEntry("a", 3)}));
  EXPECT_EQ(Describe(buffer.Pop()), "update a 1>3");
  EXPECT_FALSE(buffer.Push({Type::kAdd, MakeEntry("b", 1)}));
  EXPECT_TRUE(buffer.Push({Type::kDelete, MakeEntry("b", 2), MakeEntry("b", 1)}));
  EXPECT_TRUE(buffer.empty()) << "nobody was told of it";
}

TEST(MergeBufferTest, WhatCameAndWentIsToldAsGoneToWhoWantsThat) {
  MergeBuffer buffer(true);
  const EntryRef a1 = MakeEntry("a", 1);
  EXPECT_FALSE(buffer.Push({Type::kAdd, a1}));
  EXPECT_TRUE(buffer.Push({Type::kDelete, MakeEntry("a", 2), a1}));
  EXPECT_EQ(Describe(buffer.Pop()), "delete a 1>2");
  EXPECT_TRUE(buffer.empty());
}

// Whatever is pushed, the objects that the taker knows become those of the pusher, and there are
// never more waiting changes than objects.
TEST(MergeBufferTest, TheTakerEndsWhereThePusherIs) {
  constexpr int kObjects = 8;
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  MergeBuffer buffer;
  std::map<std::string, EntryRef> pushed;
  std::map<std::string, EntryRef> taken;
  const auto take = [&] {
    const auto item = buffer.Pop();
    if (!item) {
      return false;
    }
    const auto& change = std::get<MergeBuffer::Change>(*item);
    const std::string name(change.object->name());
    EXPECT_EQ(taken.contains(name), change.type != Type::kAdd);
    if (change.type != Type::kAdd) {
      EXPECT_EQ(change.old, taken[name]);
    }
    taken[name] = change.object;
    if (change.type == Type::kDelete) {
      taken.erase(name);
    }
    return true;
  };
  for (int i = 0; i < 5000; ++i) {
    const std::string name = std::to_string(random() % kObjects);
    const EntryRef now = MakeEntry(name, i);
    const EntryRef old = pushed.contains(name) ? pushed[name] : EntryRef();
    if (random() % 3 == 0) {
      take();
    } else if (!old) {
      buffer.Push({Type::kAdd, now, old});
      pushed[name] = now;
    } else if (random() % 3 == 0) {
      buffer.Push({Type::kDelete, now, old});
      pushed.erase(name);
    } else if (random() % 5 == 0) {
      buffer.Push({Type::kUpdate, old, old});
    } else {
      buffer.Push({Type::kUpdate, now, old});
      pushed[name] = now;
    }
    ASSERT_LE(buffer.size(), static_cast<std::size_t>(kObjects));
  }
  while (take()) {
  }
  EXPECT_EQ(taken, pushed);
}

}  // namespace
}  // namespace kubexx::cache
