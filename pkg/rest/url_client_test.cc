#include "kubexx/rest/url_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::rest {
namespace {

using apimachinery::Reason;
using testing::FakeConnection;
using testing::FakeServer;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(UrlClient, SendsPathQueryTypeAndBody) {
  FakeServer server([](FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      connection.Respond(202, "text/plain",
                         request->method + " " + request->target + " " +
                             request->headers.at("content-type") + " " + request->body);
    }
  });
  const auto poster = UrlClient::New({.url = server.Url() + "/a/b?key=x%2Fy&t=1#fragment"});
  ASSERT_TRUE(poster) << poster.error().ToString();
  const auto answer = (*poster)->Post("text/plain", "hello", {});
  ASSERT_TRUE(answer) << answer.error().ToString();
  EXPECT_EQ(answer->status, 202);
  EXPECT_EQ(answer->body, "POST /a/b?key=x%2Fy&t=1 text/plain hello");
}

TEST(UrlClient, TellsHowLongTheServerAsksToWait) {
  std::atomic<int> requests = 0;
  FakeServer server([&requests](FakeConnection& connection) {
    while (connection.ReadRequest()) {
      connection.Respond(
          429, "text/plain", "",
          {{"Retry-After", ++requests == 1 ? "7" : "Fri, 31 Dec 1999 23:59:59 GMT"}});
    }
  });
  const auto poster = UrlClient::New({.url = server.Url()});
  ASSERT_TRUE(poster) << poster.error().ToString();
  for (const int seconds : {7, 0}) {
    const auto answer = (*poster)->Post("text/plain", "hello", {});
    ASSERT_TRUE(answer) << answer.error().ToString();
    EXPECT_EQ(answer->status, 429);
    EXPECT_EQ(answer->retry_after, std::chrono::seconds(seconds));
  }
}

TEST(UrlClient, SendsTheHeadersItIsGiven) {
  FakeServer server([](FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      connection.Respond(
          200, "text/plain",
          request->headers.at("authorization") + " " + request->headers.at("x-more"));
    }
  });
  const auto client = UrlClient::New(
      {.url = server.Url(), .headers = {{"Authorization", "Bearer t"}, {"X-More", "1"}}});
  ASSERT_TRUE(client) << client.error().ToString();
  const auto posted = (*client)->Post("text/plain", "", {});
  ASSERT_TRUE(posted) << posted.error().ToString();
  EXPECT_EQ(posted->body, "Bearer t 1");
  const auto read = (*client)->Get({}, 100, {});
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_EQ(read->body, "Bearer t 1");
}

TEST(UrlClient, RefusesAHeaderWithoutShowingItsValue) {
  for (const UrlClient::Headers& headers :
       {UrlClient::Headers{{"Authorization", "hidden\r\nX: y"}}, {{"Bad name", "hidden"}}}) {
    const auto client = UrlClient::New({.url = "http://localhost", .headers = headers});
    ASSERT_FALSE(client);
    EXPECT_EQ(client.error().reason, Reason::kInvalidConfig);
    EXPECT_THAT(client.error().ToString(), HasSubstr(headers.front().first));
    EXPECT_THAT(client.error().ToString(), Not(HasSubstr("hidden")));
  }
}

TEST(UrlClient, SendsAPostOnceAlsoWhenItsConnectionBreaks) {
  std::atomic<int> requests = 0;
  FakeServer server([&requests](FakeConnection& connection) {
    // The server executes the request, and dies before it answers.
    requests += connection.ReadRequest() ? 1 : 0;
  });
  const auto poster = UrlClient::New({.url = server.Url()});
  ASSERT_TRUE(poster);
  const auto answer = (*poster)->PostWhole("text/plain", "hello", 100, {});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, Reason::kUnavailable);
  EXPECT_EQ(requests, 1);
}

