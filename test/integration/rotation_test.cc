#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "cluster_fixture.h"
#include "kubexx/api/authentication/v1/schema.gen.h"
#include "kubexx/api/authentication/v1/types.gen.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/base/testing/temporary_folder.h"
#include "kubexx/codec/codec.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/rest/testing/certificates.h"
#include "kubexx/rest/testing/client.h"

namespace kubexx::integration {
namespace {

using apimachinery::ListOptions;
using apimachinery::ResourceInfo;
using apimachinery::Result;
using base::testing::TemporaryFolder;
using kubernetes::ResourceClient;
using rest::testing::CertificateAndKey;
using rest::testing::CertificateAuthority;
using std::chrono::seconds;

constexpr ResourceInfo kRoleBindings{"rbac.authorization.k8s.io", "v1", "RoleBinding",
                                     "rolebindings", true};
constexpr ResourceInfo kServiceAccounts{"", "v1", "ServiceAccount", "serviceaccounts", true};

std::string ReadWhole(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Watches ConfigMaps for as long as it lives; a watch that ends begins again where it was.
class Watcher {
 public:
  Watcher(std::shared_ptr<rest::RESTClient> client, std::string namespace_, ListOptions options)
      : client_(std::move(client), std::move(namespace_)),
        options_(std::move(options)),
        thread_([this](const std::stop_token& stop) { Loop(stop); }) {}

  bool Saw(const std::string& name) const {
    const std::lock_guard lock(mu_);
    return names_.contains(name);
  }

 private:
  void Loop(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const auto ended = client_.Watch(
          options_,
          [this](kubernetes::WatchEvent<ConfigMap>&& event) -> Result<void> {
            options_.resource_version = event.object.metadata.resource_version;
            const std::lock_guard lock(mu_);
            names_.insert(event.object.metadata.name);
            return {};
          },
          stop);
      if (!ended) {
        base::Clock::Real().SleepFor(std::chrono::milliseconds(50), stop);
      }
    }
  }

  ResourceClient<ConfigMap> client_;
  ListOptions options_;
  mutable std::mutex mu_;
  std::set<std::string> names_;
  std::jthread thread_;
};

class RotationTest : public ClusterTest {
 protected:
  void SetUp() override {
    ClusterTest::SetUp();
    if (client_) {
      config_ = client_->config();
      pki_ = std::filesystem::path(config_.tls.ca_file).parent_path();
      config_.tls = {.ca_file = config_.tls.ca_file};
    }
  }

  void Post(const ResourceInfo& resource, const std::string& json) const {
    const auto made = client_->Post()
                          .Resource(resource)
                          .Namespace(namespace_)
                          .Body(codec::Encoding::kJson, json)
                          .Do();
    ASSERT_TRUE(made) << made.error().ToString();
  }
  // Lets `subject` (JSON) do everything in the namespace.
  void Bind(const std::string& subject) const {
    Post(kRoleBindings,
         R"({"metadata":{"name":"rotating"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",)"
         R"("kind":"ClusterRole","name":"cluster-admin"},"subjects":[)" +
             subject + "]}");
  }
  std::shared_ptr<rest::RESTClient> Connect(const rest::Config& config) {
    auto client = rest::RESTClient::New(config, {.clock = clock_,
                                                 .connect_timeout = {},
                                                 .response_timeout = {},
                                                 .idle_timeout = {},
                                                 .body_timeout = {}});
    EXPECT_TRUE(client) << client.error().ToString();
    return *client;
  }
  int Code(rest::RESTClient& client) const {
    const auto got = client.Get().Resource(api::ResourceOf<ConfigMap>()).Namespace(namespace_).Do();
    return got ? got->code : got.error().code;
  }
  std::string NewToken() const {
    const auto made = client_->Post()
                          .Resource(kServiceAccounts)
                          .Namespace(namespace_)
                          .Name("robot")
                          .SubResource("token")
                          .Body(codec::Encoding::kJson, R"({"spec":{"expirationSeconds":600}})")
                          .Do();
    EXPECT_TRUE(made) << made.error().ToString();
    const auto token = codec::DecodeJson<api::authentication::v1::TokenRequest>(made->body);
    EXPECT_TRUE(token) << token.error().ToString();
    return token->status.token;
  }

  const TemporaryFolder dir_;
  base::testing::FakeClock clock_;  // of the client under test
  rest::Config config_;             // without credentials
  std::filesystem::path pki_;
};

TEST_F(RotationTest, AWatchGoesOnWithANewClientCertificate) {
  Bind(R"({"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"rotating"})");
  const CertificateAuthority authority(CertificateAndKey{.certificate = ReadWhole(pki_ / "ca.crt"),
                                                         .key = ReadWhole(pki_ / "ca.key")});
  // The authorizer knows of the binding before the seconds of the first certificate begin.
  const auto lasting = authority.Issue({.common_name = "rotating"});
  rest::Config known = config_;
  known.tls.cert_data = lasting.certificate;
  known.tls.key_data = lasting.key;
  const auto known_client = Connect(known);
  ASSERT_TRUE(Await([&] { return Code(*known_client) == 200; }));
  const auto first =
      authority.Issue({.common_name = "rotating", .not_after = seconds(8) * Slowness()});
  rest::Config config = config_;
  config.tls.cert_file = dir_.Write("client.crt", first.certificate);
  config.tls.key_file = dir_.Write("client.key", first.key);
  const auto client = Connect(config);
  rest::Config old = config_;
  old.tls.cert_data = first.certificate;
  old.tls.key_data = first.key;
  const auto old_client = Connect(old);
  Watcher watcher(client, namespace_, {});
  Create("before", "1");
  ASSERT_TRUE(Await([&] { return watcher.Saw("before"); }));
  ASSERT_TRUE(Await([&] { return Code(*old_client) == 401; })) << "it should have expired";

  const auto second = authority.Issue({.common_name = "rotating"});
  dir_.Write("client.crt", second.certificate);
  dir_.Write("client.key", second.key);
  clock_.AdvanceToSleeper(seconds(60));
  Create("after", "1");
  EXPECT_TRUE(Await([&] { return watcher.Saw("after"); }));
  EXPECT_EQ(Code(*client), 200);
  EXPECT_EQ(Code(*old_client), 401);
}

TEST_F(RotationTest, WatchesGoOnWithANewToken) {
  Bind(R"({"kind":"ServiceAccount","name":"robot","namespace":")" + namespace_ + "\"}");
  const std::string account = R"({"metadata":{"name":"robot"}})";
  Post(kServiceAccounts, account);
  const std::string first = NewToken();
  rest::Config config = config_;
  config.bearer_token_file = dir_.Write("token", first);
  const auto client = Connect(config);
  rest::Config old = config_;
  old.bearer_token = first;
  const auto old_client = Connect(old);
  // The server ends each watch after a second, so that credentials are needed again.
  Watcher watcher(client, namespace_, {.timeout = seconds(1)});
  Create("before", "1");
  ASSERT_TRUE(Await([&] { return watcher.Saw("before"); }));

  ASSERT_TRUE(
      client_->Delete().Resource(kServiceAccounts).Namespace(namespace_).Name("robot").Do());
  ASSERT_TRUE(Await([&] { return Code(*old_client) == 401; }));
  Post(kServiceAccounts, account);
  dir_.Write("token", NewToken());
  clock_.Advance(seconds(5));
  Create("after", "1");
  EXPECT_TRUE(Await([&] { return watcher.Saw("after"); }));
  EXPECT_EQ(Code(*client), 200);
  EXPECT_EQ(Code(*old_client), 401);
}

}  // namespace
}  // namespace kubexx::integration
