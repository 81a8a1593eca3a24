#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "etcd_process.h"
#include "kubexx/apiserver/storage/etcd3/etcd3.h"
#include "kubexx/apiserver/storage/testing/conformance.h"
#include "kubexx/apiserver/storage/testing/watch_recorder.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/temporary_folder.h"
#include "kubexx/http/certificate.h"

namespace kubexx::integration {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using apiserver::storage::GuaranteedUpdate;
using apiserver::storage::KeyValue;
using apiserver::storage::Revision;
using apiserver::storage::Storage;
using apiserver::storage::UpdateOptions;
using apiserver::storage::etcd3::Etcd3Options;
using apiserver::storage::etcd3::NewEtcd3Storage;
using apiserver::storage::testing::ConformanceCase;
using apiserver::storage::testing::ConformanceCases;
using apiserver::storage::testing::WatchRecorder;

std::unique_ptr<Storage> MustConnect(Etcd3Options options) {
  auto made = NewEtcd3Storage(std::move(options));
  EXPECT_TRUE(made.has_value()) << made.error().ToString();
  return made ? std::move(*made) : nullptr;
}

class EtcdStorage : public ::testing::Test {
 protected:
  EtcdStorage() {
    Etcd3Options options;
    options.endpoints = {etcd_.endpoint()};
    options.page_size = 3;  // so that lists take several requests
    storage_ = MustConnect(std::move(options));
  }

  EtcdProcess etcd_;
  std::unique_ptr<Storage> storage_;
};

TEST_F(EtcdStorage, Conforms) {
  for (const ConformanceCase& one : ConformanceCases()) {
    SCOPED_TRACE(one.name);
    one.Run(*storage_);
  }
}

/// Counts `key` up until stopped; what was acknowledged last. A refusal by an etcd that is away
/// leaves open whether the number was written: the next one is taken from the store.
int CountUp(Storage& storage, const std::string& key, const std::stop_token& stop) {
  int acknowledged = 0;
  while (!stop.stop_requested()) {
    int next = 0;
    const auto update = [&next](const KeyValue& now) -> Result<std::optional<std::string>> {
      next = now.mod_revision == 0 ? 1 : std::stoi(*now.value) + 1;
      return std::optional<std::string>(std::to_string(next));
    };
    UpdateOptions options;
    options.create_if_missing = true;
    if (GuaranteedUpdate(storage, key, update, std::move(options), {})) {
      EXPECT_GT(next, acknowledged);
      acknowledged = next;
    }
  }
  return acknowledged;
}

TEST_F(EtcdStorage, KillOfEtcdLosesNothingAcknowledged) {
  constexpr int kWriters = 3;
  const auto key = [](int writer) { return "/registry/kill/" + std::to_string(writer); };
  ASSERT_TRUE(storage_->Create("/registry/kill/start", "x", {}).has_value());
  std::vector<int> acknowledged(kWriters);
  {
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([this, writer, &key, &acknowledged](const std::stop_token& stop) {
        acknowledged[static_cast<std::size_t>(writer)] = CountUp(*storage_, key(writer), stop);
      });
    }
    for (int round = 0; round < 2; ++round) {
      const Revision before = storage_->CurrentRevision({}).value_or(0);
      WatchRecorder watch(*storage_, "/registry/kill/", {.from_revision = before});
      watch.Await(50);
      etcd_.Kill();
      EXPECT_EQ(watch.AwaitEnd().reason, Reason::kUnavailable);
      etcd_.Start();
    }
    WatchRecorder watch(*storage_, "/registry/kill/", {.from_revision = 1});
    watch.Await(100);
  }
  for (int writer = 0; writer < kWriters; ++writer) {
    const Result<KeyValue> now = storage_->Get(key(writer), 0, {});
    ASSERT_TRUE(now.has_value()) << now.error().ToString();
    EXPECT_GE(std::stoi(*now->value), acknowledged[static_cast<std::size_t>(writer)]);
  }
}