TEST(UrlClient, FollowsNoRedirect) {
  FakeServer server([](FakeConnection& connection) {
    while (connection.ReadRequest()) {
      connection.Respond(302, "text/plain", "", {{"Location", "http://127.0.0.1:1/"}});
    }
  });
  const auto poster = UrlClient::New({.url = server.Url()});
  ASSERT_TRUE(poster);
  const auto answer = (*poster)->Post("text/plain", "", {});
  ASSERT_TRUE(answer) << answer.error().ToString();
  EXPECT_EQ(answer->status, 302);
}

TEST(UrlClient, GivesUpOnASilentServer) {
  FakeServer server([](FakeConnection& connection) {
    (void)connection.ReadRequest();
    connection.AwaitPeer();
  });
  const auto poster =
      UrlClient::New({.url = server.Url(), .timeout = std::chrono::milliseconds(50)});
  ASSERT_TRUE(poster);
  EXPECT_FALSE((*poster)->Post("text/plain", "", {}));
}

TEST(UrlClient, GivesUpAtTheDeadlineOfACall) {
  FakeServer server([](FakeConnection& connection) {
    (void)connection.ReadRequest();
    connection.AwaitPeer();
  });
  base::testing::FakeClock clock;
  const auto poster =
      UrlClient::New({.url = server.Url(), .timeout = std::chrono::hours(1), .clock = clock});
  ASSERT_TRUE(poster);
  const auto answer = (*poster)->Post("text/plain", "", {}, clock.Now());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, Reason::kTimeout);
}

TEST(UrlClient, EndsAHeadWithoutAnEnd) {
  FakeServer server([](FakeConnection& connection) {
    (void)connection.ReadRequest();
    const std::string fields(std::size_t{1} << 16, 'x');
    for (connection.Write("HTTP/1.1 200 OK\r\n"); connection.Write("X: " + fields + "\r\n");) {
    }
  });
  const auto client = UrlClient::New({.url = server.Url(), .timeout = std::chrono::minutes(10)});
  ASSERT_TRUE(client);
  const auto posted = (*client)->Post("text/plain", "", {});
  ASSERT_FALSE(posted);
  EXPECT_THAT(posted.error().message, HasSubstr("head"));
  EXPECT_FALSE((*client)->Get({}, 100, {}));
}

TEST(UrlClient, UsesTheProxyItIsGiven) {
  FakeServer proxy([](FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      connection.Respond(200, "text/plain", request->target);
    }
  });
  const auto poster = UrlClient::New({.url = "http://sink.example/hook", .proxy = proxy.Url()});
  ASSERT_TRUE(poster);
  const auto answer = (*poster)->Post("text/plain", "", {});
  ASSERT_TRUE(answer) << answer.error().ToString();
  EXPECT_EQ(answer->body, "http://sink.example:80/hook");
}

TEST(UrlClient, RefusesWhatIsNoUrlWithoutShowingIt) {
  for (const char* url : {"", "sink", "ftp://SECRET", "http://", "http://h:SECRET/x"}) {
    const auto poster = UrlClient::New({.url = url});
    ASSERT_FALSE(poster) << url;
    EXPECT_EQ(poster.error().reason, Reason::kInvalidConfig);
    EXPECT_THAT(poster.error().message, Not(HasSubstr("SECRET")));
  }
  const auto poster = UrlClient::New({.url = "http://sink", .proxy = "ftp://u:SECRET@p"});
  ASSERT_FALSE(poster);
  EXPECT_THAT(poster.error().message, Not(HasSubstr("SECRET")));
}

TEST(UrlClient, ErrorsDoNotShowTheUrl) {
  const auto poster = UrlClient::New(
      {.url = "http://127.0.0.1:" + std::to_string(testing::UnusedPort()) + "/SECRET"});
  ASSERT_TRUE(poster);
  const auto answer = (*poster)->Post("text/plain", "", {});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().ToString(), Not(HasSubstr("SECRET")));
}

}  // namespace
}  // namespace kubexx::rest
