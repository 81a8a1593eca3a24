#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/testing/certificates.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::rest {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using base::testing::FakeClock;
using std::chrono::seconds;
using testing::ClientFor;
using testing::FakeConnection;
using testing::FakeRequest;
using testing::FakeServer;
using ::testing::HasSubstr;
using testing::kConfigMaps;
using testing::NewClient;
using testing::WithoutDeadlines;

// Answers the n-th request of all connections with script(n), which may also close the connection
// by doing nothing.
FakeServer::Script Numbered(std::atomic<int>& count,
                            std::function<void(int, FakeConnection&, const FakeRequest&)> answer) {
  return [&count, answer = std::move(answer)](FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      answer(++count, connection, *request);
    }
  };
}

TEST(RetryTest, WaitsAsLongAsTheServerAsksAndSendsTheBodyAgain) {
  FakeClock clock;
  std::atomic<int> count = 0;
  std::vector<std::string> bodies;
  FakeServer server(
      Numbered(count, [&](int n, FakeConnection& connection, const FakeRequest& request) {
        bodies.push_back(request.body);
        if (n == 1) {
          connection.Respond(429, "text/plain", "busy", {{"Retry-After", "110"}});
        } else if (n == 2) {
          connection.Respond(503, "text/plain", "not yet", {{"Retry-After", "60"}});
        } else {
          connection.Respond(201, "application/json", "{}");
        }
      }));
  const auto client = NewClient(server.Url(), WithoutDeadlines(clock));
  Result<Response> result;
  std::jthread caller([&] {
    result = client->Post()
                 .Resource(kConfigMaps)
                 .Namespace("a")
                 .Body(codec::Encoding::kJson, "{\"a\":1}")
                 .Do();
  });
  const base::TimePoint start = clock.Now();
  // The time is much longer than the limit for reading the body of an error, which is the other
  // wait here.
  clock.AdvanceToSleeper(seconds(110));
  clock.AdvanceToSleeper(seconds(60));
  caller.join();
  ASSERT_TRUE(result) << result.error().ToString();
  EXPECT_EQ(result->code, 201);
  EXPECT_EQ(clock.Now() - start, seconds(170));
  EXPECT_THAT(bodies, ::testing::ElementsAre("{\"a\":1}", "{\"a\":1}", "{\"a\":1}"));
}

TEST(RetryTest, GivesTheStatusWhenRetriesAreUsedUp) {
  std::atomic<int> count = 0;
  FakeServer server(Numbered(count, [](int, FakeConnection& connection, const FakeRequest&) {
    connection.Respond(
        429, "application/json",
        R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"slow down",)"
        R"("reason":"TooManyRequests","code":429})",
        {{"Retry-After", "0"}});
  }));
  const auto result = NewClient(server.Url())->Get().AbsPath("/x").MaxRetries(3).Do();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, Reason::kTooManyRequests);
  EXPECT_EQ(result.error().message, "slow down");
  EXPECT_EQ(count, 4);
}

TEST(RetryTest, DoesNotRetryWithoutAnIntegerRetryAfterOrForOtherCodes) {
  struct Case {
    int code;
    std::vector<std::pair<std::string, std::string>> headers;
  };
  const std::vector<Case> cases = {{429, {}},
                                   {503, {{"Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT"}}},
                                   {500, {{"Retry-After", "-1"}}},
                                   {500, {{"Retry-After", "99999999999999"}}},
                                   {409, {{"Retry-After", "0"}}}};
  for (const Case& c : cases) {
    std::atomic<int> count = 0;
    FakeServer server(Numbered(count, [&c](int, FakeConnection& connection, const FakeRequest&) {
      connection.Respond(c.code, "text/plain", "no", c.headers);
    }));
    const auto result = NewClient(server.Url())->Get().AbsPath("/x").Do();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, c.code);
    EXPECT_EQ(count, 1) << c.code;
  }
}

TEST(RetryTest, DoesNotWaitForHours) {
  FakeClock clock;
  std::atomic<int> count = 0;
  FakeServer server(Numbered(count, [](int, FakeConnection& connection, const FakeRequest&) {
    connection.Respond(503, "text/html", "maintenance", {{"Retry-After", "86400"}});
  }));
  const auto result = NewClient(server.Url(), WithoutDeadlines(clock))->Get().AbsPath("/x").Do();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, 503);
  EXPECT_EQ(result.error().details.retry_after, seconds(86400));
  EXPECT_EQ(count, 1);
}

TEST(RetryTest, DoesNotWaitBeyondTheTimeout) {
  std::atomic<int> count = 0;
  FakeServer server(Numbered(count, [](int, FakeConnection& connection, const FakeRequest&) {
    connection.Respond(503, "text/plain", "later", {{"Retry-After", "100"}});
  }));
  const auto result = NewClient(server.Url())->Get().AbsPath("/x").Timeout(seconds(60)).Do();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, 503);
  EXPECT_EQ(result.error().details.retry_after, seconds(100));
}

