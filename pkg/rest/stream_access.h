/// @file
/// ClientAccess: what a connection outside of RESTClient needs, for example a WebSocket.
#ifndef KUBEXX_REST_STREAM_ACCESS_H_
#define KUBEXX_REST_STREAM_ACCESS_H_

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/proxy.h"
#include "kubexx/rest/url.h"

namespace kubexx::rest {

class RESTClient;

/// The address to connect to and the credentials for it. Holds credentials: never log it.
struct StreamAccess {
  ServerUrl server{};
  std::optional<Proxy> proxy{};
  TlsConfig tls{};  ///< for TlsSetup::New
  std::vector<std::pair<std::string, std::string>>
      headers{};                  ///< of the request, including Authorization
  std::uint64_t credential = 0;   ///< generation of the client's credentials
  std::uint64_t certificate = 0;  ///< generation of the client certificate
};

/// Gives other connections the access that a client's own ones have. Thread-safe, as the client is.
struct ClientAccess {
  /// Returns the client's server, proxy and current credentials. The credentials are shared with
  /// the client: it reads a token file or runs a credential plugin as for a request of its own.
  static apimachinery::Result<StreamAccess> For(RESTClient& client, const std::stop_token& stop);

  /// Call it when the server has answered 401 to `refused`. Returns whether For now returns
  /// something else, so that another attempt makes sense.
  static bool Renew(RESTClient& client, const StreamAccess& refused);
};

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_STREAM_ACCESS_H_
