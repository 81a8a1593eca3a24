/// @file
/// Proxy: an HTTP proxy between a client and a server.
#ifndef KUBEXX_REST_PROXY_H_
#define KUBEXX_REST_PROXY_H_

#include <string>

#include "kubexx/rest/url.h"

namespace kubexx::rest {

/// The address of a proxy, and the credentials for it. Holds a password: never log it.
struct Proxy {
  ServerUrl address{};
  std::string username{};  ///< none when empty
  std::string password{};
};

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_PROXY_H_
