/// @file
/// ForwardingProxy: a proxy in the test's process that really forwards.
#ifndef KUBEXX_REST_TESTING_FORWARDING_PROXY_H_
#define KUBEXX_REST_TESTING_FORWARDING_PROXY_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/rest/proxy.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::rest::testing {

/// Listens on 127.0.0.1, and speaks HTTP, HTTP over TLS with a certificate of UsualTls, or SOCKS5.
/// CONNECT opens a tunnel, in which the proxy sees only bytes. It forwards requests such as "GET
/// http://..." to the host in the URL, one request per connection. Thread-safe.
class ForwardingProxy {
 public:
  /// Maps "host:port" in requests to the port of 127.0.0.1 that it stands for. Others get 502.
  using Routes = std::map<std::string, int>;

  /// When `credentials` ("user:password") is set, requests without them are refused, over HTTP with
  /// 407.
  explicit ForwardingProxy(Routes routes, std::string credentials = {},
                           ProxyProtocol protocol = ProxyProtocol::kHttp);
  ForwardingProxy(const ForwardingProxy&) = delete;
  ForwardingProxy& operator=(const ForwardingProxy&) = delete;
  ~ForwardingProxy() = default;

  /// "http://127.0.0.1:port", or with https or socks5, and with user and password when there are
  /// credentials.
  std::string Url() const;
  std::string UrlWithoutUser() const;

  /// The requests so far, in order, as "CONNECT host:port", also with SOCKS5, or "GET
  /// http://host:port/path".
  std::vector<std::string> requests() const;
  /// Breaks all tunnels that are open now.
  void DropConnections() { server_.DropConnections(); }

 private:
  void Serve(FakeConnection& connection);
  void ServeHttp(FakeConnection& connection);
  void ServeSocks(FakeConnection& connection);
  /// Whether a SOCKS5 client has said who it is, if it has to.
  bool LetIn(FakeConnection& connection, std::string& input) const;
  /// The port for "host:port", or 0.
  int PortFor(const std::string& host) const;
  void Note(std::string request);

  const Routes routes_;
  const std::string credentials_;
  const ProxyProtocol protocol_;
  mutable base::Mutex mu_;
  std::vector<std::string> requests_ KX_GUARDED_BY(mu_);
  FakeServer server_;
};

}  // namespace kubexx::rest::testing

#endif  // KUBEXX_REST_TESTING_FORWARDING_PROXY_H_
