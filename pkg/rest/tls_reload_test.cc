#include "kubexx/rest/internal/transport/tls_reload.h"

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <latch>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/base/testing/temporary_folder.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/testing/certificates.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using base::testing::FakeClock;
using base::testing::TemporaryFolder;
using rest::testing::CertificateAuthority;
using rest::testing::ClientFor;
using rest::testing::FakeConnection;
using rest::testing::FakeServer;
using rest::testing::FakeServerTls;
using std::chrono::seconds;
using ::testing::HasSubstr;

class TlsReloadTest : public ::testing::Test {
 protected:
  FakeServerTls ServerTls() const {
    const auto issued = authority_.Issue({.alternative_names = "IP:127.0.0.1"});
    return {.certificate = issued.certificate,
            .key = issued.key,
            .client_ca = authority_.certificate()};
  }
  void WriteClient(const std::string& name) const {
    const auto pair = authority_.Issue({.common_name = name});
    dir_.Write("client.crt", pair.certificate);
    dir_.Write("client.key", pair.key);
  }
  std::shared_ptr<RESTClient> Client(const FakeServer& server) {
    const TlsConfig tls{.ca_file = dir_.path() + "/ca.crt",
                        .cert_file = dir_.path() + "/client.crt",
                        .key_file = dir_.path() + "/client.key"};
    RESTClient::Options options = rest::testing::WithoutDeadlines(clock_);
    options.registry = &registry_;
    return ClientFor({.host = server.Url(), .tls = tls}, options);
  }
  double Reloads(const std::string& which, const std::string& result, const std::string& reason) {
    return registry_
        .Counter("rest_client_transport_" + which + "_reload_total", "",
                 {{"result", result}, {"reason", reason}})
        .Value();
  }
  // Returns the client's name as the server sees it, or the error.
  static std::string Ask(RESTClient& client) {
    const auto result = client.Get().AbsPath("/x").Do();
    return result ? result->body : result.error().message;
  }

  const CertificateAuthority authority_{"ca"};
  const TemporaryFolder dir_;
  FakeClock clock_;
  metrics::Registry registry_;
};

void AnswerWithSubject(FakeConnection& connection) {
  while (connection.ReadRequest()) {
    connection.Respond(200, "application/json", connection.ClientSubject());
  }
}

TEST_F(TlsReloadTest, NewClientCertificateIsUsedAfterAMinuteAndABadOneIsNot) {
  FakeServer server(AnswerWithSubject, ServerTls());
  dir_.Write("ca.crt", authority_.certificate());
  WriteClient("one");
  const auto client = Client(server);
  EXPECT_EQ(Ask(*client), "CN=one");
  WriteClient("two");
  clock_.Advance(seconds(59));
  EXPECT_EQ(Ask(*client), "CN=one") << "files are not read at every request";
  clock_.Advance(seconds(1));
  EXPECT_EQ(Ask(*client), "CN=two");
  EXPECT_EQ(Reloads("cert", "success", "updated"), 1);
  dir_.Write("client.key", authority_.Issue({.common_name = "other"}).key);
  clock_.Advance(seconds(60));
  EXPECT_EQ(Ask(*client), "CN=two");
  EXPECT_EQ(Reloads("cert", "failure", "parse_error"), 1);
  std::filesystem::remove(dir_.path() + "/client.crt");
  clock_.Advance(seconds(60));
  EXPECT_EQ(Ask(*client), "CN=two");
  EXPECT_EQ(Reloads("cert", "failure", "read_error"), 1);
  WriteClient("three");
  clock_.Advance(seconds(60));
  EXPECT_EQ(Ask(*client), "CN=three");
}

TEST_F(TlsReloadTest, NewCertificateAuthorityIsUsedAfterAMinuteAndABadOneIsNot) {
  FakeServer server(AnswerWithSubject, ServerTls());
  dir_.Write("ca.crt", CertificateAuthority("other").certificate());
  WriteClient("one");
  const auto client = Client(server);
  EXPECT_THAT(Ask(*client), HasSubstr("certificate"));
  dir_.Write("ca.crt", authority_.certificate());
  clock_.Advance(seconds(60));
  EXPECT_EQ(Ask(*client), "CN=one");
  EXPECT_EQ(Reloads("ca", "success", "updated"), 1);
  for (const std::string bad : {"", "nonsense"}) {
    dir_.Write("ca.crt", bad);
    clock_.Advance(seconds(60));
    EXPECT_EQ(Ask(*client), "CN=one");
  }
  EXPECT_EQ(Reloads("ca", "failure", "parse_error"), 2);
}

