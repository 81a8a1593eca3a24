/// @file
/// An API server in the test's own process, with faults on demand.
#ifndef KUBEXX_APISERVER_SERVER_TESTING_API_SERVER_H_
#define KUBEXX_APISERVER_SERVER_TESTING_API_SERVER_H_

#include <memory>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/server/api_server.h"
#include "kubexx/apiserver/server/testing/request_match.h"
#include "kubexx/apiserver/storage/storage.h"

namespace kubexx::testing {

/// Serves an empty cluster from memory, over plain HTTP on a free port of the loopback address. The
/// constructor starts it, and aborts the process when that fails. No controllers run in it.
/// Thread-safe.
///
///     kubexx::testing::ApiServer server;
///     auto client = rest::RESTClient::New({.host = server.url()});
class ApiServer {
 public:
  /// `options` are the settings of the server, including its address. Injected faults come before
  /// `options.around`.
  explicit ApiServer(apiserver::ApiServerOptions options = {.plain_http = true});
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  std::string url() const { return server_->url(); }
  /// A kubeconfig of an administrator.
  std::string kubeconfig() const { return server_->kubeconfig(); }
  apiserver::storage::Storage& storage() { return server_->storage(); }
  apiserver::ApiServer& server() { return *server_; }

  /// The next `times` matching requests fail with this error, for example a conflict or a 503, and
  /// have no effect. When several faults match a request, the oldest counts. An error with code 0
  /// gets the code of its reason.
  void FailRequests(RequestMatch which, apimachinery::Status status, int times = 1);
  /// How many of the requests that FailRequests has to fail have not come yet.
  int FailuresLeft() const;
  /// Ends the matching open watches, as a server does that closes its connections. Their clients
  /// connect again and miss no events. Returns how many there were.
  int BreakWatches(const RequestMatch& which = {});
  /// How many matching requests have come, including those that failed. A watch counts from the
  /// moment at which BreakWatches can end it.
  int Count(const RequestMatch& which) const;

 private:
  class Faults;

  const std::shared_ptr<Faults> faults_;
  std::unique_ptr<apiserver::ApiServer> server_;
};

}  // namespace kubexx::testing

#endif  // KUBEXX_APISERVER_SERVER_TESTING_API_SERVER_H_
