// TLS of the server, with OpenSSL as the client.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/http/certificate.h"
#include "kubexx/http/internal/openssl.h"
#include "kubexx/http/server.h"
#include "kubexx/http/testing/raw_connection.h"
#include "kubexx/logging/testing/capture.h"

namespace kubexx::http {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kRequest = "GET /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

KeyPair MakePair(const std::string& name) {
  auto pair = SelfSigned({name});
  EXPECT_TRUE(pair) << pair.error().ToString();
  return std::move(*pair);
}

std::string SubjectOf(X509* certificate) {
  std::array<char, 256> text{};
  X509_NAME_oneline(X509_get_subject_name(certificate), text.data(), text.size());
  return text.data();
}

/// What a client saw of one connection.
struct Visit {
  std::string error{};  ///< of the handshake or the first read
  std::string subject{};
  std::string answer{};
  int version = 0;
};

struct ClientOptions {
  std::string trusted{};  ///< verify the server against this certificate, for "localhost"
  const KeyPair* pair = nullptr;
  int max_version = 0;
  std::vector<std::string> records{std::string(kRequest)};  ///< what is sent, each in a record
};

using TlsContextPtr = std::unique_ptr<SSL_CTX, decltype([](SSL_CTX* c) { SSL_CTX_free(c); })>;
using TlsConnectionPtr = std::unique_ptr<SSL, decltype([](SSL* s) { SSL_free(s); })>;

TlsContextPtr ClientContext(const ClientOptions& options) {
  TlsContextPtr context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_max_proto_version(context.get(), options.max_version);
  if (!options.trusted.empty()) {
    const auto trusted = internal::ParseCertificates(options.trusted, "trusted");
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), trusted->front().get());
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    X509_VERIFY_PARAM_set1_host(SSL_CTX_get0_param(context.get()), "localhost", 0);
  }
  if (options.pair != nullptr) {
    const auto parsed = internal::ParseKeyPair(*options.pair);
    SSL_CTX_use_certificate(context.get(), parsed->chain.front().get());
    SSL_CTX_use_PrivateKey(context.get(), parsed->key.get());
  }
  return context;
}

Visit Connect(std::uint16_t port, const ClientOptions& options = {}) {
  Visit visit;
  const TlsContextPtr context = ClientContext(options);
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  const TlsConnectionPtr ssl(SSL_new(context.get()));
  SSL_set_fd(ssl.get(), fd);
  if (SSL_connect(ssl.get()) != 1) {
    visit.error = internal::TakeOpenSslError();
  } else {
    visit.version = SSL_version(ssl.get());
    visit.subject = SubjectOf(internal::Certificate(SSL_get1_peer_certificate(ssl.get())).get());
    for (const std::string& record : options.records) {
      SSL_write(ssl.get(), record.data(), static_cast<int>(record.size()));
    }
    std::array<char, 4096> buffer{};
    int size = 0;
    while ((size = SSL_read(ssl.get(), buffer.data(), buffer.size())) > 0) {
      visit.answer.append(buffer.data(), static_cast<std::size_t>(size));
    }
    if (SSL_get_error(ssl.get(), size) != SSL_ERROR_ZERO_RETURN) {
      visit.error = internal::TakeOpenSslError();  // The server did not say goodbye.
    }
  }
  ::close(fd);
  return visit;
}

class ServerTlsTest : public ::testing::Test {
 protected:
  void Start(TlsOptions tls, std::size_t max_connections = 64) {
    server_ = std::make_unique<Server>(Server::Options{
        .address = "127.0.0.1:0", .max_connections = max_connections, .tls = std::move(tls)});
    server_->Handle("/ok", [](const Request&) { return Response{.body = "fine"}; });
    const auto started = server_->Start();
    ASSERT_TRUE(started) << started.error().ToString();
  }
  std::uint16_t port() const { return server_->port(); }

  std::unique_ptr<Server> server_;
};

TEST_F(ServerTlsTest, AnswersAndSaysGoodbye) {
  const KeyPair pair = MakePair("localhost");
  Start({.certificate = FixedCertificate(pair)});
  const Visit visit = Connect(port(), {.trusted = pair.certificate});
  EXPECT_EQ(visit.error, "");
  EXPECT_THAT(visit.answer, AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), EndsWith("fine")));
  EXPECT_EQ(visit.version, TLS1_3_VERSION);
}

// The server reads a record at a time: here whole fields, and the first byte of the next.
TEST_F(ServerTlsTest, AHeaderIsLimitedAsAWholeHoweverItComes) {
  Start({});
  ClientOptions options{.records = {"GET /ok HTTP/1.1\r\nA"}};
  for (int i = 0; i < 200; ++i) {
    options.records.push_back(": " + std::string(500, 'x') + "\r\nA");
  }
  EXPECT_THAT(Connect(port(), options).answer, StartsWith("HTTP/1.1 431 "));
}

