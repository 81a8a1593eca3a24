#include "kubexx/apiserver/endpoints/services/service_ranges.h"

#include <gtest/gtest.h>

#include <string>

namespace kubexx::apiserver {
namespace {

std::string FirstOf(const char* cidrs) {
  const auto ranges = ParseAddressRanges(cidrs);
  return ranges ? ranges->front().AddressOf(AddressRange::kFirst) : ranges.error().message;
}

AddressRange RangeOf(const char* cidr) {
  const auto range = AddressRange::Parse(cidr);
  EXPECT_TRUE(range) << cidr;
  return range ? *range : AddressRange();
}

TEST(ServiceRangesTest, TheFirstAddressIsOneMoreThanTheNetworks) {
  EXPECT_EQ(ServiceRanges().addresses.front().AddressOf(1), "10.0.0.1");
  EXPECT_EQ(FirstOf("10.0.0.0/24"), "10.0.0.1");
  EXPECT_EQ(FirstOf("10.0.0.255/16,fd00::/108"), "10.0.0.1");
  EXPECT_EQ(FirstOf("10.1.2.255/29"), "10.1.2.249");
  EXPECT_EQ(FirstOf("172.31.255.255/11"), "172.0.0.1");
  EXPECT_EQ(FirstOf("fd00::7/108"), "fd00::1");
  EXPECT_EQ(FirstOf("fd00::/120,10.0.0.0/0"), "fd00::1");
}

TEST(ServiceRangesTest, IsRefusedWhereKubeApiserverDoes) {
  for (const char* const bad :
       {"10.0.0.0", "", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/40", "10.0.0.0/-1", "10.0.0.0/8x",
        "10.0.0.0/30", "fd00::/126", "fd00::/129", "bla/8", "10.0.0.0/24,",
        "10.0.0.0/24,fd00::", "10.0.0.0/24,10.1.0.0/24", "10.0.0.0/24,fd00::/108,10.1.0.0/24"}) {
    const auto ranges = ParseAddressRanges(bad);
    ASSERT_FALSE(ranges) << bad;
    EXPECT_EQ(ranges.error().reason, apimachinery::Reason::kInvalidConfig) << bad;
  }
}

TEST(ServiceRangesTest, NeitherTheNetworksAddressNorTheLastIsGivenOut) {
  const AddressRange range = RangeOf("10.1.2.7/24");
  EXPECT_EQ(range.ToString(), "10.1.2.0/24");
  EXPECT_EQ(range.network(), "10.1.2.0");
  EXPECT_EQ(range.last(), 254U);
  EXPECT_EQ(range.low(), 16U);
  EXPECT_EQ(range.AddressOf(254), "10.1.2.254");
  EXPECT_EQ(range.NumberOf("10.1.2.9"), 9U);
  for (const char* const other : {"10.1.2.0", "10.1.2.255", "10.1.3.1", "fd00::1", "", "None"}) {
    EXPECT_EQ(range.NumberOf(other), std::nullopt) << other;
  }
  EXPECT_EQ(RangeOf("10.0.0.0/28").low(), 0U);
  EXPECT_EQ(RangeOf("10.0.0.0/8").low(), 256U);
}

TEST(ServiceRangesTest, OfIpv6TheLastAddressIsGivenOutToo) {
  const AddressRange range = RangeOf("fd00::/112");
  EXPECT_EQ(range.last(), 65535U);
  EXPECT_EQ(range.AddressOf(65535), "fd00::ffff");
  EXPECT_EQ(range.NumberOf("fd00::ffff"), 65535U);
  EXPECT_EQ(range.NumberOf("fd00::1:0"), std::nullopt);
  const AddressRange large = RangeOf("fd00::/16");
  EXPECT_EQ(large.last(), (std::uint64_t{1} << 63) - 1);
  EXPECT_EQ(large.NumberOf("fd00::5"), 5U);
  EXPECT_EQ(large.NumberOf("fd00:1::5"), std::nullopt);
}

TEST(ServiceRangesTest, PortsAreFromOneToAnother) {
  EXPECT_EQ(ServiceRanges().ports.ToString(), "30000-32767");
  EXPECT_EQ(ServiceRanges().ports.low(), 86U);
  EXPECT_EQ(ParsePortRange("1-65535")->ToString(), "1-65535");
  EXPECT_EQ(ParsePortRange("30000+10")->ToString(), "30000-30010");
  EXPECT_EQ(ParsePortRange("30000")->ToString(), "30000-30000");
  EXPECT_EQ(ParsePortRange("30000-30010")->low(), 0U);
  for (const char* const bad : {"", "0-5", "2-1", "1-65536", "65000+1000", "a-b", "1-", "1-2-3"}) {
    EXPECT_FALSE(ParsePortRange(bad)) << bad;
  }
}

}  // namespace
}  // namespace kubexx::apiserver
