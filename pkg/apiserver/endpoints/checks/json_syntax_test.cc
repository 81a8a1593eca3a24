#include "kubexx/apiserver/endpoints/checks/json_syntax.h"

#include <gtest/gtest.h>

#include <string>

namespace kubexx::apiserver {
namespace {

std::string Nested(std::size_t levels) {
  std::string text = R"({"a":)";
  text.append(levels - 1, '[').append("1").append(levels - 1, ']');
  return text + "}";
}

TEST(JsonSyntaxTest, MapsAreTaken) {
  for (const char* const text :
       {"{}", " { } \n", "null", R"({"a":1,"b":[],"c":[{}, "\u00e4\n" ,true,false,null]})",
        R"({"a":-0.5e+3,"b":{"c":{"d":[[1],[2]]}}})", R"({"":""})"}) {
    EXPECT_TRUE(IsJsonMap(text)) << text;
  }
}

TEST(JsonSyntaxTest, OthersAreNot) {
  for (const char* const text : {"",
                                 "[]",
                                 "1",
                                 "\"a\"",
                                 "{",
                                 "}",
                                 "{}}",
                                 "{} {}",
                                 R"({"a"})",
                                 R"({"a":})",
                                 R"({"a":1,})",
                                 R"({"a":[1,]})",
                                 R"({a:1})",
                                 R"({"a":01})",
                                 R"({"a":1.})",
                                 R"({"a":1e})",
                                 R"({"a":"\x"})",
                                 R"({"a":"\u12"})",
                                 "{\"a\":\"\n\"}",
                                 R"({"a":[})",
                                 R"({"a":[1}})",
                                 "nul",
                                 "null1"}) {
    EXPECT_FALSE(IsJsonMap(text)) << text;
  }
}

// Go's encoding/json gives the same results.
TEST(JsonSyntaxTest, DepthIsLimitedAsInGo) {
  EXPECT_TRUE(IsJsonMap(Nested(513)));
  EXPECT_TRUE(IsJsonMap(Nested(10'000)));
  EXPECT_FALSE(IsJsonMap(Nested(10'001)));
}

}  // namespace
}  // namespace kubexx::apiserver
