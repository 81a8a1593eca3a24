/// @file
/// An API server in the test's own process.
#ifndef KUBEXX_APISERVER_SERVER_TESTING_API_SERVER_H_
#define KUBEXX_APISERVER_SERVER_TESTING_API_SERVER_H_

#include <memory>
#include <string>

#include "kubexx/apiserver/server/api_server.h"
#include "kubexx/apiserver/storage/storage.h"

namespace kubexx::testing {

/// Serves an empty cluster over plain HTTP on a free port of the loopback address, from memory, as
/// soon as it is made; aborts when that fails. No controllers run in it.
///
///     kubexx::testing::ApiServer server;
///     auto client = rest::NewForConfig({.host = server.url()});
class ApiServer {
 public:
  /// `options` for other than these settings; its address counts.
  explicit ApiServer(apiserver::ApiServerOptions options = {.plain_http = true});
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  std::string url() const { return server_->url(); }
  /// Of an administrator.
  std::string kubeconfig() const { return server_->kubeconfig(); }
  apiserver::storage::Storage& storage() { return server_->storage(); }
  apiserver::ApiServer& server() { return *server_; }

 private:
  std::unique_ptr<apiserver::ApiServer> server_;
};

}  // namespace kubexx::testing

#endif  // KUBEXX_APISERVER_SERVER_TESTING_API_SERVER_H_
