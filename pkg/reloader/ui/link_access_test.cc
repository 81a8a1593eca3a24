#include "kubexx/reloader/ui/link_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kubexx::reloader {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using Headers = std::vector<std::pair<std::string, std::string>>;

http::Request RequestWith(Headers headers, std::string method = "GET") {
  return {.path = "/", .method = std::move(method), .headers = std::move(headers)};
}

class LinkAccessTest : public ::testing::Test {
 protected:
  LinkAccessTest() { access_.SetPort(8080); }

  /// The status of the answer to a browser that is in; 200: the page answers.
  int StatusOf(Headers headers, std::string path = "/", std::string method = "GET") {
    headers.emplace_back("Cookie", kCookie);
    http::Request request = RequestWith(std::move(headers), std::move(method));
    request.path = std::move(path);
    const auto answer = access_.Answer(request);
    return answer ? answer->status : 200;
  }
  /// The answer to a browser that opens this link.
  std::optional<http::Response> Enter(std::string query) {
    http::Request request = RequestWith({{"Host", "127.0.0.1:8080"}});
    request.path = "/enter";
    request.query = std::move(query);
    return access_.Answer(request);
  }

  static constexpr char kCookie[] = "kubexx-reloader-ui-8080=session";
  std::vector<std::string> links_;
  LinkAccess access_{{.token = "token",
                      .session = "session",
                      .address = "127.0.0.1:8080",
                      .on_link = [this](const std::string& link) { links_.push_back(link); }}};
};

TEST(IsLoopbackAddressTest, OnlyThisMachineIs) {
  for (const char* address : {"127.0.0.1:0", "127.8.9.1:80", "[::1]:0", "localhost:8080"}) {
    EXPECT_TRUE(IsLoopbackAddress(address)) << address;
  }
  for (const char* address : {":0", "0.0.0.0:0", "[::]:0", "192.168.0.1:0", "128.0.0.1:0",
                              "localhost.example.com:0", "127.0.0.1.example.com:0", "[::1:0"}) {
    EXPECT_FALSE(IsLoopbackAddress(address)) << address;
  }
}

TEST_F(LinkAccessTest, AHostWithANameIsRefused) {
  for (const char* host : {"127.0.0.1:8080", "localhost:8080", "localhost:9000", "[::1]:8080",
                           "192.168.0.1:8080", "localhost"}) {
    EXPECT_EQ(StatusOf({{"Host", host}}), 200) << host;
  }
  for (const char* host : {"", "evil.example.com", "evil.example.com:8080", "localhost.example.com",
                           "127.0.0.1.example.com:8080", "[::1"}) {
    EXPECT_EQ(StatusOf({{"Host", host}}), 403) << host;
  }
  EXPECT_EQ(StatusOf({}), 403);
}

TEST_F(LinkAccessTest, AForeignOriginIsRefused) {
  EXPECT_EQ(StatusOf({{"Host", "127.0.0.1:8080"}, {"Origin", "http://127.0.0.1:8080"}}), 200);
  for (const char* origin :
       {"null", "http://evil.example.com", "http://127.0.0.1:8081", "http://localhost:8080"}) {
    EXPECT_EQ(StatusOf({{"Host", "127.0.0.1:8080"}, {"Origin", origin}}), 403) << origin;
  }
}

TEST_F(LinkAccessTest, WhatTheBrowserSaysComesFromElsewhereIsRefused) {
  const auto status = [&](const char* site, bool is_entry, const char* mode, const char* dest) {
    return StatusOf({{"Host", "127.0.0.1:8080"},
                     {"Sec-Fetch-Site", site},
                     {"Sec-Fetch-Mode", mode},
                     {"Sec-Fetch-Dest", dest}},
                    is_entry ? "/enter" : "/");
  };
  EXPECT_EQ(status("none", false, "navigate", "document"), 200);
  EXPECT_EQ(status("same-origin", false, "cors", "empty"), 200);
  // Other ports of this machine are the same site.
  EXPECT_EQ(status("same-site", false, "cors", "empty"), 403);
  EXPECT_EQ(status("cross-site", false, "navigate", "document"), 403);
  // The link may be in any page, but not be fetched, or put into a frame, by it.
  EXPECT_EQ(status("cross-site", true, "navigate", "document"), 401) << "it has no token";
  EXPECT_EQ(status("cross-site", true, "navigate", "iframe"), 403);
  EXPECT_EQ(status("cross-site", true, "no-cors", "image"), 403);
}

TEST_F(LinkAccessTest, OnlyGetAndHeadAreAnswered) {
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS"}) {
    EXPECT_EQ(StatusOf({{"Host", "localhost"}}, "/", method), 405) << method;
  }
  EXPECT_EQ(StatusOf({{"Host", "localhost"}}, "/", "HEAD"), 200);
}

TEST_F(LinkAccessTest, ATokenWorksOnce) {
  EXPECT_EQ(access_.Link(), "http://127.0.0.1:8080/enter?token=token");
  for (const char* query : {"", "token=", "token=wrong", "token=tokens"}) {
    EXPECT_EQ(Enter(query)->status, 401) << query;
  }
  EXPECT_THAT(links_, IsEmpty());
  const auto entered = Enter("token=token");
  EXPECT_EQ(entered->status, 200);
  EXPECT_THAT(entered->headers,
              ElementsAre(Pair("Set-Cookie",
                               "kubexx-reloader-ui-8080=session; HttpOnly; SameSite=Strict; "
                               "Path=/")));
  EXPECT_EQ(Enter("token=token")->status, 401);
  ASSERT_THAT(links_, ElementsAre(access_.Link()));
  const std::string next = links_.front().substr(links_.front().find('?') + 1);
  EXPECT_EQ(Enter(next)->status, 200);
}

TEST_F(LinkAccessTest, OnlyTheCookieLetsIn) {
  const auto has = [&](Headers headers) {
    headers.emplace_back("Host", "localhost");
    const http::Request request = RequestWith(std::move(headers));
    const auto refused = access_.Answer(request);
    EXPECT_EQ(access_.ClientOf(request).has_value(), !refused.has_value());
    EXPECT_EQ(refused ? refused->status : 401, 401);
    return !refused;
  };
  EXPECT_TRUE(has({{"cookie", "kubexx-reloader-ui-8080=session"}}));
  EXPECT_TRUE(has({{"cookie", "a=b; kubexx-reloader-ui-8080=session; c=d"}}));
  EXPECT_FALSE(has({{"cookie", "kubexx-reloader-ui-8080=sessio"}}));
  EXPECT_FALSE(has({{"cookie", "kubexx-reloader-ui-8080=token"}}));
  EXPECT_FALSE(has({{"cookie", "kubexx-reloader-ui-8081=session"}}));
  EXPECT_FALSE(has({{"cookie", "xkubexx-reloader-ui-8080=session"}}));
  EXPECT_FALSE(has({{"cookie", ""}}));
  EXPECT_FALSE(has({}));
}

}  // namespace
}  // namespace kubexx::reloader
