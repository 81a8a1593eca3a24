/// @file
/// How to reach an API server and who to be there.
#ifndef KUBEXX_REST_CONFIG_H_
#define KUBEXX_REST_CONFIG_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::rest {

class RoundTripper;

/// TLS material: file paths or inline PEM; the inline data wins. Empty means none. Files are read
/// again at most once a minute when requests are made; a bad file leaves the last good one in use.
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

/// Whom to act as, instead of the one the credentials belong to. Needs the right to impersonate.
/// Semantics: Kubernetes' user impersonation, headers Impersonate-*.
struct ImpersonationConfig {
  std::string user{};  ///< must be set when any of the others is
  std::string uid{};
  std::vector<std::string> groups{};
  std::map<std::string, std::vector<std::string>> extra{};
  bool operator==(const ImpersonationConfig&) const = default;
};

/// Whether a credential plugin may ask its user on the terminal.
enum class ExecInteractive : std::uint8_t { kNever, kIfAvailable, kAlways };

/// A program that prints credentials: a kubeconfig's `exec`, client.authentication.k8s.io/v1 or
/// v1beta1. It runs without a shell, its standard error is ours. What it prints is kept until it
/// expires; a request that was refused with 401 makes it run again (once in 5 s at most) and is
/// sent once more.
struct ExecConfig {
  /// "client.authentication.k8s.io/v1" or ".../v1beta1".
  std::string api_version{};
  /// A path, or a name that is looked up in PATH.
  std::string command{};
  std::vector<std::string> args{};
  std::vector<std::pair<std::string, std::string>> env{};  ///< beside our own environment
  std::string install_hint{};                              ///< shown when the command is missing
  /// Tells the program the cluster's address and CA in KUBERNETES_EXEC_INFO.
  bool provide_cluster_info = false;
  /// JSON for the program: the cluster's extension named client.authentication.k8s.io/exec.
  std::string cluster_extension{};
  ExecInteractive interactive = ExecInteractive::kIfAvailable;
  /// How long it may run when it cannot ask a user; then it is killed.
  std::chrono::seconds timeout{60};
  bool operator==(const ExecConfig&) const = default;
};

/// As client-go's rest.Config. A value type; holds credentials: never log it.
struct Config {
  /// "https://host:port[/prefix]"; an IPv6 address is in brackets.
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
  /// Of a request and its response, retries and body included; zero means the limits of
  /// RESTClient::Options. Of a Stream what its sinks take does not count. Not of watches, of logs
  /// that are followed and of commands in containers, which end when there is no more; of the lists
  /// of reflectors, which may be huge, until the head of the response (see
  /// cache::ListWatchOptions::list_timeout). As client-go's Config.Timeout, which cuts those too.
  std::chrono::seconds timeout{0};
  /// Client-side rate limit in requests per second; negative switches it off, 0 means the default 5
  /// (burst 10), or none where controller::Manager::New makes the client.
  double qps = 0;
  int burst = 0;
  ImpersonationConfig impersonate{};
  /// "http://host:port" or "http://user:password@host:port"; empty means the environment's
  /// HTTPS_PROXY (HTTP_PROXY for an http server) unless NO_PROXY names the server. Proxies that
  /// speak https or socks5 are refused.
  std::string proxy_url{};
  /// Used when there is neither a token, a username nor a client certificate.
  std::optional<ExecConfig> exec{};
  /// Asks for no gzip, which is the default. Set it to false where the network is slow: large
  /// responses to GET then come packed, at the cost of the server's time and ours.
  bool disable_compression = true;
  /// Carries the requests of RESTClients, watches included, in place of the network; then `host`
  /// only names the server, and `tls` and `proxy_url` have no effect. Not the streams of
  /// remotecommand. Null: the network. As client-go's Config.Transport.
  std::shared_ptr<RoundTripper> round_tripper{};
};

/// Which kubeconfig, which of its parts, and what to use instead of what it says; empty means what
/// the file says. Semantics: client-go clientcmd ConfigOverrides.
struct KubeconfigOptions {
  /// Explicit path (--kubeconfig); when empty, $KUBECONFIG (a list of files separated by ":", of
  /// which the first that has an entry wins), then ~/.kube/config.
  std::string path{};
  std::string context{};
  std::string cluster{};     ///< name of a cluster entry, instead of the context's
  std::string user{};        ///< name of a user entry, instead of the context's
  std::string namespace_{};  ///< instead of the context's
  /// URL, instead of the cluster's; the cluster's tls-server-name then does not count either.
  std::string server{};
  std::chrono::seconds timeout{0};
};

/// Reads a kubeconfig. kInvalidConfig names file, field and reason.
apimachinery::Result<Config> LoadKubeconfig(const KubeconfigOptions& options = {});

/// Environment KUBERNETES_SERVICE_HOST/PORT and the service account's mount. kInvalidConfig outside
/// a pod.
apimachinery::Result<Config> InClusterConfig();

/// LoadKubeconfig when a path or a server is given or a default file exists, otherwise
/// InClusterConfig.
apimachinery::Result<Config> LoadConfig(const KubeconfigOptions& options = {});

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_CONFIG_H_
