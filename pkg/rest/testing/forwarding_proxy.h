/// @file
/// ForwardingProxy: an HTTP proxy in the test's process that really forwards.
#ifndef KUBEXX_REST_TESTING_FORWARDING_PROXY_H_
#define KUBEXX_REST_TESTING_FORWARDING_PROXY_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::rest::testing {

/// Listens on 127.0.0.1. CONNECT opens a tunnel, in which the proxy sees only bytes. It forwards
/// requests such as "GET http://..." to the host in the URL, one request per connection.
/// Thread-safe.
class ForwardingProxy {
 public:
  /// Maps "host:port" in requests to the port of 127.0.0.1 that it stands for. Others get 502.
  using Routes = std::map<std::string, int>;

  /// When `credentials` ("user:password") is set, requests without them get 407.
  explicit ForwardingProxy(Routes routes, std::string credentials = {});
  ForwardingProxy(const ForwardingProxy&) = delete;
  ForwardingProxy& operator=(const ForwardingProxy&) = delete;
  ~ForwardingProxy() = default;

  /// "http://127.0.0.1:port", with user and password when there are credentials.
  std::string Url() const;
  std::string UrlWithoutUser() const { return server_.Url(); }

  /// The requests so far, in order, as "CONNECT host:port" or "GET http://host:port/path".
  std::vector<std::string> requests() const;
  /// Breaks all tunnels that are open now.
  void DropConnections() { server_.DropConnections(); }

 private:
  void Serve(FakeConnection& connection);

  const Routes routes_;
  const std::string credentials_;
  mutable base::Mutex mu_;
  std::vector<std::string> requests_ KX_GUARDED_BY(mu_);
  FakeServer server_;
};

}  // namespace kubexx::rest::testing

#endif  // KUBEXX_REST_TESTING_FORWARDING_PROXY_H_
