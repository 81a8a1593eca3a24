#include "kubexx/reloader/settings/settings_node.h"

#include <gtest/gtest.h>

namespace kubexx::reloader {
namespace {

TEST(SettingsNodeTest, ErrorsSayWhereTheValueIs) {
  const auto tree = ParseSettings("a:\n- b: 1\n- c: x\nd: null\n");
  ASSERT_TRUE(tree);
  const SettingsNode root(*tree);
  EXPECT_TRUE(root.CheckMembers({"a", "d"}));
  EXPECT_EQ(root.CheckMembers({"a"}).error().message,
            "there is no member \"d\"; the members are a");
  EXPECT_EQ(root.At("a").At(0).At("b").Text().error().message, "a[0].b: must be a text");
  EXPECT_EQ(root.At("a").At(1).At("c").Text().value_or(""), "x");
  EXPECT_EQ(root.At("a").CheckMembers({}).error().message, "a: must be an object");
  EXPECT_TRUE(root.At("a").CheckList(1, 2, "things"));
  EXPECT_EQ(root.At("a").CheckList(3, 4, "things").error().message,
            "a: must be a list of 3 to 4 things");
  EXPECT_EQ(root.At("e").CheckList(0, 4, "things").error().message,
            "e: must be a list of 0 to 4 things");
  EXPECT_FALSE(root.At("d").exists()) << "null is absent";
  EXPECT_EQ(root.At("d").Text().value_or("wrong"), "");
  EXPECT_EQ(root.At("e").Text().value_or("wrong"), "");
}

TEST(ParseSettingsTest, TakesOneDocumentWithoutDuplicates) {
  EXPECT_TRUE(ParseSettings(R"({"a":1})"));
  EXPECT_EQ(ParseSettings("a: 1\n---\nb: 1\n").error().message, "must be one YAML document");
  EXPECT_EQ(ParseSettings("").error().message, "must be one YAML document");
  EXPECT_FALSE(ParseSettings("a: 1\na: 2\n"));
  EXPECT_FALSE(ParseSettings("a: ["));
}

}  // namespace
}  // namespace kubexx::reloader
