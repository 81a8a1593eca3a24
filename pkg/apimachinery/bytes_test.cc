#include "kubexx/apimachinery/bytes.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/base/testing/freed_memory/freed_memory.h"

namespace kubexx::apimachinery {
namespace {

constexpr std::string_view kMark = "correct-horse-battery-staple";
constexpr std::string_view kShort = "hunter2";  // Fits into the string object itself.

/// A long secret, at the end of a string with spare capacity.
std::string LongSecret() {
  std::string text;
  text.reserve(4096);
  text.append(64, '.');
  text.append(kMark);
  return text;
}

/// How many blocks `run` freed with the mark in them.
int DirtyBlocks(const std::function<void()>& run) {
  return base::testing::CountFreedWith(kMark, run);
}

template <class T>
std::string_view RawBytes(const T* object) {
  return {reinterpret_cast<const char*>(object), sizeof(T)};
}

TEST(BytesWipeTest, TheTestSeesWhatIsNotWiped) {
  EXPECT_EQ(DirtyBlocks([] { const std::string text = LongSecret(); }), 1);
}

TEST(BytesWipeTest, WipeClearsSpareCapacityToo) {
  EXPECT_EQ(DirtyBlocks([] {
              std::string text = LongSecret();
              text.resize(3);
              Wipe(text);
              EXPECT_EQ(text, "");
            }),
            0);
}

TEST(BytesWipeTest, DestructionWipes) {
  EXPECT_EQ(DirtyBlocks([] { const Bytes bytes(LongSecret()); }), 0);
}

TEST(BytesWipeTest, AssignmentWipesWhatWasThere) {
  const Bytes other(std::string("other"));
  EXPECT_EQ(DirtyBlocks([&] {
              Bytes bytes(LongSecret());
              bytes = other;
              bytes = Bytes(LongSecret());
              bytes = Bytes(std::string(10000, 'x'));
              EXPECT_EQ(bytes.view().size(), 10000U);
            }),
            0);
}

TEST(BytesWipeTest, CopiesWipeEachForItself) {
  EXPECT_EQ(DirtyBlocks([] {
              Bytes a(LongSecret());
              const Bytes b = a;
              EXPECT_EQ(a, b);
              a = Bytes();
              EXPECT_TRUE(b.view().ends_with(kMark));
            }),
            0);
}

TEST(BytesWipeTest, ShortValuesLeaveNothingInTheObject) {
  alignas(Bytes) std::byte memory[sizeof(Bytes)] = {};
  auto* const bytes = new (memory) Bytes(std::string(kShort));
  ASSERT_NE(RawBytes(bytes).find(kShort), std::string_view::npos) << "kept inside the object";
  std::destroy_at(bytes);
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(memory), sizeof(memory)).find(kShort),
            std::string_view::npos);
}

TEST(BytesWipeTest, ShortValuesLeaveNothingInTheStringTheyCameFrom) {
  std::string source(kShort);
  const Bytes bytes(std::move(source));
  EXPECT_EQ(RawBytes(&source).find(kShort), std::string_view::npos);
  EXPECT_EQ(bytes.view(), kShort);
}

TEST(BytesWipeTest, ShortValuesLeaveNothingInWhatTheyWereMovedFrom) {
  Bytes first{std::string(kShort)};
  Bytes second(std::move(first));
  EXPECT_EQ(RawBytes(&first).find(kShort), std::string_view::npos);
  EXPECT_EQ(second.view(), kShort);
  Bytes third;
  third = std::move(second);
  EXPECT_EQ(RawBytes(&second).find(kShort), std::string_view::npos);
  EXPECT_EQ(third.view(), kShort);
}

TEST(BytesTest, IsAValue) {
  const std::string text("a\0b", 3);
  Bytes a(text);
  EXPECT_EQ(a.view(), text);
  EXPECT_EQ(text.size(), 3U) << "a string that is not moved stays";
  EXPECT_FALSE(a.empty());
  EXPECT_TRUE(Bytes().empty());
  EXPECT_NE(a, Bytes());
  Bytes& same = a;
  a = same;
  EXPECT_EQ(a.view(), text);
  a = std::move(same);
  EXPECT_EQ(a.view(), text);
}

}  // namespace
}  // namespace kubexx::apimachinery
