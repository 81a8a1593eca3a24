#include <gmock/gmock.h>

#include <map>
#include <string>

#include "kubexx/base/testing/temporary_folder.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/testing/certificates.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::rest {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using base::testing::TemporaryFolder;
using testing::CertificateAndKey;
using testing::CertificateAuthority;
using testing::CertificateRequest;
using testing::ClientFor;
using testing::FakeConnection;
using testing::FakeServer;
using testing::FakeServerTls;
using ::testing::HasSubstr;

const CertificateAuthority& Authority() {
  static const CertificateAuthority authority("good-ca");
  return authority;
}

void AnswerWithIdentity(FakeConnection& connection) {
  while (connection.ReadRequest()) {
    connection.Respond(200, "application/json",
                       connection.ClientSubject() + "|" + connection.ServerName());
  }
}

FakeServerTls ServerTls(const CertificateRequest& request, const std::string& client_ca = "") {
  const CertificateAndKey issued = Authority().Issue(request);
  return {.certificate = issued.certificate, .key = issued.key, .client_ca = client_ca};
}

Result<Response> Ask(const FakeServer& server, const TlsConfig& tls,
                     const std::string& host = "127.0.0.1") {
  const auto client =
      ClientFor({.host = "https://" + host + ":" + std::to_string(server.port()), .tls = tls});
  return client->Get().AbsPath("/").Do();
}

TlsConfig Trusting(std::string server_name = "") {
  return {.server_name = std::move(server_name), .ca_data = Authority().certificate()};
}

TEST(TlsTest, AcceptsIpAddressAndNameOfTheCertificate) {
  FakeServer server(AnswerWithIdentity,
                    ServerTls({.alternative_names = "DNS:localhost,IP:127.0.0.1"}));
  const auto by_ip = Ask(server, Trusting());
  ASSERT_TRUE(by_ip) << by_ip.error().ToString();
  EXPECT_EQ(by_ip->body, "|") << "no server name is sent for an address";
  const auto by_name = Ask(server, Trusting(), "localhost");
  ASSERT_TRUE(by_name) << by_name.error().ToString();
  EXPECT_EQ(by_name->body, "|localhost");
}

TEST(TlsTest, ServerNameReplacesTheHost) {
  FakeServer server(AnswerWithIdentity,
                    ServerTls({.alternative_names = "DNS:api.example,DNS:*.wild.example"}));
  const auto named = Ask(server, Trusting("api.example"));
  ASSERT_TRUE(named) << named.error().ToString();
  EXPECT_EQ(named->body, "|api.example");
  EXPECT_TRUE(Ask(server, Trusting("a.wild.example")));
  EXPECT_FALSE(Ask(server, Trusting("a.b.wild.example")));
  EXPECT_FALSE(Ask(server, Trusting("other.example")));
}

TEST(TlsTest, RefusesCertificateOfAnotherHost) {
  FakeServer server(AnswerWithIdentity,
                    ServerTls({.alternative_names = "DNS:other.example,IP:10.0.0.1"}));
  for (const std::string host : {"127.0.0.1", "localhost"}) {
    const auto result = Ask(server, Trusting(), host);
    ASSERT_FALSE(result) << host;
    EXPECT_EQ(result.error().reason, Reason::kUnavailable);
    EXPECT_THAT(result.error().message, HasSubstr("certificate is not valid for " + host));
  }
}

TEST(TlsTest, IgnoresTheCommonName) {
  FakeServer server(AnswerWithIdentity, ServerTls({.common_name = "localhost"}));
  const auto result = Ask(server, Trusting(), "localhost");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("certificate is not valid for localhost"));
}

// envtest makes the API server trust its webhooks in this way.
TEST(TlsTest, TrustsACertificateThatIsNamedWithoutItsAuthority) {
  const FakeServerTls tls = ServerTls({.alternative_names = "IP:127.0.0.1"});
  FakeServer server(AnswerWithIdentity, tls);
  const auto trusted = Ask(server, {.ca_data = tls.certificate});
  EXPECT_TRUE(trusted) << trusted.error().ToString();
  const FakeServerTls another = ServerTls({.alternative_names = "IP:127.0.0.1"});
  EXPECT_FALSE(Ask(server, {.ca_data = another.certificate})) << "of the same authority";
}

TEST(TlsTest, RefusesUnknownAuthority) {
  FakeServer server(AnswerWithIdentity, ServerTls({.alternative_names = "IP:127.0.0.1"}));
  const CertificateAuthority other("other-ca");
  const auto wrong = Ask(server, {.ca_data = other.certificate()});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().reason, Reason::kUnavailable);
  EXPECT_THAT(wrong.error().message, HasSubstr("unable to get local issuer certificate"));
  const CertificateAuthority impostor("good-ca");  // it has the same name and another key
  EXPECT_FALSE(Ask(server, {.ca_data = impostor.certificate()}));
  EXPECT_FALSE(Ask(server, {})) << "the system's authorities do not know it either";
}

TEST(TlsTest, RefusesExpiredAndFutureCertificates) {
  FakeServer expired(AnswerWithIdentity, ServerTls({.alternative_names = "IP:127.0.0.1",
                                                    .not_after = std::chrono::minutes(-1)}));
  const auto late = Ask(expired, Trusting());
  ASSERT_FALSE(late);
  EXPECT_THAT(late.error().message, HasSubstr("expired"));
  FakeServer future(AnswerWithIdentity, ServerTls({.alternative_names = "IP:127.0.0.1",
                                                   .not_before = std::chrono::minutes(30)}));
  const auto early = Ask(future, Trusting());
  ASSERT_FALSE(early);
  EXPECT_THAT(early.error().message, HasSubstr("not yet valid"));
}