TEST(EtcdStorageCompaction, TheOldIsForgotten) {
  const EtcdProcess etcd;
  Etcd3Options options;
  options.endpoints = {etcd.endpoint()};
  options.compact_interval = std::chrono::milliseconds(100);
  const auto storage = MustConnect(options);
  const auto other = MustConnect(options);
  const Result<KeyValue> made = storage->Create("/registry/a", "one", {});
  ASSERT_TRUE(made.has_value()) << made.error().ToString();
  ASSERT_TRUE(storage->CompareAndSwap("/registry/a", made->mod_revision, "two", {}).has_value());
  Result<KeyValue> old = made;
  KX_UNTIL(!old) {
    old = storage->Get("/registry/a", made->mod_revision, {});
  }
  EXPECT_EQ(old.error().reason, Reason::kExpired) << old.error().ToString();
  EXPECT_EQ(*storage->Get("/registry/a", 0, {})->value, "two");
}

/// A port of 127.0.0.1 that nobody listens on as long as this lives.
class DeadPort {
 public:
  DeadPort() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket_, any, size), 0);
    EXPECT_EQ(::getsockname(socket_, any, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  DeadPort(const DeadPort&) = delete;
  DeadPort& operator=(const DeadPort&) = delete;
  ~DeadPort() { ::close(socket_); }
  std::string Url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  const int socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int port_ = 0;
};

TEST(EtcdStorageEndpoints, OneThatIsAwayIsPassedOver) {
  const EtcdProcess etcd;
  const DeadPort dead;
  const std::string away = dead.Url();
  Etcd3Options options;
  options.endpoints = {away, etcd.endpoint()};
  const auto storage = MustConnect(std::move(options));
  const Result<KeyValue> made = storage->Create("/registry/a", "x", {});
  EXPECT_TRUE(made.has_value()) << made.error().ToString();

  Etcd3Options only_away;
  only_away.endpoints = {away};
  only_away.request_timeout = std::chrono::milliseconds(200);
  const auto unreachable = MustConnect(std::move(only_away));
  const Result<KeyValue> none = unreachable->Get("/registry/a", 0, {});
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().reason, Reason::kUnavailable) << none.error().ToString();
}

TEST(EtcdStorageTls, BothSidesShowCertificates) {
  const auto pair = http::SelfSigned({"127.0.0.1"});
  ASSERT_TRUE(pair.has_value()) << pair.error().ToString();
  const base::testing::TemporaryFolder folder;
  const std::string certificate = folder.Write("tls.crt", pair->certificate);
  const std::string key = folder.Write("tls.key", pair->key.view());
  const EtcdProcess etcd("https", {"--cert-file=" + certificate, "--key-file=" + key,
                                   "--client-cert-auth=true", "--trusted-ca-file=" + certificate});
  Etcd3Options options;
  options.endpoints = {etcd.endpoint()};
  options.ca_file = certificate;
  options.certificate_file = certificate;
  options.key_file = key;
  const auto storage = MustConnect(options);
  const Result<KeyValue> made = storage->Create("/registry/a", "x", {});
  EXPECT_TRUE(made.has_value()) << made.error().ToString();

  options.certificate_file.clear();
  options.key_file.clear();
  options.request_timeout = std::chrono::seconds(1);
  const auto stranger = MustConnect(options);
  EXPECT_FALSE(stranger->Get("/registry/a", 0, {}).has_value());
}

TEST(EtcdStorageCompatibility, ReadsWhatKubeApiserverStored) {
  const char* cache = std::getenv("KUBEXX_CACHE");
  const char* cluster = std::getenv("KUBEXX_CLUSTER_NAME");
  ASSERT_TRUE(cache != nullptr && cluster != nullptr)
      << "KUBEXX_CACHE or KUBEXX_CLUSTER_NAME is not set; run: hack/test --integration";
  std::ifstream settings(std::string(cache) + "/clusters/" + cluster + "/settings");
  std::string port;
  for (std::string line; std::getline(settings, line);) {
    if (line.starts_with("etcd_port=")) {
      port = line.substr(line.find('=') + 1);
    }
  }
  ASSERT_FALSE(port.empty()) << "no etcd_port in the settings of cluster " << cluster;
  Etcd3Options options;
  options.endpoints = {"http://127.0.0.1:" + port};
  const auto storage = MustConnect(std::move(options));
  const Result<KeyValue> stored = storage->Get("/registry/namespaces/default", 0, {});
  ASSERT_TRUE(stored.has_value()) << stored.error().ToString();
  EXPECT_TRUE(stored->value->starts_with(std::string_view("k8s\0", 4)));
  EXPECT_NE(stored->value->find("Namespace"), std::string::npos);
  EXPECT_GE(storage->Count("/registry/namespaces/", {}).value_or(0), 4);
}

}  // namespace
}  // namespace kubexx::integration