TEST(RetryTest, StopEndsTheWait) {
  std::atomic<int> count = 0;
  std::stop_source stop;
  FakeServer server(Numbered(count, [](int, FakeConnection& connection, const FakeRequest&) {
    connection.Respond(503, "text/plain", "later", {{"Retry-After", "100"}});
  }));
  const auto client = NewClient(server.Url());
  Result<Response> result;
  std::jthread caller([&] { result = client->Get().AbsPath("/x").Do(stop.get_token()); });
  KX_AWAIT_NE(count.load(), 0);
  stop.request_stop();
  caller.join();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, Reason::kCancelled);
}

TEST(RetryTest, GetIsSentAgainAfterALostConnectionButNotAWrite) {
  FakeClock clock;
  std::atomic<int> count = 0;
  FakeServer server([&count](FakeConnection& connection) {
    while (connection.ReadRequest()) {
      if (++count == 1) {
        return;  // closes the connection without a response
      }
      connection.Respond(200, "application/json", "{}");
    }
  });
  const auto client = NewClient(server.Url(), WithoutDeadlines(clock));
  Result<Response> result;
  {
    std::jthread caller([&] { result = client->Get().AbsPath("/x").Do(); });
    clock.AdvanceToSleeper(seconds(1));
  }
  ASSERT_TRUE(result) << result.error().ToString();
  EXPECT_EQ(count, 2);

  std::atomic<int> writes = 0;
  FakeServer dropping([&writes](FakeConnection& connection) {
    if (connection.ReadRequest()) {
      ++writes;
    }
  });
  const auto post =
      NewClient(dropping.Url())->Post().AbsPath("/x").Body(codec::Encoding::kJson, "{}").Do();
  ASSERT_FALSE(post);
  EXPECT_EQ(post.error().reason, Reason::kUnavailable);
  EXPECT_EQ(writes, 1);
}

/// Answers the first request of each connection. It takes the second one and closes without a
/// response, as a server does that dies after it has committed a write.
class DropsSecond {
 public:
  explicit DropsSecond(std::function<void(FakeConnection&)> drop,
                       std::optional<testing::FakeServerTls> tls = std::nullopt)
      : server_(
            [this, drop = std::move(drop)](FakeConnection& connection) {
              for (int i = 0; const auto request = connection.ReadRequest(); ++i) {
                ++requests_[request->method];
                if (i == 1) {
                  return drop(connection);
                }
                connection.Respond(200, "application/json", "{}");
              }
            },
            std::move(tls)) {}
  std::string Url() const { return server_.Url(); }
  int connections() const { return server_.connections(); }
  /// Returns the number of requests of the method.
  int count(const std::string& method) { return requests_[method]; }

 private:
  struct Counts {
    std::atomic<int>& operator[](const std::string& method) {
      const base::MutexLock lock(mu);
      return by_method[method];
    }
    base::Mutex mu;
    std::map<std::string, std::atomic<int>> by_method KX_GUARDED_BY(mu);
  };
  Counts requests_;
  FakeServer server_;
};

// How a connection ends.
struct DropCase {
  std::string name;
  bool tls;
  std::function<void(FakeConnection&)> drop;
};

const std::vector<DropCase>& DropCases() {
  // With TLS, the connection's destructor sends the close message before it closes.
  static const auto close = [](FakeConnection&) {};
  static const auto reset = [](FakeConnection& connection) { connection.Reset(); };
  static const auto cut = [](FakeConnection& connection) { connection.Shutdown(); };
  static const std::vector<DropCase> kCases = {{"Closed", false, close},
                                               {"Reset", false, reset},
                                               {"TlsClosed", true, close},
                                               {"TlsReset", true, reset},
                                               {"TlsWithoutCloseNotify", true, cut}};
  return kCases;
}

class ReusedConnection : public ::testing::TestWithParam<std::tuple<std::string, const DropCase*>> {
};

TEST_P(ReusedConnection, AWriteThatIsLostOnItIsNotSentAgain) {
  const auto& [verb, drop] = GetParam();
  const testing::CertificateAuthority authority("reused");
  const auto issued = authority.Issue({.alternative_names = "IP:127.0.0.1"});
  DropsSecond server(drop->drop, drop->tls
                                     ? std::optional(testing::FakeServerTls{
                                           .certificate = issued.certificate, .key = issued.key})
                                     : std::nullopt);
  Config config{.host = server.Url()};
  if (drop->tls) {
    config.tls.ca_data = authority.certificate();
  }
  const auto client = ClientFor(config);
  const auto first = client->Get().AbsPath("/x").Do();
  ASSERT_TRUE(first) << first.error().ToString();
  Request write = client->Verb(verb);
  write.AbsPath("/x");
  if (verb != "DELETE") {
    write.Body(codec::Encoding::kJson, "{}");
  }
  const auto result = write.Do();
  EXPECT_EQ(server.connections(), 1);
  EXPECT_EQ(server.count(verb), 1);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, Reason::kUnavailable);
}

