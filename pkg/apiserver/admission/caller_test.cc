// Tests calls of webhooks over real connections.
#include "kubexx/apiserver/admission/caller.h"

#include <gmock/gmock.h>

#include <chrono>
#include <optional>
#include <string>

#include "kubexx/rest/testing/certificates.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::apiserver::admission {
namespace {

using rest::testing::CertificateAuthority;
using rest::testing::FakeConnection;
using rest::testing::FakeServer;
using ::testing::HasSubstr;

class CallerTest : public ::testing::Test {
 protected:
  rest::testing::FakeServerTls Tls() const {
    const auto issued = authority_.Issue({.alternative_names = "IP:127.0.0.1,DNS:s.ns.svc"});
    return {.certificate = issued.certificate, .key = issued.key};
  }
  Endpoint EndpointOf(const FakeServer& server) const {
    return {.url = server.Url() + "/hook?timeout=30s",
            .authority = authority_.certificate(),
            .timeout = std::chrono::minutes(1)};
  }
  static void Echo(FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      connection.Respond(200, "application/json", request->target + request->body);
    }
  }
  std::string ErrorOf(const Endpoint& endpoint) {
    const auto answer = caller_->Post(endpoint, "{}", {});
    return answer ? "" : answer.error().message;
  }

  CertificateAuthority authority_{"hooks"};
  std::shared_ptr<Caller> caller_ = NewCaller(base::Clock::Real());
};

TEST_F(CallerTest, ConnectionsAreReused) {
  FakeServer server(Echo, Tls());
  for (int i = 0; i < 3; ++i) {
    const auto answer = caller_->Post(EndpointOf(server), "{}", {});
    ASSERT_TRUE(answer) << answer.error().ToString();
    EXPECT_EQ(*answer, "/hook?timeout=30s{}");
  }
  EXPECT_EQ(server.connections(), 1);
}

// Nobody knows whether a webhook has acted on a request that it did not answer, so it is not called
// again; kube-apiserver does not do that either.
TEST_F(CallerTest, AConnectionThatBreaksEndsTheCallAndIsReplacedForTheNext) {
  FakeServer server(
      [](FakeConnection& connection) {
        if (connection.ReadRequest()) {  // the rest of the connection is cut off
          connection.Respond(200, "application/json", "{}");
          (void)connection.ReadRequest();
          connection.Reset();
        }
      },
      Tls());
  ASSERT_EQ(ErrorOf(EndpointOf(server)), "");
  EXPECT_NE(ErrorOf(EndpointOf(server)), "");
  EXPECT_EQ(server.connections(), 1);
  EXPECT_EQ(ErrorOf(EndpointOf(server)), "");
  EXPECT_EQ(server.connections(), 2);
}

TEST_F(CallerTest, TheCertificateHasToBeTheAuthoritys) {
  FakeServer server(Echo, Tls());
  Endpoint endpoint = EndpointOf(server);
  endpoint.authority = CertificateAuthority("others").certificate();
  EXPECT_THAT(ErrorOf(endpoint), HasSubstr("/hook?timeout=30s\": "));
  endpoint.authority = "no PEM";
  EXPECT_NE(ErrorOf(endpoint), "");
  endpoint = EndpointOf(server);
  endpoint.server_name = "s.ns.svc";
  EXPECT_EQ(ErrorOf(endpoint), "");
  endpoint.server_name = "t.ns.svc";
  EXPECT_NE(ErrorOf(endpoint), "");
}

TEST_F(CallerTest, AnAnswerIsWaitedForNoLongerThanTheTimeout) {
  FakeServer server(
      [](FakeConnection& connection) {
        (void)connection.ReadRequest();
        connection.AwaitPeer();
      },
      Tls());
  Endpoint endpoint = EndpointOf(server);
  endpoint.timeout = std::chrono::milliseconds(50);
  EXPECT_THAT(ErrorOf(endpoint), HasSubstr("context deadline exceeded"));
}

TEST_F(CallerTest, ABodyThatDoesNotEndIsCutOffAtTheTimeout) {
  FakeServer server(
      [](FakeConnection& connection) {
        (void)connection.ReadRequest();
        connection.RespondChunked(200, "application/json");
        connection.WriteChunk("{");
        connection.AwaitPeer();
      },
      Tls());
  Endpoint endpoint = EndpointOf(server);
  endpoint.timeout = std::chrono::seconds(1);
  EXPECT_NE(ErrorOf(endpoint), "");
}

TEST_F(CallerTest, AnswersAreBounded) {
  FakeServer server(
      [](FakeConnection& connection) {
        (void)connection.ReadRequest();
        connection.RespondChunked(200, "application/json");
        const std::string chunk(1 << 20, ' ');
        while (connection.WriteChunk(chunk)) {
        }
      },
      Tls());
  EXPECT_THAT(ErrorOf(EndpointOf(server)), HasSubstr("larger than"));
}

TEST_F(CallerTest, AnotherStatusIsAnError) {
  FakeServer server(
      [](FakeConnection& connection) {
        while (connection.ReadRequest()) {
          connection.Respond(503, "text/plain", "not now");
        }
      },
      Tls());
  EXPECT_THAT(ErrorOf(EndpointOf(server)), HasSubstr("status 503: not now"));
}

TEST_F(CallerTest, NobodyListening) {
  const Endpoint endpoint{
      .url = "https://127.0.0.1:" + std::to_string(rest::testing::UnusedPort()) + "/"};
  EXPECT_THAT(ErrorOf(endpoint), HasSubstr("Post \"https://127.0.0.1:"));
}

}  // namespace
}  // namespace kubexx::apiserver::admission
