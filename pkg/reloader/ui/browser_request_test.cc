#include "kubexx/reloader/ui/browser_request.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace kubexx::reloader {
namespace {

http::Request BrowserRequest(std::vector<std::pair<std::string, std::string>> headers) {
  return {.path = "/", .headers = std::move(headers)};
}

TEST(NewSecretTest, SecretsAreLongAndDiffer) {
  const auto one = NewSecret();
  const auto other = NewSecret();
  ASSERT_TRUE(one);
  ASSERT_TRUE(other);
  EXPECT_EQ(one->size(), 64);
  EXPECT_NE(*one, *other);
}

TEST(CookieOfTest, FindsTheFirstOfThatName) {
  EXPECT_EQ(CookieOf(BrowserRequest({{"cookie", "a=1; b=2;c=3"}}), "a"), "1");
  EXPECT_EQ(CookieOf(BrowserRequest({{"Cookie", "a=1; b=2;c=3"}}), "c"), "3");
  EXPECT_EQ(CookieOf(BrowserRequest({{"Cookie", "a=1"}, {"Cookie", "b="}}), "b"), "");
  for (const char* cookies : {"", ";", ";;;", "ab=1", "a", "b=a=1", " ; =a"}) {
    EXPECT_EQ(CookieOf(BrowserRequest({{"Cookie", cookies}}), "a"), std::nullopt) << cookies;
  }
  EXPECT_EQ(CookieOf(BrowserRequest({{"a", "a=1"}}), "a"), std::nullopt);
}

TEST(HostInTest, IsWithoutPortAndBrackets) {
  EXPECT_EQ(HostIn("example.com:80"), "example.com");
  EXPECT_EQ(HostIn("example.com"), "example.com");
  EXPECT_EQ(HostIn("[::1]:80"), "::1");
  EXPECT_EQ(HostIn("[::1"), "");
  EXPECT_EQ(HostIn(""), "");
}

TEST(IsFromElsewhereTest, TheOriginIsThatOfTheHost) {
  for (const char* origin : {"http://page.example.com:8443", "https://page.example.com:8443"}) {
    EXPECT_FALSE(IsFromElsewhere(
        BrowserRequest({{"Host", "page.example.com:8443"}, {"Origin", origin}}), false));
  }
  for (const char* origin : {"null", "https://page.example.com", "https://evil.example.com:8443"}) {
    EXPECT_TRUE(IsFromElsewhere(
        BrowserRequest({{"Host", "page.example.com:8443"}, {"Origin", origin}}), true))
        << origin;
  }
}

}  // namespace
}  // namespace kubexx::reloader