TEST_F(ServerTlsTest, MakesACertificateWhenThereIsNone) {
  Start({});
  const Visit visit = Connect(port());
  EXPECT_EQ(visit.error, "");
  EXPECT_EQ(visit.subject, "/CN=localhost");
}

/// What TLS needs is made for those that have begun with it.
TEST_F(ServerTlsTest, WhoSaysNothingCostsLittle) {
  constexpr int kSilent = 200;
  Start({}, 2 * kSilent);
  EXPECT_EQ(Connect(port()).error, "");
  const std::size_t before = ::mallinfo2().uordblks;
  std::vector<int> silent;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int i = 0; i < kSilent; ++i) {
    silent.push_back(::socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(
        ::connect(silent.back(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    if (i % 32 == 31) {  // They have been taken when a later one has been answered.
      EXPECT_EQ(Connect(port()).error, "");
    }
  }
  EXPECT_EQ(Connect(port()).error, "");
  const std::size_t after = ::mallinfo2().uordblks;
  EXPECT_LT(after, before + kSilent * std::size_t{16 << 10});
  for (const int fd : silent) {
    ::close(fd);
  }
}

TEST_F(ServerTlsTest, AServerThatEndsWaitsForNoHandshake) {
  Server server(Server::Options{
      .address = "127.0.0.1:0", .read_timeout = std::chrono::hours(1), .tls = TlsOptions{}});
  ASSERT_TRUE(server.Start());
  testing::RawConnection silent(server.port());
  EXPECT_EQ(Connect(server.port()).error, "") << "by now the other one has been taken, too";
  server.Drain(std::chrono::minutes(1));
  EXPECT_EQ(silent.ReadAll(), "") << "the server has closed it, and is not stopped yet";
}

TEST_F(ServerTlsTest, RefusesOldVersions) {
  Start({});
  EXPECT_EQ(Connect(port(), {.max_version = TLS1_2_VERSION}).version, TLS1_2_VERSION);
  EXPECT_NE(Connect(port(), {.max_version = TLS1_1_VERSION}).error, "");
}

TEST_F(ServerTlsTest, NewConnectionsGetTheNewCertificate) {
  base::Mutex mu;
  auto current = std::make_shared<const KeyPair>(MakePair("one"));
  Start({.certificate = [&mu, &current] {
    base::MutexLock lock(mu);
    return current;
  }});
  const auto use = [&mu, &current](KeyPair pair) {
    base::MutexLock lock(mu);
    current = std::make_shared<const KeyPair>(std::move(pair));
  };
  EXPECT_EQ(Connect(port()).subject, "/CN=one");
  use(MakePair("two"));
  EXPECT_EQ(Connect(port()).subject, "/CN=two");

  const logging::testing::Capture capture;
  use({.certificate = "nonsense"});
  EXPECT_EQ(Connect(port()).subject, "/CN=two");
  EXPECT_EQ(Connect(port()).subject, "/CN=two");
  EXPECT_EQ(capture.Count("Cannot use the new server certificate"), 1U);
}

TEST_F(ServerTlsTest, ClientsNeedACertificateOfTheAuthority) {
  const KeyPair client = MakePair("client");
  const KeyPair stranger = MakePair("stranger");
  Start({.client_ca = client.certificate});
  EXPECT_THAT(Connect(port(), {.pair = &client}).answer, EndsWith("fine"));
  EXPECT_EQ(Connect(port(), {.pair = &stranger}).answer, "");
  EXPECT_EQ(Connect(port()).answer, "");
}

TEST_F(ServerTlsTest, WhereAnybodyMayComeTheHandlerHearsOfABadCertificate) {
  const KeyPair client = MakePair("client");
  const KeyPair stranger = MakePair("stranger");
  Start({.client_ca = client.certificate, .client_certificate_optional = true});
  server_->Handle("/ok", [](const Request& request) {
    return Response{.body = "<" + request.peer.common_name + ">" +
                            (request.peer.refused ? "refused" : "taken")};
  });
  EXPECT_THAT(Connect(port(), {.pair = &client}).answer, EndsWith("<client>taken"));
  EXPECT_THAT(Connect(port(), {.pair = &stranger}).answer, EndsWith("<>refused"));
  EXPECT_THAT(Connect(port()).answer, EndsWith("<>taken"));
}

TEST_F(ServerTlsTest, PlainClientsAreDropped) {
  Start({});
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_GT(::send(fd, kRequest.data(), kRequest.size(), MSG_NOSIGNAL), 0);
  std::array<char, 64> buffer{};
  EXPECT_LE(::recv(fd, buffer.data(), buffer.size(), 0), 7) << "at most an alert";
  ::close(fd);
  EXPECT_EQ(Connect(port()).error, "") << "it still serves others";
}

TEST(ServerTlsStartTest, BadCertificatesAreReported) {
  const KeyPair good = MakePair("a");
  const KeyPair other = MakePair("b");
  const auto start = [](TlsOptions tls) {
    Server server({.address = "127.0.0.1:0", .tls = std::move(tls)});
    const auto started = server.Start();
    return started ? "ok" : started.error().ToString();
  };
  EXPECT_THAT(start({.certificate = FixedCertificate({.certificate = "x"})}),
              HasSubstr("InvalidConfig: certificate: "));
  EXPECT_THAT(
      start({.certificate = FixedCertificate({.certificate = good.certificate, .key = other.key})}),
      HasSubstr("is not the key of the certificate"));
  EXPECT_THAT(start({.certificate = FixedCertificate({.certificate = good.certificate})}),
              HasSubstr("holds no usable PEM private key"));
  EXPECT_THAT(start({.certificate = [] { return std::shared_ptr<const KeyPair>(); }}),
              HasSubstr("no certificate yet"));
  EXPECT_THAT(start({.client_ca = "x"}), HasSubstr("client CA: "));
}

TEST(CertificateTest, OfSeveralNamesTheLastIsTheClients) {
  const internal::Certificate certificate(X509_new());
  X509_NAME* const name = X509_get_subject_name(certificate.get());
  EXPECT_EQ(internal::SubjectOf(*certificate).common_name, "");
  for (const auto& [field, value] : {std::pair("CN", "first"), std::pair("O", "one"),
                                     std::pair("CN", "second"), std::pair("O", "two")}) {
    ASSERT_EQ(X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                         reinterpret_cast<const unsigned char*>(value), -1, -1, 0),
              1);
  }
  const Peer peer = internal::SubjectOf(*certificate);
  EXPECT_EQ(peer.common_name, "second");
  EXPECT_THAT(peer.organizations, ::testing::ElementsAre("one", "two"));
}

TEST(CertificateTest, PairsAreChecked) {
  const KeyPair good = MakePair("127.0.0.1");
  EXPECT_TRUE(CheckKeyPair(good));
  EXPECT_FALSE(CheckKeyPair({}));
  EXPECT_FALSE(CheckKeyPair({.certificate = good.certificate, .key = MakePair("x").key}));
  EXPECT_FALSE(CheckKeyPair(
      {.certificate = good.certificate + "-----BEGIN CERTIFICATE-----\nA\n", .key = good.key}));
  EXPECT_FALSE(SelfSigned({"a,DNS:b"})) << "names cannot smuggle in others";
}

TEST(CertificateTest, AnAddressMayHaveTheBracketsOfAUrl) {
  const auto pair = SelfSigned({"localhost", "[::1]"});
  ASSERT_TRUE(pair) << pair.error().ToString();
  const internal::Bio text(
      BIO_new_mem_buf(pair->certificate.data(), static_cast<int>(pair->certificate.size())));
  const internal::Certificate certificate(PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr));
  EXPECT_EQ(X509_check_ip_asc(certificate.get(), "::1", 0), 1);
}

TEST(CertificateTest, AnAuthoritySignsForServers) {
  const base::WallTime now = base::Clock::Real().Wall();
  const Validity year{.not_before = now - std::chrono::hours(1),
                      .not_after = now + std::chrono::days(365)};
  const auto authority = NewAuthority(
      "ours", {.not_before = year.not_before, .not_after = now + std::chrono::years(100)});
  ASSERT_TRUE(authority) << authority.error().ToString();
  const auto pair = SignedBy(*authority, {"localhost", "127.0.0.1"}, year);
  ASSERT_TRUE(pair) << pair.error().ToString();
  EXPECT_TRUE(CheckKeyPair(*pair));
  EXPECT_TRUE(IsFor(*pair, "127.0.0.1"));
  const auto chain = internal::ParseCertificates(pair->certificate, "");
  const auto root = internal::ParseCertificates(authority->certificate, "");
  ASSERT_TRUE(chain && root);
  EXPECT_EQ(X509_check_issued(root->front().get(), chain->front().get()), X509_V_OK);
  EXPECT_EQ(X509_verify(chain->front().get(), X509_get0_pubkey(root->front().get())), 1);
  EXPECT_EQ(X509_check_ca(root->front().get()), 1);
  EXPECT_EQ(X509_check_ca(chain->front().get()), 0);
  EXPECT_FALSE(SignedBy({}, {"localhost"}, year));
  EXPECT_FALSE(SignedBy(*authority, {"a,DNS:b"}, year));
}

}  // namespace
}  // namespace kubexx::http
