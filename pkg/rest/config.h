/// @file
/// Config: the address of an API server, and the credentials for it.
#ifndef KUBEXX_REST_CONFIG_H_
#define KUBEXX_REST_CONFIG_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::rest {

class RoundTripper;

/// TLS material: file paths or inline PEM; the inline data takes precedence. Empty means none. The
/// client reads the files again when it makes requests, at most once a minute; when a file is bad,
/// it keeps using the last good one.
struct TlsConfig {
  bool insecure_skip_verify = false;
  /// The name to verify the server's certificate against, instead of the host.
  std::string server_name{};
  std::string ca_file{};
  std::string ca_data{};
  std::string cert_file{};
  std::string cert_data{};
  std::string key_file{};
  std::string key_data{};
};

/// The user to act as, instead of the user of the credentials. That user needs the permission to
/// impersonate. Semantics: Kubernetes' user impersonation, headers Impersonate-*.
struct ImpersonationConfig {
  std::string user{};  ///< must be set when any of the others is
  std::string uid{};
  std::vector<std::string> groups{};
  std::map<std::string, std::vector<std::string>> extra{};
  bool operator==(const ImpersonationConfig&) const = default;
};

/// Whether a credential plugin may ask the user on the terminal.
enum class ExecInteractive : std::uint8_t { kNever, kIfAvailable, kAlways };

/// Which streams (lists, watches and logs) share connections over HTTP/2. Only GETs over TLS do,
/// and only with a server that offers HTTP/2 in the handshake; everything else is HTTP/1.1.
enum class Http2Use : std::uint8_t {
  /// Those that are opened while eight others have connections of their own, which cost less
  /// processor time. So a program with many watches has few connections.
  kManyStreams,
  kAllStreams,
  /// None. The environment's DISABLE_HTTP2 has the same effect for all clients, unless it is empty;
  /// client-go knows it, too.
  kNever
};

/// A credential plugin: a program that prints credentials, as a kubeconfig's `exec`
/// (client.authentication.k8s.io/v1 or v1beta1). The client runs it without a shell; the program
/// shares the standard error of this process. The client keeps the credentials until they expire.
/// After a 401 it runs the program again (at most once in 5 s) and repeats the request once.
struct ExecConfig {
  /// "client.authentication.k8s.io/v1" or ".../v1beta1".
  std::string api_version{};
  /// A path, or a name to look up in PATH.
  std::string command{};
  std::vector<std::string> args{};
  std::vector<std::pair<std::string, std::string>> env{};  ///< added to our environment
  std::string install_hint{};                              ///< shown when the command is missing
  /// Whether to tell the program the cluster's address and CA in KUBERNETES_EXEC_INFO.
  bool provide_cluster_info = false;
  /// JSON for the program: the cluster's extension named client.authentication.k8s.io/exec.
  std::string cluster_extension{};
  ExecInteractive interactive = ExecInteractive::kIfAvailable;
  /// How long the program may run when it cannot ask a user; after that the client kills it.
  std::chrono::seconds timeout{60};
  bool operator==(const ExecConfig&) const = default;
};

