#include "kubexx/apiserver/endpoints/ip_address.h"

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
    EXPECT_FALSE(IsIpAddress(bad)) << bad;
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

}  // namespace
}  // namespace kubexx::apiserver
