/// @file
/// How to reach an API server and who to be there.
#ifndef KUBEXX_REST_CONFIG_H_
#define KUBEXX_REST_CONFIG_H_

#include <chrono>
#include <string>

#include "kubexx/apimachinery/status.h"

namespace kubexx::rest {

/// TLS material: file paths or inline PEM; the inline data wins. Empty means none.
struct TlsConfig {
  bool insecure_skip_verify = false;
  /// Name to verify the server's certificate against, instead of the host.
  std::string server_name{};
  std::string ca_file{};
  std::string ca_data{};
  std::string cert_file{};
  std::string cert_data{};
  std::string key_file{};
  std::string key_data{};
};

/// As client-go's rest.Config. A value type; holds credentials: never log it.
struct Config {
  /// "https://host:port[/prefix]".
  std::string host{};
  TlsConfig tls{};
  std::string bearer_token{};
  /// Re-read at most once a minute; wins over bearer_token. The last good token is kept when a read
  /// fails.
  std::string bearer_token_file{};
  std::string username{};
  std::string password{};
  /// Namespace of the kubeconfig context, or of the service account; "default" when neither names
  /// one.
  std::string namespace_ = "default";
  std::string user_agent{};
  /// Of a request that is not a watch; zero means none.
  std::chrono::seconds timeout{0};
  /// Client-side rate limit in requests per second; negative switches it off, 0 means the default 5
  /// (burst 10).
  double qps = 0;
  int burst = 0;
};

/// Which kubeconfig, and which of its parts.
struct KubeconfigOptions {
  /// Explicit path (--kubeconfig); when empty, $KUBECONFIG, then ~/.kube/config.
  std::string path{};
  std::string context{};
};

/// Reads a kubeconfig. kInvalidConfig names file, field and reason.
apimachinery::Result<Config> LoadKubeconfig(const KubeconfigOptions& options = {});

/// Environment KUBERNETES_SERVICE_HOST/PORT and the service account's mount. kInvalidConfig outside
/// a pod.
apimachinery::Result<Config> InClusterConfig();

/// LoadKubeconfig when a path is given or a default file exists, otherwise InClusterConfig.
apimachinery::Result<Config> LoadConfig(const KubeconfigOptions& options = {});

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_CONFIG_H_
