#include "kubexx/apiserver/endpoints/addresses.h"

#include <gtest/gtest.h>

#include <string>

namespace kubexx::apiserver {
namespace {

bool Within(const std::string& inner, const std::string& outer) {
  const auto one = ParseCidrBlock(inner);
  const auto other = ParseCidrBlock(outer);
  EXPECT_TRUE(one && other) << inner << outer;
  return one && other && IsWithin(*one, *other);
}

TEST(AddressesTest, AreOfEitherFamily) {
  for (const char* const text : {"1.2.3.4", "::1", "2001:db8::ffff", "0.0.0.0"}) {
    EXPECT_TRUE(IsStrictAddress(text)) << text;
  }
  for (const char* const text : {"", "1.2.3", "1.2.3.4.5", "256.1.1.1", "a", "1.2.3.4 ", ":::"}) {
    EXPECT_FALSE(ParseAddress(text)) << text;
  }
  for (const char* const text : {"01.2.3.4", "1.2.3.04", "::ffff:1.2.3.4"}) {
    EXPECT_TRUE(ParseAddress(text)) << text;
    EXPECT_FALSE(IsStrictAddress(text)) << text;
  }
}

TEST(AddressesTest, RangesHaveNoBitsBeyondTheirOwn) {
  for (const char* const text : {"10.0.0.0/8", "0.0.0.0/0", "2001:db8::/32", "1.2.3.4/32"}) {
    EXPECT_TRUE(IsStrictRange(text)) << text;
  }
  for (const char* const text : {"10.0.0.1/8", "10.0.0.0/08", "10.0.0.0/33", "10.0.0.0", "x/8",
                                 "::ffff:10.0.0.0/104", "10.0.0.0/", "10.0.0.0/-1"}) {
    EXPECT_FALSE(IsStrictRange(text)) << text;
  }
}

TEST(AddressesTest, OneRangeLiesInAnother) {
  EXPECT_TRUE(Within("10.1.0.0/16", "10.0.0.0/8"));
  EXPECT_TRUE(Within("2001:db8:1::/48", "2001:db8::/32"));
  EXPECT_FALSE(Within("10.0.0.0/8", "10.0.0.0/8"));
  EXPECT_FALSE(Within("11.0.0.0/16", "10.0.0.0/8"));
  EXPECT_FALSE(Within("10.0.0.0/8", "::/0"));
}

}  // namespace
}  // namespace kubexx::apiserver
