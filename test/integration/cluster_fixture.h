/// @file
/// What tests against a real API server share: a client of it, a namespace of their own, and its
/// restarts.
#ifndef KUBEXX_TEST_INTEGRATION_CLUSTER_FIXTURE_H_
#define KUBEXX_TEST_INTEGRATION_CLUSTER_FIXTURE_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/kubernetes/clientset.gen.h"
#include "kubexx/kubernetes/core_v1.gen.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::integration {

using api::core::v1::ConfigMap;

/// Whether it comes true. What a test has made in the cluster goes with the test, so that a wait in
/// vain is a failure and no abort.
inline bool Await(const std::function<bool()>& condition) {
  return base::testing::HoldsSoon(condition, std::chrono::milliseconds(20));
}

/// How many times longer than usual all takes on this machine (KUBEXX_PATIENCE): for times that a
/// test gives to the code under test, such as that of a Lease.
inline int Slowness() {
  return std::max(1, static_cast<int>(base::testing::Patience::Limit() / std::chrono::minutes(1)));
}

/// Needs KUBEXX_TEST_KUBECONFIG; for restarts KUBEXX_CLUSTER (the script hack/cluster) and
/// KUBEXX_CLUSTER_NAME.
class ClusterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* path = std::getenv("KUBEXX_TEST_KUBECONFIG");
    if (path == nullptr) {
      FAIL() << "KUBEXX_TEST_KUBECONFIG is not set; run these tests with: hack/test --integration";
    }
    auto config = rest::LoadKubeconfig({.path = path});
    ASSERT_TRUE(config.has_value()) << config.error().ToString();
    config->qps = -1;
    auto client = rest::RESTClient::New(*config);
    ASSERT_TRUE(client.has_value()) << client.error().ToString();
    client_ = *client;
    namespace_ =
        "it-" + std::to_string(getpid()) + "-" +
        std::to_string(std::chrono::steady_clock::now().time_since_epoch().count() % 1000000);
    api::core::v1::Namespace object;
    object.metadata.name = namespace_;
    const auto created = kubernetes::Clientset(client_).CoreV1().Namespaces().Create(object);
    ASSERT_TRUE(created.has_value()) << created.error().ToString();
  }

  void TearDown() override {
    if (client_) {
      (void)kubernetes::Clientset(client_).CoreV1().Namespaces().Delete(namespace_);
    }
  }

  kubernetes::ResourceClient<ConfigMap> ConfigMaps() const {
    return kubernetes::Clientset(client_).CoreV1().ConfigMaps(namespace_);
  }

  ConfigMap MakeConfigMap(const std::string& name, const std::string& value) const {
    ConfigMap object;
    object.metadata.name = name;
    object.metadata.namespace_ = namespace_;
    object.data["value"] = value;
    return object;
  }

  void Create(const std::string& name, const std::string& value) const {
    const auto result = ConfigMaps().Create(MakeConfigMap(name, value));
    ASSERT_TRUE(result.has_value()) << result.error().ToString();
  }
  void Update(const std::string& name, const std::string& value) const {
    const auto result = ConfigMaps().Update(MakeConfigMap(name, value));
    ASSERT_TRUE(result.has_value()) << result.error().ToString();
  }

  /// Name and value of every ConfigMap, as a LIST gives them.
  std::map<std::string, std::string> Listed() const {
    std::map<std::string, std::string> out;
    const auto list = ConfigMaps().List();
    if (!list.has_value()) {
      ADD_FAILURE() << list.error().ToString();
      return out;
    }
    for (const ConfigMap& object : list->items) {
      out[object.metadata.name] = object.data.contains("value") ? object.data.at("value") : "";
    }
    return out;
  }

  static bool CanRestartApiServer() { return std::getenv("KUBEXX_CLUSTER") != nullptr; }
  static void KillApiServer() { RunClusterCommand("kill-apiserver"); }
  /// Makes etcd forget its history; the API server's own memory of it ends with a restart.
  static void CompactHistory() { RunClusterCommand("compact"); }
  /// Keeps what etcd has, and gives it back, which kills the API server: as of a restored backup.
  static void SaveData() { RunClusterCommand("save-data"); }
  static void RestoreData() { RunClusterCommand("restore-data"); }
  static void StartApiServer() { RunClusterCommand("start-apiserver"); }

  std::shared_ptr<rest::RESTClient> client_;
  std::string namespace_;

 private:
  static void RunClusterCommand(const std::string& command) {
    // The script takes the cluster's name from KUBEXX_CLUSTER_NAME.
    const std::string line = "'" + std::string(std::getenv("KUBEXX_CLUSTER")) + "' " + command;
    ASSERT_EQ(std::system(line.c_str()), 0) << line;
  }
};

}  // namespace kubexx::integration

#endif  // KUBEXX_TEST_INTEGRATION_CLUSTER_FIXTURE_H_