std::vector<const DropCase*> PointersToDropCases() {
  std::vector<const DropCase*> pointers;
  for (const DropCase& each : DropCases()) {
    pointers.push_back(&each);
  }
  return pointers;
}

INSTANTIATE_TEST_SUITE_P(Verbs, ReusedConnection,
                         ::testing::Combine(::testing::Values("POST", "PUT", "PATCH", "DELETE"),
                                            ::testing::ValuesIn(PointersToDropCases())),
                         [](const auto& param) {
                           return std::get<0>(param.param) + std::get<1>(param.param)->name;
                         });

TEST(ThrottleTest, RequestsWaitForTokensAndWatchesDoNot) {
  FakeClock clock;
  std::atomic<int> count = 0;
  FakeServer server(Numbered(count, [](int, FakeConnection& connection, const FakeRequest&) {
    connection.Respond(200, "application/json", "{}");
  }));
  const auto client =
      ClientFor({.host = server.Url(), .qps = 1, .burst = 2}, WithoutDeadlines(clock));
  const auto get = [&client] { return client->Get().AbsPath("/x").Do(); };
  ASSERT_TRUE(get());
  ASSERT_TRUE(get());
  for (int i = 0; i < 5; ++i) {
    const auto watch = client->Get().AbsPath("/x").Watch().Stream(
        [](const auto&) -> Result<void> { return {}; },
        [](std::string_view) -> Result<void> { return {}; }, {});
    ASSERT_TRUE(watch) << watch.error().ToString();
  }
  std::jthread third([&] { EXPECT_TRUE(get()); });
  clock.AwaitSleepers(1);
  EXPECT_EQ(count, 7) << "the third request waits for its token";
  clock.AdvanceToSleeper(seconds(1));
  third.join();
  EXPECT_EQ(count, 8);

  std::stop_source stop;
  Result<Response> stopped;
  std::jthread fourth([&] { stopped = client->Get().AbsPath("/x").Do(stop.get_token()); });
  clock.AwaitSleepers(1);
  stop.request_stop();
  fourth.join();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().reason, Reason::kCancelled);
}

TEST(ThrottleTest, DefaultIsFivePerSecondWithABurstOfTen) {
  FakeClock clock;
  std::atomic<int> count = 0;
  FakeServer server(Numbered(count, [](int, FakeConnection& connection, const FakeRequest&) {
    connection.Respond(200, "application/json", "{}");
  }));
  auto made = RESTClient::New({.host = server.Url()}, WithoutDeadlines(clock));
  ASSERT_TRUE(made);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE((*made)->Get().AbsPath("/x").Do());
  }
  std::jthread eleventh([&] { EXPECT_TRUE((*made)->Get().AbsPath("/x").Do()); });
  clock.AdvanceToSleeper(std::chrono::milliseconds(200));
  eleventh.join();
  EXPECT_EQ(count, 11);
}

TEST(RestMetricsTest, CountRequestsByCodeAndTimeThem) {
  metrics::Registry registry;
  std::atomic<int> count = 0;
  FakeServer server(Numbered(count, [](int n, FakeConnection& connection, const FakeRequest&) {
    connection.Respond(n == 1 ? 200 : 404, "application/json", "{}");
  }));
  const auto client = NewClient(server.Url(), {.registry = &registry});
  EXPECT_TRUE(client->Get().AbsPath("/x").Do());
  EXPECT_FALSE(client->Get().AbsPath("/x").Do());
  const auto dead = NewClient("http://127.0.0.1:" + std::to_string(testing::UnusedPort()),
                              {.registry = &registry});
  EXPECT_FALSE(dead->Delete().AbsPath("/x").Do());
  const std::string host = "127.0.0.1:" + std::to_string(server.port());
  const auto total = [&](const std::string& code, const std::string& method,
                         const std::string& at) {
    return registry
        .Counter("rest_client_requests_total", "",
                 {{"code", code}, {"method", method}, {"host", at}})
        .Value();
  };
  EXPECT_EQ(total("200", "GET", host), 1);
  EXPECT_EQ(total("404", "GET", host), 1);
  EXPECT_THAT(registry.Serialize(), HasSubstr("code=\"<error>\""));
  EXPECT_THAT(registry.Serialize(), HasSubstr("rest_client_request_duration_seconds_count{host=\"" +
                                              host + "\",verb=\"GET\"} 2"));
}

}  // namespace
}  // namespace kubexx::rest
