#include "kubexx/apimachinery/box.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <utility>

namespace kubexx::apimachinery {
namespace {

/// Holds itself, as schemas do.
struct Tree {
  int value = 0;
  Box<Tree> child{};
  bool operator==(const Tree&) const = default;
};

static_assert(std::is_nothrow_move_constructible_v<Box<Tree>>);
static_assert(sizeof(Box<Tree>) == sizeof(void*));

TEST(BoxTest, StartsEmpty) {
  const Box<int> box;
  EXPECT_FALSE(box);
  EXPECT_FALSE(box.has_value());
  EXPECT_EQ(box.get(), nullptr);
  EXPECT_EQ(box, Box<int>(nullptr));
}

TEST(BoxTest, HoldsAValue) {
  Box<std::string> box("text");
  EXPECT_TRUE(box);
  EXPECT_EQ(*box, "text");
  EXPECT_EQ(box->size(), 4U);
  box.reset();
  EXPECT_FALSE(box);
}

TEST(BoxTest, EmplaceReplacesAndGetOrEmplaceKeeps) {
  Box<std::string> box("text");
  EXPECT_EQ(box.get_or_emplace(), "text");
  EXPECT_EQ(box.emplace(), "");
  box.reset();
  box.get_or_emplace() = "new";
  EXPECT_EQ(*box, "new");
}

TEST(BoxTest, CopyIsDeep) {
  Tree tree{1, Tree{2, Tree{3}}};
  Tree copy = tree;
  EXPECT_EQ(copy, tree);
  copy.child->child->value = 4;
  EXPECT_NE(copy, tree);
  EXPECT_EQ(tree.child->child->value, 3);
  copy = tree;
  EXPECT_EQ(copy, tree);
}

TEST(BoxTest, SelfAssignmentKeepsTheValue) {
  Box<std::string> box("text");
  Box<std::string>& same = box;
  box = same;
  EXPECT_EQ(*box, "text");
}

TEST(BoxTest, MoveTakesTheValue) {
  Box<std::string> from("text");
  const std::string* const address = from.get();
  const Box<std::string> to(std::move(from));
  EXPECT_EQ(to.get(), address);
}

TEST(BoxTest, EqualityIsOfValuesAndOfAbsence) {
  EXPECT_EQ(Box<int>(1), Box<int>(1));
  EXPECT_NE(Box<int>(1), Box<int>(2));
  EXPECT_NE(Box<int>(0), Box<int>());
  EXPECT_EQ(Box<int>(), Box<int>());
}

TEST(BoxTest, ChildMayReplaceItsParent) {
  Box<Tree> root(Tree{1, Tree{2, Tree{3}}});
  Box<Tree> child = std::move(root->child);
  root = std::move(child);
  EXPECT_EQ(root->value, 2);
  root = Box<Tree>(root->child);
  EXPECT_EQ(root->value, 3);
}

}  // namespace
}  // namespace kubexx::apimachinery