TEST_F(TlsReloadTest, ARefusedCertificateIsReadAgainAtOnce) {
  FakeServer server(
      [](FakeConnection& connection) {
        while (connection.ReadRequest()) {
          connection.Respond(connection.ClientSubject() == "CN=old" ? 401 : 200, "application/json",
                             connection.ClientSubject());
        }
      },
      ServerTls());
  dir_.Write("ca.crt", authority_.certificate());
  WriteClient("old");
  const auto client = Client(server);
  EXPECT_THAT(Ask(*client), HasSubstr("401"));
  WriteClient("new");
  clock_.Advance(seconds(5));
  EXPECT_EQ(Ask(*client), "CN=new");
}

TEST_F(TlsReloadTest, AllWhoAreRefusedAtOnceUseTheNewCertificate) {
  constexpr int kCallers = 6;
  std::atomic<int> refused = 0;
  FakeServer server(
      [&refused](FakeConnection& connection) {
        while (connection.ReadRequest()) {
          const bool is_old = connection.ClientSubject() == "CN=old";
          refused += is_old ? 1 : 0;
          // No caller gets an answer before all callers have asked.
          KX_AWAIT(!is_old || refused >= kCallers);
          connection.Respond(is_old ? 401 : 200, "application/json", connection.ClientSubject());
        }
      },
      ServerTls());
  dir_.Write("ca.crt", authority_.certificate());
  WriteClient("old");
  const auto client = Client(server);
  WriteClient("new");
  clock_.Advance(seconds(5));
  std::vector<std::jthread> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.emplace_back([&client] { EXPECT_EQ(Ask(*client), "CN=new"); });
  }
  callers.clear();
}

TEST_F(TlsReloadTest, AWatchOnAnOldCertificateEnds) {
  FakeServer server(
      [](FakeConnection& connection) {
        connection.ReadRequest();
        connection.RespondChunked(200, "application/json");
        connection.WriteChunk("first");
        connection.AwaitPeer();
      },
      ServerTls());
  dir_.Write("ca.crt", authority_.certificate());
  WriteClient("one");
  const auto client = Client(server);
  std::atomic<bool> begun = false;
  Result<void> ended;
  std::jthread watcher([&] {
    ended =
        client->Get().AbsPath("/x").Watch().Stream([](const auto&) -> Result<void> { return {}; },
                                                   [&begun](std::string_view) -> Result<void> {
                                                     begun = true;
                                                     return {};
                                                   },
                                                   {}, std::chrono::hours(1));
  });
  KX_AWAIT(begun);
  WriteClient("two");
  clock_.AdvanceToSleeper(seconds(60));
  watcher.join();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().reason, Reason::kUnavailable);
  EXPECT_THAT(ended.error().message, HasSubstr("client certificate has changed"));
}

// The CA's file is renewed as often as the plugin's certificate, so both may change at the same
// time.
TEST_F(TlsReloadTest, AReloadOfTheAuthorityDoesNotBringBackAnOldCertificate) {
  FakeServer server(AnswerWithSubject, ServerTls());
  const RestMetrics no_metrics(nullptr, "", clock_);
  const TlsConfig tls{.ca_file = dir_.Write("ca.crt", authority_.certificate())};
  const auto url = ParseServerUrl(server.Url());
  TlsReload reload(tls, clock_, no_metrics);
  const auto transport = Transport::NewThrough(std::nullopt, tls, *url, clock_, Http2Use::kNever);
  ASSERT_TRUE(transport) << transport.error().ToString();
  reload.Attach(**transport);
  const std::array pairs = {authority_.Issue({.common_name = "0"}),
                            authority_.Issue({.common_name = "1"})};
  for (std::size_t i = 0; i < 40; ++i) {
    dir_.Write("ca.crt", authority_.certificate() + std::string(i, '\n'));
    clock_.Advance(seconds(60));
    std::latch at_once(2);
    {
      std::jthread other([&] {
        at_once.count_down();
        KX_AWAIT(at_once.try_wait());
        reload.Check();
      });
      at_once.count_down();
      KX_AWAIT(at_once.try_wait());
      const auto& pair = pairs[i % 2];
      ASSERT_TRUE(reload.UseClientCertificate(pair.certificate, pair.key));
    }
    HttpCall call = (*transport)->Start({.method = "GET", .target = "/x"});
    std::string subject;
    ASSERT_TRUE(call.AwaitHead({}, {}));
    ASSERT_TRUE(call.Read(
        [&subject](std::string_view bytes) -> Result<void> {
          subject += bytes;
          return {};
        },
        {}, base::TimePoint::max()));
    ASSERT_EQ(subject, "CN=" + std::to_string(i % 2)) << "round " << i;
  }
}

}  // namespace
}  // namespace kubexx::rest::internal
