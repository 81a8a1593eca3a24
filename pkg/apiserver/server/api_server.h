/// @file
/// The API server: its storage, caches, handlers and HTTP server in one process.
#ifndef KUBEXX_APISERVER_SERVER_API_SERVER_H_
#define KUBEXX_APISERVER_SERVER_API_SERVER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/handlers/api.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/subscription.h"
#include "kubexx/http/server.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::apiserver {

/// Settings of an ApiServer.
struct ApiServerOptions {
  /// The server listens here: "host:port". With port 0 the system chooses a free port.
  std::string address = "127.0.0.1:0";
  /// The server speaks plain HTTP instead of TLS.
  bool plain_http = false;
  /// The server's certificate. When it is empty, the server makes one for localhost and the host of
  /// `address`, and makes it anew before it ends.
  http::KeyPair certificate{};
  /// The authority that signs the certificates which the server makes, and that its clients trust.
  /// When it is empty, Start makes one.
  http::KeyPair authority{};
  /// Where each new connection gets the certificate from, when it is replaced while the server
  /// runs; see certwatcher::CertWatcher. Then `certificate` is not used. kubeconfig() has the one
  /// that there was at the start.
  http::CertificateProvider certificate_provider{};
  /// The certificate authorities (PEM) that client certificates are verified with. When it is
  /// empty, the server asks clients for no certificate.
  std::string client_ca{};
  /// The administrator's bearer token. When this and `tokens` are both empty, a client without
  /// credentials is the administrator.
  apimachinery::Bytes token{};
  /// The bearer tokens of other users.
  std::vector<UserToken> tokens{};
  /// The server authorizes each request by Roles and their bindings (RBAC), instead of allowing
  /// all.
  bool rbac = false;
  /// The form in which the storage holds objects.
  StoredForm form = StoredForm::kJson;
  /// Whether objects have metadata.managedFields; see ApiOptions.
  bool managed_fields = true;
  /// Whether the server gives new pods their service account's name, token and imagePullSecrets;
  /// see ApiOptions.
  bool service_accounts = false;
  /// How many past events the server keeps for each resource, so that a watch can begin in the
  /// past.
  std::size_t watch_window = 100'000;
  /// How many requests the server works on at the same time.
  std::size_t threads = 4;
  /// See ApiOptions.
  std::chrono::seconds event_ttl = std::chrono::hours(1);
  /// See ApiOptions.
  bool shared_storage = false;
  /// The address at which others reach the server. It is written to the Endpoints of the Service
  /// default/kubernetes. When it is empty, ReachableAddress chooses one.
  std::string advertise_address{};
  /// See ApiOptions.
  ServiceRanges service_ranges{};
  /// Host names by which clients may address a server without tokens, besides its address and the
  /// machine's name; see CheckHost.
  std::vector<std::string> allowed_hosts{};
  /// The origins of web pages that may use the server without a token, or with the browser's
  /// certificate, such as "https://dashboard.example.com"; see CheckOrigin.
  std::vector<std::string> allowed_origins{};
  /// How many connections the server accepts, watches included. When half of the process's limit of
  /// file descriptors is less, that counts instead.
  std::size_t max_connections = 8192;
  /// Start calls this with the result of kubeconfig() before the server answers any request:
  /// whoever finds the server ready also finds what this function has written. Start returns its
  /// error.
  std::function<apimachinery::Result<void>(const std::string& kubeconfig)> on_listening{};
  /// The server calls this two seconds after the start and then every half minute, on a thread that
  /// other upkeep waits for. It can return freed memory to the system, for example after a thousand
  /// CustomResourceDefinitions were deleted.
  std::function<void()> release_memory{};
  /// For tests of clients: the server hands each request to this function together with `next`,
  /// which answers it. The function may answer the request itself, or change the answer. It must be
  /// thread-safe and must not wait.
  std::function<http::Response(const http::Request& request, const http::Handler& next)> around{};
  base::Clock& clock = base::Clock::Real();
};

/// Serves the objects of a storage. Thread-safe.
class ApiServer {
 public:
  using Options = ApiServerOptions;

  ApiServer(std::unique_ptr<storage::Storage> storage, Options options);
  /// Calls Stop.
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  /// Creates the namespaces, roles and the Service that every cluster has, and begins to serve.
  /// Returns errors of http::Server::Start and of the storage. May be called once only.
  apimachinery::Result<void> Start();

  std::uint16_t port() const;
  /// The URL of the server for clients on this machine, such as "https://127.0.0.1:6443".
  std::string url() const;
  /// A kubeconfig for the administrator. It contains the token, and the text is not wiped from
  /// memory, because callers write it to a file anyway.
  std::string kubeconfig() const;
  /// The certificate (PEM) that clients verify the server with: that of the authority if the server
  /// makes its own, which stays the same for as long as the server runs. Empty when the server
  /// speaks plain HTTP.
  const std::string& authority() const {
    const http::KeyPair& own = options_.authority;
    return own.certificate.empty() ? options_.certificate.certificate : own.certificate;
  }
  storage::Storage& storage() { return *storage_; }
  /// The metrics that the path /metrics serves.
  metrics::Registry& registry() { return registry_; }

  /// Takes no new connections, ends all watches, and waits for up to ten seconds until those have
  /// their answers who have asked for something. Then ends all connections. Returns when the server
  /// works on no request any more.
  void Stop();

 private:
  void Tick(const std::stop_token& stop);
  void Reap(const std::stop_token& stop);
  void LookAfterStore(const std::stop_token& stop);
  apimachinery::Result<void> OnListening();
  apimachinery::Result<void> PrepareCertificate();
  http::Response Serve(const http::Request& request);

  metrics::Registry registry_;
  const std::unique_ptr<storage::Storage> storage_;
  Options options_;
  Api api_;
  base::Subscription process_metrics_;
  base::Subscription watch_metrics_;
  std::unique_ptr<http::Server> http_;
  std::jthread ticker_;
  std::jthread reaper_;
  std::jthread looker_;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_SERVER_API_SERVER_H_
