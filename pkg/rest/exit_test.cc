#include <gtest/gtest.h>
// Boost 1.74 uses <utility> without including it.
#include <utility>
// The thread pool of cpprestsdk.
#include <pplx/threadpool.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/testing/certificates.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

// A program ends while its connections are being closed.

namespace kubexx::rest {
namespace {

using apimachinery::Result;
using testing::CertificateAuthority;
using testing::ClientFor;
using testing::FakeConnection;
using testing::FakeServer;
using testing::FakeServerTls;
using testing::TempDir;

/// Ends `streams` streams at once, by a network thread that comes to it later, and exits.
[[noreturn]] void ExitBehindStreams(int streams, const CertificateAuthority& issuer,
                                    std::chrono::milliseconds busy) {
  const TempDir dir;
  setenv("SSL_CERT_FILE", dir.Write("ca.pem", issuer.certificate()).c_str(), 1);
  const auto issued = issuer.Issue({.alternative_names = "IP:127.0.0.1"});
  // The server is not waited for.
  auto* const server = new FakeServer(
      [](FakeConnection& connection) {
        while (connection.ReadRequest()) {
          connection.RespondChunked(200, "application/json");
          connection.WriteChunk("{}");
        }
      },
      FakeServerTls{.certificate = issued.certificate, .key = issued.key, .client_ca = ""});
  {
    auto client = ClientFor({.host = "https://127.0.0.1:" + std::to_string(server->port())});
    std::atomic<int> open = 0;
    std::stop_source stop;
    std::vector<std::jthread> threads;
    for (int i = 0; i < streams; ++i) {
      threads.emplace_back([&] {
        (void)client->Get().AbsPath("/").MaxRetries(0).Stream(
            [](const Request::StreamHead&) -> Result<void> { return {}; },
            [&](std::string_view) -> Result<void> {
              ++open;
              return {};
            },
            stop.get_token());
      });
    }
    while (open < streams) {
      std::this_thread::yield();
    }
    crossplat::threadpool::shared_instance().service().post(
        [busy] { std::this_thread::sleep_for(busy); });
    stop.request_stop();
  }
  std::exit(0);
}

TEST(ExitDeathTest, WhileConnectionsAreBeingClosed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const CertificateAuthority issuer("authority");
  for (const int busy : {0, 20}) {
    EXPECT_EXIT(ExitBehindStreams(100, issuer, std::chrono::milliseconds(busy)),
                ::testing::ExitedWithCode(0), "");
  }
}

}  // namespace
}  // namespace kubexx::rest
