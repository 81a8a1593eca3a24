/// @file
/// An API server in the test's own process, with faults on demand.
#ifndef KUBEXX_APISERVER_SERVER_TESTING_API_SERVER_H_
#define KUBEXX_APISERVER_SERVER_TESTING_API_SERVER_H_

#include <memory>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/server/api_server.h"
#include "kubexx/apiserver/storage/storage.h"

namespace kubexx::testing {

/// Those requests that are as every member says that is not empty; by default all that are about a
/// resource.
struct RequestMatch {
  /// As in a Role: "get", "list", "watch", "create", "update", "patch", "delete" or
  /// "deletecollection".
  std::string verb{};
  /// The plural, with its subresource if it has one: "configmaps", "deployments/status".
  std::string resource{};
  std::string namespace_{};
  /// As the path has it: a create names none.
  std::string name{};
};

/// Serves an empty cluster over plain HTTP on a free port of the loopback address, from memory, as
/// soon as it is made; aborts when that fails. No controllers run in it. Thread-safe.
///
///     kubexx::testing::ApiServer server;
///     auto client = rest::RESTClient::New({.host = server.url()});
class ApiServer {
 public:
  /// `options` for other than these settings; its address counts. Faults come before its `around`.
  explicit ApiServer(apiserver::ApiServerOptions options = {.plain_http = true});
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  std::string url() const { return server_->url(); }
  /// Of an administrator.
  std::string kubeconfig() const { return server_->kubeconfig(); }
  apiserver::storage::Storage& storage() { return server_->storage(); }
  apiserver::ApiServer& server() { return *server_; }

  /// The next `times` requests of this kind get this error and do nothing else: a conflict, say, or
  /// a 503. Of several faults that match the oldest counts. A code of 0 is that of the reason.
  void FailRequests(RequestMatch which, apimachinery::Status status, int times = 1);
  /// How many requests that FailRequests was told of have not come yet.
  int FailuresLeft() const;
  /// Ends the open watches of this kind as a server does that closes its connections; their clients
  /// come again, and miss nothing. Returns how many there were.
  int BreakWatches(const RequestMatch& which = {});
  /// How many requests of this kind have come, those that failed included. A watch counts from the
  /// moment when BreakWatches can end it.
  int Count(const RequestMatch& which) const;

 private:
  class Faults;

  const std::shared_ptr<Faults> faults_;
  std::unique_ptr<apiserver::ApiServer> server_;
};

}  // namespace kubexx::testing

#endif  // KUBEXX_APISERVER_SERVER_TESTING_API_SERVER_H_
