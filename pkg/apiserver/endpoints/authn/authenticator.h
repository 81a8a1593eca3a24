/// @file
/// Finds out which user sends a request.
#ifndef KUBEXX_APISERVER_ENDPOINTS_AUTHN_AUTHENTICATOR_H_
#define KUBEXX_APISERVER_ENDPOINTS_AUTHN_AUTHENTICATOR_H_

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/authn/service_account_tokens.h"
#include "kubexx/apiserver/endpoints/authn/token_file.h"
#include "kubexx/apiserver/rbac/user.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {

/// Accepts a request with the administrator's bearer token, with the token of another user or of a
/// service account, or with a client certificate that the server has verified (the user is its
/// subject). When the server has neither an administrator's token nor tokens of others, a request
/// without credentials comes from the administrator; that is meant for a server that only listens
/// on the loopback address. Invalid credentials are refused there, too. Immutable, thread-safe.
class Authenticator {
 public:
  /// `accounts` must outlive it.
  Authenticator(apimachinery::Bytes token, std::vector<UserToken> others,
                const ServiceAccountTokens& accounts)
      : token_(std::move(token)), others_(std::move(others)), accounts_(accounts) {}

  /// The user that sends the request; std::nullopt means that the answer is 401. Returns the
  /// store's error when it cannot say whether the token of a service account is still valid.
  apimachinery::Result<std::optional<User>> Authenticate(const http::Request& request) const;

  /// The name of the sender if Authenticate would accept it. Unlike Authenticate it does not check
  /// whether the account of a token and the object that the token is bound to still exist. So it
  /// reads no storage and never blocks.
  std::optional<std::string> Admits(const http::Request& request) const;

  /// Whether requests need no credentials; see the class.
  bool is_open() const { return token_.empty() && others_.empty(); }

  /// The owner of a bearer token, if the token is for one of `audiences`. Tokens of users are for
  /// the audience of the API. Returns errors as Authenticate.
  apimachinery::Result<std::optional<TokenOwner>> FindToken(
      std::string_view token, const std::vector<std::string>& audiences,
      const std::stop_token& stop) const;

 private:
  /// The user of one of the server's own tokens.
  std::optional<User> FindUser(std::string_view token) const;

  apimachinery::Bytes token_;
  std::vector<UserToken> others_;
  const ServiceAccountTokens& accounts_;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_AUTHN_AUTHENTICATOR_H_
