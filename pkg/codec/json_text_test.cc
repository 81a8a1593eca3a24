#include "kubexx/codec/json_text.h"

#include <gtest/gtest.h>

#include <string>

#include "kubexx/codec/json_tree.h"

namespace kubexx::codec {
namespace {

TEST(QuotedJsonTest, IsAStringLiteralThatReadsBackAsTheText) {
  EXPECT_EQ(QuotedJson("plain"), R"("plain")");
  EXPECT_EQ(QuotedJson("a\"b\\c\nd<e>"), R"("a\"b\\c\nd\u003ce\u003e")");
  const std::string text = "all\t\x01 \xc3\xa9 & \"more\"";
  const auto read = JsonTree::Parse(QuotedJson(text));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read->AsString(), text);
}

TEST(QuotedJsonTest, IsAppendedToWhatIsThere) {
  std::string out = R"({"name":)";
  AppendQuotedJson("x", out);
  EXPECT_EQ(out, R"({"name":"x")");
}

TEST(NestsDeeperThanTest, CountsObjectsAndArraysTogether) {
  EXPECT_FALSE(NestsDeeperThan(R"({"a":[1]})", 2));
  EXPECT_TRUE(NestsDeeperThan(R"({"a":[1]})", 1));
  EXPECT_FALSE(NestsDeeperThan(R"([[],[],[]])", 2));
}

TEST(NestsDeeperThanTest, BracketsInTextsAreNone) {
  EXPECT_FALSE(NestsDeeperThan(R"({"a":"[[[[\"[[["})", 1));
  EXPECT_TRUE(NestsDeeperThan(R"({"a\\":[]})", 1));
}

}  // namespace
}  // namespace kubexx::codec
