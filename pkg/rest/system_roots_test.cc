#include "kubexx/rest/internal/tls/system_roots.h"

#include <gmock/gmock.h>
#include <openssl/ssl.h>

#include <cstdlib>
#include <string>

#include "kubexx/base/testing/temporary_folder.h"
#include "kubexx/rest/testing/certificates.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::rest {
namespace {

using base::testing::TemporaryFolder;
using testing::CertificateAuthority;
using testing::ClientFor;
using testing::FakeConnection;
using testing::FakeServer;
using testing::FakeServerTls;

int Held(X509_STORE* store) { return sk_X509_OBJECT_num(X509_STORE_get0_objects(store)); }

TEST(SystemRoots, AreNotReadForAConnection) {
  // cpprestsdk does this for each connection.
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  EXPECT_EQ(SSL_CTX_set_default_verify_paths(context), 1);
  EXPECT_EQ(Held(SSL_CTX_get_cert_store(context)), 0);
  SSL_CTX_free(context);
}

/// Connects three times with the system's file as the only authority. Exits with the number of
/// responses.
[[noreturn]] void ConnectWith(const std::string& file, const CertificateAuthority& issuer) {
  const TemporaryFolder dir;
  setenv("SSL_CERT_FILE", dir.Write("ca.pem", file).c_str(), 1);
  const auto issued = issuer.Issue({.alternative_names = "IP:127.0.0.1"});
  int replies = 0;
  {
    FakeServer server(
        [](FakeConnection& connection) {
          while (connection.ReadRequest()) {
            connection.Respond(200, "application/json", "{}");
          }
        },
        FakeServerTls{.certificate = issued.certificate, .key = issued.key, .client_ca = ""});
    for (int i = 0; i < 3; ++i) {
      const auto client = ClientFor({.host = "https://127.0.0.1:" + std::to_string(server.port())});
      replies += client->Get().AbsPath("/").Do() ? 1 : 0;
    }
  }
  std::exit(replies);
}

TEST(SystemRootsDeathTest, VerifyAServerWhenNoAuthorityIsGiven) {
  // Each in a process of its own, because the file is read once per process.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const CertificateAuthority issuer("authority");
  const CertificateAuthority impostor("authority");  // it has the same name and another key
  EXPECT_EXIT(ConnectWith(issuer.certificate(), issuer), ::testing::ExitedWithCode(3), "");
  EXPECT_EXIT(ConnectWith(impostor.certificate(), issuer), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace kubexx::rest
