#include "kubexx/apiserver/endpoints/checks/ip_address.h"

#include <gmock/gmock.h>

namespace kubexx::apiserver {
namespace {

using ::testing::HasSubstr;

TEST(IpAddressTest, IsOfFourBytesOrOfSixteen) {
  EXPECT_EQ(BytesOfAddress("10.0.0.1"), std::string("\x0a\0\0\x01", 4));
  EXPECT_EQ(BytesOfAddress("fd00::1").size(), 16U);
  EXPECT_EQ(TextOfAddress(BytesOfAddress("FD00:0:0::0001")), "fd00::1");
  for (const char* const bad :
       {"", "10.0.0", "10.0.0.256", "[::1]", "fd00::1%eth0", "a", "::1/8"}) {
    EXPECT_EQ(BytesOfAddress(bad), "") << bad;
    EXPECT_EQ(BytesOfOldAddress(bad), "") << bad;
  }
  EXPECT_EQ(TextOfAddress("abc"), "");
}

TEST(IpAddressTest, WhatMeansDifferentThingsToOthersIsAProblem) {
  EXPECT_EQ(AddressProblem("10.0.0.1"), "");
  EXPECT_EQ(AddressProblem("10.0.0.0"), "");
  EXPECT_EQ(AddressProblem("FE80:0::0abc"), "");
  EXPECT_EQ(AddressProblem("010.0.0.1"), "must not have leading 0s");
  EXPECT_EQ(AddressProblem("10.000.0.1"), "must not have leading 0s");
  EXPECT_EQ(AddressProblem("::ffff:10.0.0.1"), "must not be an IPv4-mapped IPv6 address");
  EXPECT_THAT(AddressProblem("10.0.0"), HasSubstr("must be a valid IP address"));
  EXPECT_THAT(AddressProblem(""), HasSubstr("must be a valid IP address"));
}

TEST(IpAddressTest, ARangeHasNothingBehindItsPrefix) {
  EXPECT_EQ(CidrProblem("10.0.0.0/8"), "");
  EXPECT_EQ(CidrProblem("fd00:0012::/64"), "");
  EXPECT_EQ(CidrProblem("10.0.0.1/8"), "must not have bits set beyond the prefix length");
  EXPECT_EQ(CidrProblem("010.0.0.0/8"), "must not have leading 0s in IP or prefix length");
  EXPECT_EQ(CidrProblem("10.0.0.0/08"), "must not have leading 0s in IP or prefix length");
  EXPECT_EQ(CidrProblem("::ffff:10.0.0.0/104"), "must not have an IPv4-mapped IPv6 address");
  for (const char* const bad : {"", "10.0.0.0", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8 "}) {
    EXPECT_THAT(CidrProblem(bad), HasSubstr("must be a valid CIDR")) << bad;
  }
}

TEST(IpAddressTest, OldFormsAreRead) {
  EXPECT_EQ(BytesOfOldAddress("010.0.000.1"), BytesOfAddress("10.0.0.1"));
  EXPECT_EQ(BytesOfOldAddress("::ffff:10.0.0.1"), BytesOfAddress("10.0.0.1"));
  EXPECT_EQ(BytesOfOldAddress("::1"), BytesOfAddress("::1"));
  for (const char* const bad : {"1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.4 ", ":::", "0", "00"}) {
    EXPECT_EQ(BytesOfOldAddress(bad), "") << bad;
  }
  EXPECT_TRUE(ParseOldCidr("010.0.0.0/08"));
  EXPECT_FALSE(ParseOldCidr("10.0.0.0/33"));
}

bool Within(const std::string& inner, const std::string& outer) {
  const auto one = ParseCidr(inner);
  const auto other = ParseCidr(outer);
  EXPECT_TRUE(one && other) << inner << outer;
  return one && other && IsWithin(*one, *other);
}

TEST(IpAddressTest, OneRangeLiesInAnother) {
  EXPECT_TRUE(Within("10.1.0.0/16", "10.0.0.0/8"));
  EXPECT_TRUE(Within("10.1.2.3/16", "10.9.9.9/8"));
  EXPECT_TRUE(Within("2001:db8:1::/48", "2001:db8::/32"));
  EXPECT_FALSE(Within("10.0.0.0/8", "10.0.0.0/8"));
  EXPECT_FALSE(Within("11.0.0.0/16", "10.0.0.0/8"));
  EXPECT_FALSE(Within("10.0.0.0/8", "::/0"));
}

TEST(IpAddressTest, SomeAddressesAreReachedByNobodyElse) {
  const auto why = [](std::string_view text) {
    return std::string(UnreachableBecause(BytesOfAddress(text)));
  };
  for (const char* const text : {"10.0.0.1", "224.0.1.1", "2001:db8::1", "ff05::1"}) {
    EXPECT_EQ(why(text), "") << text;
  }
  for (const char* const text : {"0.0.0.0", "::"}) {
    EXPECT_EQ(why(text), "may not be unspecified") << text;
  }
  for (const char* const text : {"127.9.9.9", "::1"}) {
    EXPECT_THAT(why(text), HasSubstr("loopback")) << text;
  }
  for (const char* const text : {"169.254.0.1", "febf::1"}) {
    EXPECT_THAT(why(text), HasSubstr("link-local range")) << text;
  }
  for (const char* const text : {"224.0.0.9", "ff02::1", "ff12::1"}) {
    EXPECT_THAT(why(text), HasSubstr("link-local multicast")) << text;
  }
}

}  // namespace
}  // namespace kubexx::apiserver
