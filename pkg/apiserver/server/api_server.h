/// @file
/// The API server: storage, caches, handlers and HTTP in one process.
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
  /// "host:port", port 0 for a free one.
  std::string address = "127.0.0.1:0";
  /// Plain HTTP instead of TLS.
  bool plain_http = false;
  /// The server's certificate; empty: a self-signed one for localhost and the address.
  http::KeyPair certificate{};
  /// PEM of the authorities of client certificates; empty: none are asked for.
  std::string client_ca{};
  /// The administrator's bearer token; empty: without `tokens`, who shows nothing is the
  /// administrator.
  apimachinery::Bytes token{};
  /// Tokens of other users.
  std::vector<UserToken> tokens{};
  /// Ask Roles and their bindings whether a request may be made, instead of allowing all.
  bool rbac = false;
  /// How values are stored.
  StoredForm form = StoredForm::kJson;
  /// Whether objects have metadata.managedFields; see ApiOptions.
  bool managed_fields = true;
  /// Whether new pods get what their service accounts have for them; see ApiOptions.
  bool service_accounts = false;
  /// Events that each resource's watches can begin in the past of.
  std::size_t watch_window = 1000;
  /// Requests that are worked on at once.
  std::size_t threads = 4;
  /// See ApiOptions.
  std::chrono::seconds event_ttl = std::chrono::hours(1);
  /// See ApiOptions.
  bool shared_storage = false;
  /// What others reach the server by, for the Endpoints of the Service default/kubernetes; empty:
  /// see ReachableAddress.
  std::string advertise_address{};
  /// See ApiOptions.
  ServiceRanges service_ranges{};
  /// Names besides the address's and the machine's that a server without tokens is asked by; see
  /// CheckHost.
  std::vector<std::string> allowed_hosts{};
  /// Web pages that may use the server without a token, or with the browser's certificate:
  /// "https://dashboard.example.com"; see CheckOrigin.
  std::vector<std::string> allowed_origins{};
  /// Connections, watches included; half of the process's descriptors when that is less.
  std::size_t max_connections = 8192;
  /// Runs in Start with what kubeconfig() gives, before any request is answered: whoever sees the
  /// server ready finds what this has written. Start returns its error.
  std::function<apimachinery::Result<void>(const std::string& kubeconfig)> on_listening{};
  /// Runs soon after the start and every half minute, on a thread that others wait for: the time to
  /// give back to the system what was freed, such as what a thousand definitions took that are
  /// gone.
  std::function<void()> release_memory{};
  /// Stands between clients and the API, for tests of clients: gets each request, and `next`, which
  /// answers it; may answer instead, or change the answer. Must be thread-safe and not wait.
  std::function<http::Response(const http::Request& request, const http::Handler& next)> around{};
  base::Clock& clock = base::Clock::Real();
};

/// Serves what is in a storage. Thread-safe.
class ApiServer {
 public:
  using Options = ApiServerOptions;

  ApiServer(std::unique_ptr<storage::Storage> storage, Options options);
  /// Stops.
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  /// Makes the namespaces, roles and the Service that every cluster has and begins to serve. Errors
  /// of http::Server::Start and of the storage. Once only.
  apimachinery::Result<void> Start();

  std::uint16_t port() const;
  /// "https://127.0.0.1:6443".
  std::string url() const;
  /// A kubeconfig for the administrator. The token in it is not wiped: it is made to be written.
  std::string kubeconfig() const;
  /// PEM of what the server's certificate can be verified with; empty over plain HTTP.
  const std::string& authority() const { return options_.certificate.certificate; }
  storage::Storage& storage() { return *storage_; }
  /// What /metrics tells of.
  metrics::Registry& registry() { return registry_; }

  /// Ends all watches and connections; returns when no request is worked on.
  void Stop();

 private:
  void Tick(const std::stop_token& stop);
  void Reap(const std::stop_token& stop);
  void LookAfterStore(const std::stop_token& stop);
  apimachinery::Result<void> OnListening();
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
