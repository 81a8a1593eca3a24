#include "kubexx/apiserver/endpoints/checks/restore.h"

#include <gtest/gtest.h>

#include <string>

namespace kubexx::apiserver {
namespace {

std::string Restored(const std::string& object, const std::string& current, const char* path) {
  auto tree = codec::JsonTree::Parse(object);
  const auto former = codec::JsonTree::Parse(current);
  EXPECT_TRUE(tree && former);
  Restore(*tree, *former, path);
  return tree->ToJson();
}

TEST(RestoreTest, WhatWasThereComesBack) {
  EXPECT_EQ(Restored(R"({"a":1,"b":2})", R"({"a":3})", "a"), R"({"a":3,"b":2})");
  EXPECT_EQ(Restored(R"({"b":2})", R"({"a":{"c":4}})", "a.c"), R"({"b":2,"a":{"c":4}})");
}

TEST(RestoreTest, WhatWasNotThereGoes) {
  EXPECT_EQ(Restored(R"({"a":1,"b":2})", "{}", "a"), R"({"b":2})");
  EXPECT_EQ(Restored(R"({"a":{"c":1}})", "{}", "a.c"), "{}") << "with what would be empty";
  EXPECT_EQ(Restored(R"({"a":{"c":1}})", R"({"a":{}})", "a.c"), R"({"a":{}})");
  EXPECT_EQ(Restored(R"({"b":2})", "{}", "a.c"), R"({"b":2})") << "nothing is made for it";
}

}  // namespace
}  // namespace kubexx::apiserver
