#include "kubexx/reloader/ui/page_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/http/testing/raw_connection.h"
#include "kubexx/reloader/ui/link_access.h"
#include "kubexx/reloader/ui/page_files.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using http::testing::RawConnection;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class PageServerTest : public ::testing::Test {
 protected:
  PageServerTest() {
    feed_.Apply({{"w/Deployment/shop/web", R"({"name":"web"})"}});
    const auto started = server_.Start();
    EXPECT_TRUE(started) << started.error().ToString();
  }

  /// The answer to a request of a browser, which is in if `cookie` is set.
  std::string Get(const std::string& target, const std::string& cookie = "",
                  const std::string& more = "", const std::string& method = "GET") const {
    return RawConnection(server_.port())
        .Send(method + " " + target + " HTTP/1.1\r\nHost: 127.0.0.1:" +
              std::to_string(server_.port()) + "\r\nConnection: close\r\n" +
              (cookie.empty() ? "" : "Cookie: " + cookie + "\r\n") + more + "\r\n")
        .ReadAll();
  }
  std::string Cookie() const {
    return "kubexx-reloader-ui-" + std::to_string(server_.port()) + "=session";
  }

  StateFeed feed_{{.name = "s"}};
  EventStreams streams_{feed_, 1};
  std::vector<std::string> asked_;
  LinkAccess access_{{.token = "token", .session = "session"}};
  PageServer server_{
      streams_,
      access_,
      {.workload = [this](const WorkloadId& id, const std::stop_token&) -> Result<std::string> {
         asked_.push_back(std::string(KindName(id.kind)) + " " + id.key.ToString());
         return id.key.name == "web" ? Result<std::string>(R"({"explanation":{}})")
                                     : Fail(Reason::kNotFound, "it does not exist");
       },
       .source = [this](const SourceId& id, const std::stop_token&) -> Result<std::string> {
         asked_.push_back(std::string(NamesOf(id.type).kind) + " " + id.key.ToString());
         return std::string(R"({"rollouts":[]})");
       }}};
};

TEST_F(PageServerTest, NothingIsShownWithoutTheCookie) {
  for (const char* target : {"/", "/app.js", "/style.css", "/events", "/nothing",
                             "/workload?Deployment/shop/web", "/source?ConfigMap/shop/web"}) {
    EXPECT_THAT(Get(target), AllOf(StartsWith("HTTP/1.1 401 "), Not(HasSubstr("web\"")))) << target;
    EXPECT_THAT(Get(target, "kubexx-reloader-ui=session"), StartsWith("HTTP/1.1 401 ")) << target;
  }
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(PageServerTest, TheLinkLetsABrowserIn) {
  EXPECT_EQ(access_.Link(),
            "http://127.0.0.1:" + std::to_string(server_.port()) + "/enter?token=token");
  EXPECT_THAT(Get("/enter?token=wrong"), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(Get("/enter?token=token", "", "", "HEAD"), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(Get("/enter?token=token"),
              AllOf(StartsWith("HTTP/1.1 200 "),
                    HasSubstr("Set-Cookie: " + Cookie() + "; HttpOnly; SameSite=Strict; Path=/")));
}

TEST_F(PageServerTest, ProbesGetAnAnswerWithoutACookie) {
  EXPECT_THAT(Get("/live"), AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("ok")));
}

TEST_F(PageServerTest, WhoIsInGetsThePageAndItsFiles) {
  EXPECT_THAT(Get("/", Cookie()),
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("Content-Type: text/html"),
                    HasSubstr("<div id=\"app\">")));
  for (const PageFile& file : PageFiles()) {
    EXPECT_THAT(Get("/" + std::string(file.path), Cookie()),
                AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr(std::string(file.bytes))))
        << file.path;
  }
  EXPECT_THAT(Get("/app.js", Cookie()), HasSubstr("Content-Type: text/javascript"));
  EXPECT_THAT(Get("/style.css", Cookie()), HasSubstr("Content-Type: text/css"));
  EXPECT_THAT(Get("/../page_server.h", Cookie()), StartsWith("HTTP/1.1 404 "));
}

TEST_F(PageServerTest, EveryAnswerForbidsFramesForeignCodeAndCopies) {
  for (const auto& [target, cookie] : {std::pair<std::string, std::string>("/", Cookie()),
                                       {"/", ""},
                                       {"/events", Cookie()},
                                       {"/workload?Deployment/shop/no", Cookie()},
                                       {"/enter?token=x", ""}}) {
    EXPECT_THAT(
        RawConnection(server_.port())
            .Send("GET " + target + " HTTP/1.1\r\nHost: localhost\r\nCookie: " + cookie +
                  "\r\n\r\n")
            .ReadUntil("\r\n\r\n"),
        AllOf(HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'self'"),
              HasSubstr("frame-ancestors 'none'"), Not(HasSubstr("unsafe")),
              HasSubstr("X-Content-Type-Options: nosniff"), HasSubstr("X-Frame-Options: DENY"),
              HasSubstr("Referrer-Policy: no-referrer"), HasSubstr("Cache-Control: no-store")))
        << target;
  }
}

