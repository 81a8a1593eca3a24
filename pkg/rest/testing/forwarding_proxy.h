/// @file
/// An HTTP proxy in the test's process that really forwards.
#ifndef KUBEXX_REST_TESTING_FORWARDING_PROXY_H_
#define KUBEXX_REST_TESTING_FORWARDING_PROXY_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::rest::testing {

/// Listens on 127.0.0.1. CONNECT opens a tunnel, of which it sees bytes only; "GET http://..." and
/// the like are passed on to the host that they name, one request a connection. Thread-safe.
class ForwardingProxy {
 public:
  /// "host:port" as requests name it, and the port of 127.0.0.1 that it stands for; what is not
  /// there gets 502.
  using Routes = std::map<std::string, int>;

  /// With `credentials`, "user:password", whoever does not give them gets 407.
  explicit ForwardingProxy(Routes routes, std::string credentials = {});
  ForwardingProxy(const ForwardingProxy&) = delete;
  ForwardingProxy& operator=(const ForwardingProxy&) = delete;
  ~ForwardingProxy() = default;

  /// "http://127.0.0.1:port", with the user when there are credentials.
  std::string Url() const;
  std::string UrlWithoutUser() const { return server_.Url(); }

  /// "CONNECT host:port" or "GET http://host:port/path" of each request, in their order.
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
