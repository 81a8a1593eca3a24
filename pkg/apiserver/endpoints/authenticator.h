/// @file
/// Who sends a request.
#ifndef KUBEXX_APISERVER_ENDPOINTS_AUTHENTICATOR_H_
#define KUBEXX_APISERVER_ENDPOINTS_AUTHENTICATOR_H_

#include <optional>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apiserver/endpoints/token_file.h"
#include "kubexx/apiserver/rbac/user.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {

/// Lets in who has the bearer token (as an administrator), one of the other tokens (as the user
/// that it is for) or a client certificate that the server has verified (as its subject). Without
/// an administrator's token, who shows nothing is the administrator: for a server that only
/// listens on the loopback address. Immutable, thread-safe.
class Authenticator {
 public:
  explicit Authenticator(apimachinery::Bytes token, std::vector<UserToken> others = {})
      : token_(std::move(token)), others_(std::move(others)) {}
  /// Nothing: 401.
  std::optional<User> Authenticate(const http::Request& request) const;

 private:
  apimachinery::Bytes token_;
  std::vector<UserToken> others_;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_AUTHENTICATOR_H_