/// As client-go's rest.Config. A value type; holds credentials: never log it.
struct Config {
  /// "https://host:port[/prefix]"; an IPv6 address is in brackets.
  std::string host{};
  // Not `tls{}`, which initialises each member in the caller's function. g++ 12 then takes the last
  // of them for uninitialised where an exception unwinds the others (-Wmaybe-uninitialized, -O3).
  TlsConfig tls = TlsConfig();
  std::string bearer_token{};
  /// A file with the token. The client reads it again at most once a minute and prefers it to
  /// bearer_token. When a read fails, it keeps the last good token.
  std::string bearer_token_file{};
  std::string username{};
  std::string password{};
  /// The namespace of the kubeconfig context, or of the service account; "default" when neither
  /// names one.
  std::string namespace_ = "default";
  std::string user_agent{};
  /// The time limit of a request and its response, including retries and body; zero means the
  /// limits of RESTClient::Options. In a Stream, the time that its sinks take does not count. The
  /// limit does not apply to watches, followed logs and commands in containers, which may take as
  /// long as they like. For the lists of reflectors, which may be very large, it applies only until
  /// the head of the response (see cache::ListWatchOptions::list_timeout). Like client-go's
  /// Config.Timeout, which also cuts off the requests that are excepted here.
  std::chrono::seconds timeout{0};
  /// The client-side rate limit in requests per second. A negative value disables it. 0 means the
  /// default of 5 (burst 10), or no limit when controller::Manager::New makes the client.
  double qps = 0;
  int burst = 0;
  ImpersonationConfig impersonate{};
  /// "http://host:port" or "http://user:password@host:port", or the same with https (TLS to the
  /// proxy), socks5 or socks5h (RFC 1928; for both the proxy looks the server's name up, as in Go).
  /// Empty means the proxy in the environment's HTTPS_PROXY (HTTP_PROXY for an http server), unless
  /// NO_PROXY names the server. The certificate of an https proxy is verified with the system's
  /// authorities and those of `tls`, or not at all with tls.insecure_skip_verify; the client
  /// certificate is not for the proxy.
  std::string proxy_url{};
  /// The credential plugin; used when there is no token, username or client certificate.
  std::optional<ExecConfig> exec{};
  /// When true, which is the default, the client does not ask for gzip. Set it to false for a slow
  /// network: the server then compresses large responses to GET, which costs CPU time on both
  /// sides.
  bool disable_compression = true;
  /// Which streams share connections. client-go uses HTTP/2 for all requests.
  Http2Use http2 = Http2Use::kManyStreams;
  /// When set, it carries the requests of RESTClients, including watches, instead of the network;
  /// then `host` only names the server, and `tls` and `proxy_url` have no effect. It does not carry
  /// the streams of remotecommand. Like client-go's Config.Transport.
  std::shared_ptr<RoundTripper> round_tripper{};
  /// Middleware: when set, each RESTClient calls it once, when it is made, with what carries its
  /// requests (the network or `round_tripper`), and sends its requests to what it returns instead.
  /// The returned object sees every attempt, with all headers and credentials, and may change
  /// requests, answer them itself, and measure or count them; it must be thread-safe. With a tracer
  /// each attempt has its span, whose trace is in the header traceparent and, in Start, in
  /// tracing::Current(). A request that it changes into what cannot be sent, such as a header with
  /// a line break, fails with kBadRequest, and one during which it throws with kInternalError. When
  /// the function returns null or throws, New fails with kInvalidConfig. The streams of
  /// remotecommand do not go through it. Like client-go's Config.WrapTransport.
  std::function<std::shared_ptr<RoundTripper>(std::shared_ptr<RoundTripper> inner)>
      wrap_round_tripper{};
};

/// Which kubeconfig and which of its entries to use, and values that replace the file's. Empty
/// fields change nothing. Semantics: client-go clientcmd ConfigOverrides.
struct KubeconfigOptions {
  /// The path of the kubeconfig (--kubeconfig). When empty: $KUBECONFIG (a list of files separated
  /// by ":"; if several files have an entry of the same name, the first file's counts), and
  /// otherwise ~/.kube/config.
  std::string path{};
  std::string context{};
  std::string cluster{};     ///< a cluster entry's name, instead of the context's
  std::string user{};        ///< a user entry's name, instead of the context's
  std::string namespace_{};  ///< instead of the context's
  /// The server's URL, instead of the cluster's. The cluster's tls-server-name is then ignored,
  /// too.
  std::string server{};
  std::chrono::seconds timeout{0};
};

/// Reads a kubeconfig. kInvalidConfig names the file, the field and the reason.
apimachinery::Result<Config> LoadKubeconfig(const KubeconfigOptions& options = {});

/// The Config for a pod, from the environment's KUBERNETES_SERVICE_HOST/PORT and the service
/// account's mount. kInvalidConfig outside of a pod.
apimachinery::Result<Config> InClusterConfig();

/// Calls LoadKubeconfig when a path, server, context, cluster or user is given or a default file
/// exists, and otherwise InClusterConfig.
apimachinery::Result<Config> LoadConfig(const KubeconfigOptions& options = {});

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_CONFIG_H_
