// /metrics behind TokenReview and SubjectAccessReview of a real API server.
#include "kubexx/authfilter/auth_filter.h"

#include <gmock/gmock.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "cluster_fixture.h"
#include "kubexx/api/authentication/v1/types.gen.h"
#include "kubexx/api/rbac/v1/types.gen.h"
#include "kubexx/codec/codec.h"
#include "kubexx/kubernetes/rbac_v1.gen.h"
#include "kubexx/metrics/http_server.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::integration {
namespace {

using api::authentication::v1::TokenRequest;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class AuthFilterIntegrationTest : public ClusterTest {
 protected:
  void SetUp() override {
    ClusterTest::SetUp();
    if (HasFatalFailure()) {
      return;
    }
    registry_.Counter("things_total", "Things.").Increment();
    filter_ = std::make_unique<authfilter::AuthFilter>(client_);
    server_ = std::make_unique<metrics::HttpServer>(metrics::HttpServer::Options{
        .address = "127.0.0.1:0", .tls = http::TlsOptions{}, .handler_threads = 2});
    server_->Handle("/metrics",
                    http::Filtered(filter_->Filter(), metrics::MetricsHandler(registry_)));
    const auto started = server_->Start();
    ASSERT_TRUE(started) << started.error().ToString();
  }

  void TearDown() override {
    const auto rbac = kubernetes::Clientset(client_).RbacV1();
    (void)rbac.ClusterRoleBindings().Delete(namespace_);
    (void)rbac.ClusterRoles().Delete(namespace_);
    ClusterTest::TearDown();
  }

  /// A service account with a token of its own.
  std::string MakeToken(const std::string& name) const {
    api::core::v1::ServiceAccount account;
    account.metadata.name = name;
    const auto created =
        kubernetes::Clientset(client_).CoreV1().ServiceAccounts(namespace_).Create(account);
    EXPECT_TRUE(created) << created.error().ToString();
    TokenRequest wanted;
    wanted.spec.expiration_seconds = 600;
    const auto response =
        client_->Post()
            .AbsPath("/api/v1/namespaces/" + namespace_ + "/serviceaccounts/" + name + "/token")
            .Body(codec::Encoding::kJson, codec::EncodeJson(wanted))
            .Do();
    EXPECT_TRUE(response) << response.error().ToString();
    const auto token = codec::DecodeJson<TokenRequest>(response->body);
    EXPECT_TRUE(token) << token.error().ToString();
    return token->status.token;
  }

  /// Lets service account `name` read /metrics.
  void Allow(const std::string& name) const {
    const auto rbac = kubernetes::Clientset(client_).RbacV1();
    api::rbac::v1::ClusterRole role;
    role.metadata.name = namespace_;
    auto& rule = role.rules.emplace_back();
    rule.verbs = {"get"};
    rule.non_resource_urls = {"/metrics"};
    const auto role_made = rbac.ClusterRoles().Create(role);
    ASSERT_TRUE(role_made) << role_made.error().ToString();
    api::rbac::v1::ClusterRoleBinding binding;
    binding.metadata.name = namespace_;
    auto& subject = binding.subjects.emplace_back();
    subject.kind = "ServiceAccount";
    subject.name = name;
    subject.namespace_ = namespace_;
    binding.role_ref = {
        .api_group = "rbac.authorization.k8s.io", .kind = "ClusterRole", .name = namespace_};
    const auto bound = rbac.ClusterRoleBindings().Create(binding);
    ASSERT_TRUE(bound) << bound.error().ToString();
  }

  std::string Get(const std::string& token) const {
    using Context = std::unique_ptr<SSL_CTX, decltype([](SSL_CTX* c) { SSL_CTX_free(c); })>;
    using Chain = std::unique_ptr<BIO, decltype([](BIO* b) { BIO_free_all(b); })>;
    const Context context(SSL_CTX_new(TLS_client_method()));
    const Chain bio(BIO_new_ssl_connect(context.get()));
    BIO_set_conn_hostname(bio.get(), ("127.0.0.1:" + std::to_string(server_->port())).c_str());
    std::string request = "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";
    if (!token.empty()) {
      request += "Authorization: Bearer " + token + "\r\n";
    }
    request += "\r\n";
    EXPECT_GT(BIO_write(bio.get(), request.data(), static_cast<int>(request.size())), 0);
    std::string answer;
    std::array<char, 4096> buffer{};
    int size = 0;
    while ((size = BIO_read(bio.get(), buffer.data(), buffer.size())) > 0) {
      answer.append(buffer.data(), static_cast<std::size_t>(size));
    }
    return answer;
  }

  metrics::Registry registry_;
  std::unique_ptr<authfilter::AuthFilter> filter_;
  std::unique_ptr<metrics::HttpServer> server_;
};

TEST_F(AuthFilterIntegrationTest, OnlyThoseWithTheRoleReadMetrics) {
  const std::string reader = MakeToken("reader");
  const std::string stranger = MakeToken("stranger");
  ASSERT_FALSE(reader.empty());
  Allow("reader");
  // The authorizer of the API server takes a moment to notice the role; a denial is kept for 30 s.
  ASSERT_TRUE(Await([&] { return Get(reader).starts_with("HTTP/1.1 200 "); }));
  EXPECT_THAT(Get(reader), HasSubstr("things_total 1\n"));
  EXPECT_THAT(Get(stranger), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(Get(stranger), HasSubstr("system:serviceaccount:" + namespace_ + ":stranger"));
  EXPECT_THAT(Get("nonsense"), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(Get(""), StartsWith("HTTP/1.1 401 "));
}

}  // namespace
}  // namespace kubexx::integration
