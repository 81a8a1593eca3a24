/// @file
/// What a connection that RESTClient does not make itself needs: WebSockets.
#ifndef KUBEXX_REST_INTERNAL_STREAM_ACCESS_H_
#define KUBEXX_REST_INTERNAL_STREAM_ACCESS_H_

#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/internal/url.h"

namespace kubexx::rest::internal {

/// Where to connect to and who to be there. Holds credentials: never log it.
struct StreamAccess {
  ServerUrl server{};
  TlsConfig tls{};
  std::vector<std::pair<std::string, std::string>> headers{};
};

/// The access that `config` gives now: token files are read again, a credential plugin runs. No
/// proxy is used; kInvalidConfig when the config demands one.
apimachinery::Result<StreamAccess> AccessFor(const Config& config, base::Clock& clock,
                                             const std::stop_token& stop);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_STREAM_ACCESS_H_
