#include "kubexx/rest/url.h"

#include <gmock/gmock.h>

#include <string>

namespace kubexx::rest::internal {
namespace {

using apimachinery::Reason;

TEST(UrlTest, ReadsServerUrls) {
  const auto full = ParseServerUrl("HTTPS://Host.Example:6443/a/b/");
  ASSERT_TRUE(full) << full.error().ToString();
  EXPECT_TRUE(full->tls);
  EXPECT_EQ(full->Origin(), "https://host.example:6443");
  EXPECT_EQ(full->Authority(), "host.example:6443");
  EXPECT_EQ(full->prefix, "/a/b");
  EXPECT_EQ(ParseServerUrl("https://10.0.0.1")->Origin(), "https://10.0.0.1:443");
  EXPECT_EQ(ParseServerUrl("http://localhost/")->Origin(), "http://localhost:80");
  EXPECT_EQ(ParseServerUrl("http://localhost/")->prefix, "");
  EXPECT_EQ(ParseServerUrl("host:8443")->Origin(), "https://host:8443");
  const auto v6 = ParseServerUrl("https://[FD00::1]:6443/a");
  ASSERT_TRUE(v6) << v6.error().ToString();
  EXPECT_EQ(v6->host, "fd00::1");
  EXPECT_EQ(v6->Authority(), "[fd00::1]:6443");
  EXPECT_EQ(v6->Origin(), "https://[fd00::1]:6443");
  EXPECT_EQ(v6->OriginToResolve(), "https://fd00::1:6443");
  EXPECT_EQ(v6->prefix, "/a");
  EXPECT_EQ(ParseServerUrl("http://[::1]")->Origin(), "http://[::1]:80");
}

TEST(UrlTest, RefusesOthers) {
  for (const std::string url : {"",
                                "https://",
                                "ftp://a",
                                "https://a:",
                                "https://a:0",
                                "https://a:70000",
                                "https://a:1x",
                                "https://a b",
                                "https://a/b c",
                                "https://a?x",
                                "https://a#x",
                                "https://[",
                                "https://[]",
                                "https://[::1",
                                "https://[::1]6443",
                                "https://[::1]:",
                                "https://[::1]:x",
                                "https://[fe80::1%25eth0]:1",
                                "https://[1.2.3.4]",
                                "https://::1:6443",
                                "https://u:p@a",
                                "https://a\r\nb",
                                "https://a/\r\n",
                                "://a"}) {
    const auto parsed = ParseServerUrl(url);
    ASSERT_FALSE(parsed) << url;
    EXPECT_EQ(parsed.error().reason, Reason::kInvalidConfig);
  }
}

TEST(UrlTest, EncodesAllButUnreserved) {
  EXPECT_EQ(PercentEncode("AZaz09-._~"), "AZaz09-._~");
  EXPECT_EQ(PercentEncode("a b/c?&=+%"), "a%20b%2Fc%3F%26%3D%2B%25");
  EXPECT_EQ(PercentEncode(std::string("\0\xff", 2)), "%00%FF");
  EXPECT_EQ(PercentEncode("a:/b", ":/"), "a:/b");
}

TEST(UrlTest, PercentDecode) {
  EXPECT_EQ(PercentDecode(""), "");
  EXPECT_EQ(PercentDecode("a%20b%2Fc%3f+%25"), "a b/c?+%");
  EXPECT_EQ(PercentDecode("%00%FF"), std::string("\0\xff", 2));
  for (const char* bad : {"%", "%4", "a%4g", "%g4", "%%41"}) {
    EXPECT_EQ(PercentDecode(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace kubexx::rest::internal
