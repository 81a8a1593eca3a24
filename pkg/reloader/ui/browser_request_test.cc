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
    EXPECT_TRUE(IsFromElsewhere(
        BrowserRequest(
            {{"Host", "page.example.com:8443"}, {"Origin", origin}, {"Sec-Fetch-Site", "none"}}),
        true))
        << origin;
  }
}

TEST(IsFromElsewhereTest, WhatTheBrowserSaysCountsMoreThanAHostThatAProxyHasChanged) {
  for (const auto& [site, is_from_elsewhere] :
       {std::pair("same-origin", false), std::pair("same-site", true),
        std::pair("cross-site", true), std::pair("Same-Origin", true), std::pair("", true)}) {
    const auto request = BrowserRequest({{"Host", "page.example.com"},
                                         {"Origin", "https://page.example.com:8443"},
                                         {"Sec-Fetch-Site", site}});
    EXPECT_EQ(IsFromElsewhere(request, false), is_from_elsewhere) << site;
  }
}

TEST(ElsewhereAnswerTest, ExplainsAHostThatAProxyHasChanged) {
  const auto changed = ElsewhereAnswer(
      BrowserRequest({{"Host", "page.example.com"}, {"Origin", "https://page.example.com:8443"}}));
  EXPECT_EQ(changed.status, 403);
  EXPECT_NE(changed.body.find("at https://page.example.com:8443, and has asked the host "
                              "page.example.com. If that is the same place, a proxy has changed"),
            std::string::npos)
      << changed.body;
  const auto other = ElsewhereAnswer(
      BrowserRequest({{"Host", "page.example.com"}, {"Sec-Fetch-Site", "cross-site"}}));
  EXPECT_EQ(other.body, "Pages of another origin may not ask this one.\n");
}

}  // namespace
}  // namespace kubexx::reloader
