/// @file
/// What a connection that RESTClient does not make itself needs, for example a WebSocket.
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

/// Where to connect to and who to be there. Holds credentials: never log it.
struct StreamAccess {
  ServerUrl server{};
  std::optional<Proxy> proxy{};
  TlsConfig tls{};  ///< for TlsSetup::New
  std::vector<std::pair<std::string, std::string>>
      headers{};                  ///< of the request, Authorization included
  std::uint64_t credential = 0;   ///< generation of the client's
  std::uint64_t certificate = 0;  ///< the same of the client certificate
};

/// Gives other connections what a client's own ones have. Thread-safe, as the client is.
struct ClientAccess {
  /// The client's server, proxy and current credentials, which are shared: a token file or a
  /// credential plugin is asked as if for a request of the client's.
  static apimachinery::Result<StreamAccess> For(RESTClient& client, const std::stop_token& stop);

  /// After the server has answered 401 to `refused`: whether For gives something else now, so that
  /// trying once more makes sense.
  static bool Renew(RESTClient& client, const StreamAccess& refused);
};

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_STREAM_ACCESS_H_