TEST_F(PageServerTest, ForeignHostsOriginsAndMethodsAreRefused) {
  EXPECT_THAT(
      RawConnection(server_.port())
          .Send("GET / HTTP/1.1\r\nHost: evil.example.com\r\nConnection: close\r\nCookie: " +
                Cookie() + "\r\n\r\n")
          .ReadAll(),
      AllOf(StartsWith("HTTP/1.1 403 "), Not(HasSubstr("app"))));
  EXPECT_THAT(Get("/events", Cookie(), "Origin: http://evil.example.com\r\n"),
              StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(Get("/events", Cookie(), "Sec-Fetch-Site: same-site\r\n"),
              StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(Get("/", Cookie(), "Content-Length: 0\r\n", "POST"),
              AllOf(StartsWith("HTTP/1.1 405 "), HasSubstr("Allow: GET, HEAD")));
}

TEST_F(PageServerTest, EventsComeAsAStreamOfWhichThereAreOnlySoMany) {
  const std::string request =
      "GET /events HTTP/1.1\r\nHost: localhost\r\nCookie: " + Cookie() + "\r\n\r\n";
  const RawConnection client(server_.port());
  client.Send(request);
  EXPECT_THAT(client.ReadUntil("\n\n"),
              AllOf(HasSubstr("Content-Type: text/event-stream"), HasSubstr("id: s-1\n"),
                    HasSubstr(R"("w/Deployment/shop/web":{"name":"web"})")));
  EXPECT_THAT(Get("/events", Cookie()),
              AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("Too many pages")));
  feed_.Apply({{"a", "2"}});
  streams_.Wake();
  EXPECT_THAT(client.ReadUntil("\n\n"), HasSubstr(R"("set":{"a":2})"));
}

TEST_F(PageServerTest, WhoComesBackGetsWhatHasChangedSince) {
  feed_.Apply({{"a", "2"}});
  for (const auto& [target, header] :
       {std::pair("/events?since=s-1", ""), std::pair("/events", "Last-Event-ID: s-1\r\n"),
        std::pair("/events?since=s-0", "Last-Event-ID: s-1\r\n")}) {
    {
      const RawConnection client(server_.port());
      client.Send(std::string("GET ") + target + " HTTP/1.1\r\nHost: localhost\r\n" + header +
                  "Cookie: " + Cookie() + "\r\n\r\n");
      EXPECT_THAT(client.ReadUntil("\n\n"), HasSubstr(R"({"reset":false,"set":{"a":2})")) << target;
    }
    KX_AWAIT(streams_.open() == 0);
  }
}

TEST_F(PageServerTest, DetailsAreThoseOfTheNamedObject) {
  EXPECT_THAT(Get("/workload?Deployment/shop/web", Cookie()),
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("Content-Type: application/json"),
                    HasSubstr(R"({"explanation":{}})")));
  EXPECT_THAT(Get("/workload?Deployment/shop/no", Cookie()),
              AllOf(StartsWith("HTTP/1.1 404 "), HasSubstr("it does not exist")));
  EXPECT_THAT(Get("/source?Secret/shop/db", Cookie()), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(asked_, ElementsAre("Deployment shop/web", "Deployment shop/no", "Secret shop/db"));
  for (const char* target :
       {"/workload", "/workload?", "/workload?Deployment", "/workload?Deployment/web",
        "/workload?Pod/shop/web", "/workload?Deployment//web", "/workload?Deployment/shop/",
        "/workload?Deployment/shop/%2e%2e", "/source?Deployment/shop/web"}) {
    EXPECT_THAT(Get(target, Cookie()), StartsWith("HTTP/1.1 400 ")) << target;
  }
  EXPECT_EQ(asked_.size(), 3);
}

/// Lets in everybody under the name that the request has.
class NamedAccess final : public PageAccess {
 public:
  std::optional<std::string> ClientOf(const http::Request& header) const override {
    return std::string(header.Header("X-User"));
  }
  std::optional<http::Response> Answer(const http::Request& /*request*/) override {
    return std::nullopt;
  }
};

TEST(PageServerSharesTest, WhoHasManyPagesOpenMakesRoomForAnother) {
  StateFeed feed({.name = "s"});
  feed.Apply({{"a", "1"}});
  EventStreams streams(feed, 2);
  NamedAccess access;
  PageServer server(streams, access, {});
  ASSERT_TRUE(server.Start());
  const auto ask_as = [](const std::string& user) {
    return "GET /events HTTP/1.1\r\nHost: localhost\r\nX-User: " + user + "\r\n\r\n";
  };
  const RawConnection first(server.port());
  const RawConnection second(server.port());
  for (const RawConnection* page : {&first, &second}) {
    EXPECT_THAT(page->Send(ask_as("bob")).ReadUntil("\n\n"), HasSubstr(R"({"a":1})"));
  }
  EXPECT_THAT(RawConnection(server.port()).Send(ask_as("bob")).ReadUntil("\r\n\r\n"),
              StartsWith("HTTP/1.1 503 "));
  const RawConnection ann(server.port());
  EXPECT_THAT(ann.Send(ask_as("ann")).ReadUntil("\n\n"), HasSubstr(R"({"a":1})"));
  EXPECT_THAT(first.ReadAll(), HasSubstr("event: again\n"));
  EXPECT_EQ(streams.open(), 2);
}

TEST(PageServerAddressTest, AnAddressThatOthersCanReachNeedsAPermission) {
  StateFeed feed({.name = "s"});
  EventStreams streams(feed, 1);
  LinkAccess access({});
  PageServer refused(streams, access, {.address = "0.0.0.0:0"});
  const auto started = refused.Start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().reason, Reason::kInvalidConfig);
  EXPECT_THAT(started.error().message, HasSubstr("other machines can reach the address 0.0.0.0:0"));
  PageServer permitted(streams, access, {.address = "0.0.0.0:0", .may_be_reached = true});
  EXPECT_TRUE(permitted.Start());
  PageServer with_tls(streams, access, {.address = "0.0.0.0:0", .tls = http::TlsOptions()});
  EXPECT_TRUE(with_tls.Start());
}

}  // namespace
}  // namespace kubexx::reloader
