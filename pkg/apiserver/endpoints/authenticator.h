/// @file
/// Who sends a request.
#ifndef KUBEXX_APISERVER_ENDPOINTS_AUTHENTICATOR_H_
#define KUBEXX_APISERVER_ENDPOINTS_AUTHENTICATOR_H_

#include <optional>
#include <string>
#include <vector>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {

/// As authentication.k8s.io UserInfo.
struct User {
  std::string name{};
  std::vector<std::string> groups{};
};

/// Lets in who has the bearer token (as an administrator) or a client certificate that the server
/// has verified (as its subject). Without a token everybody is the administrator: for a server that
/// only listens on the loopback address. Immutable, thread-safe.
class Authenticator {
 public:
  explicit Authenticator(apimachinery::Bytes token) : token_(std::move(token)) {}
  /// Nothing: 401.
  std::optional<User> Authenticate(const http::Request& request) const;

 private:
  apimachinery::Bytes token_;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_AUTHENTICATOR_H_