TEST(TlsTest, InsecureSkipsVerification) {
  FakeServer server(AnswerWithIdentity, ServerTls({.alternative_names = "DNS:other.example"}));
  const auto result = Ask(server, {.insecure_skip_verify = true});
  EXPECT_TRUE(result) << result.error().ToString();
}

TEST(TlsTest, PresentsClientCertificateFromDataAndFiles) {
  FakeServer server(AnswerWithIdentity,
                    ServerTls({.alternative_names = "IP:127.0.0.1"}, Authority().certificate()));
  const CertificateAndKey admin = Authority().Issue({.common_name = "admin"});
  TlsConfig inline_data = Trusting();
  inline_data.cert_data = admin.certificate;
  inline_data.key_data = admin.key;
  const auto by_data = Ask(server, inline_data);
  ASSERT_TRUE(by_data) << by_data.error().ToString();
  EXPECT_EQ(by_data->body, "CN=admin|");

  const TemporaryFolder dir;
  TlsConfig files;
  files.ca_file = dir.Write("ca.crt", Authority().certificate());
  files.cert_file = dir.Write("admin.crt", admin.certificate);
  files.key_file = dir.Write("admin.key", admin.key);
  const auto by_file = Ask(server, files);
  ASSERT_TRUE(by_file) << by_file.error().ToString();
  EXPECT_EQ(by_file->body, "CN=admin|");
}

TEST(TlsTest, MissingClientCertificateIsAnError) {
  FakeServer server(AnswerWithIdentity,
                    ServerTls({.alternative_names = "IP:127.0.0.1"}, Authority().certificate()));
  const auto result = Ask(server, Trusting());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, Reason::kUnavailable);
}

TEST(TlsTest, PlainServerBehindHttpsIsAnError) {
  FakeServer server(
      [](FakeConnection& connection) { connection.Write("HTTP/1.1 400 Bad Request\r\n\r\n"); });
  const auto result = Ask(server, Trusting());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, Reason::kUnavailable);
  EXPECT_THAT(result.error().message, HasSubstr("TLS handshake"));
}

struct BadMaterialCase {
  std::string name;
  TlsConfig tls;  // holds the names of the files that Filled makes
  std::string message;
};

class BadMaterialTest : public ::testing::TestWithParam<BadMaterialCase> {};

/// The files are not made before the tests run; see network_exit_test.cc.
TlsConfig Filled(TlsConfig tls) {
  const CertificateAndKey a = Authority().Issue({.common_name = "a"});
  const CertificateAndKey b = Authority().Issue({.common_name = "b"});
  const std::string ca = Authority().certificate();
  const std::string half = ca.substr(0, ca.size() / 2);
  const std::map<std::string, std::string> made = {
      {"<ca>", ca},           {"<half a ca>", half}, {"<one ca and a half>", ca + half},
      {"<a>", a.certificate}, {"<key of a>", a.key}, {"<key of b>", b.key}};
  for (std::string* const text : {&tls.ca_data, &tls.cert_data, &tls.key_data}) {
    const auto found = made.find(*text);
    *text = found == made.end() ? *text : found->second;
  }
  return tls;
}

TEST_P(BadMaterialTest, IsRefusedAtConstruction) {
  const auto client =
      RESTClient::New({.host = "https://127.0.0.1:1", .tls = Filled(GetParam().tls)});
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().reason, Reason::kInvalidConfig);
  EXPECT_THAT(client.error().message, HasSubstr(GetParam().message));
  EXPECT_THAT(client.error().message, ::testing::Not(HasSubstr("BEGIN")));
}

std::vector<BadMaterialCase> BadMaterials() {
  return {
      {"CaNotPem", {.ca_data = "hello"}, "certificate-authority-data: holds no PEM certificate"},
      {"CaTruncated", {.ca_data = "<half a ca>"}, "certificate-authority-data: "},
      {"SecondCaTruncated", {.ca_data = "<one ca and a half>"}, "certificate-authority-data: "},
      {"CaFileMissing", {.ca_file = "/nonexistent/ca.crt"}, "/nonexistent/ca.crt: No such file"},
      {"CaFileIsDirectory", {.ca_file = "/tmp"}, "/tmp: Is a directory"},
      {"CaFileEndless", {.ca_file = "/dev/zero"}, "larger than 16 MiB"},
      {"CaWithInsecure", {.insecure_skip_verify = true, .ca_data = "<ca>"}, "cannot be combined"},
      {"CertWithoutKey", {.cert_data = "<a>"}, "client-key is not"},
      {"KeyWithoutCert", {.key_data = "<key of a>"}, "client-certificate is not"},
      {"KeyOfAnother",
       {.cert_data = "<a>", .key_data = "<key of b>"},
       "is not the key of client-certificate-data"},
      {"CertNotPem",
       {.cert_data = "x", .key_data = "<key of a>"},
       "client-certificate-data: holds no PEM certificate"},
      {"KeyNotPem",
       {.cert_data = "<a>", .key_data = "x"},
       "client-key-data: holds no usable PEM private key"},
  };
}

INSTANTIATE_TEST_SUITE_P(Table, BadMaterialTest, ::testing::ValuesIn(BadMaterials()),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace kubexx::rest
