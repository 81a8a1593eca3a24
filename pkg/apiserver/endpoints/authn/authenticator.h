/// @file
/// Who sends a request.
#ifndef KUBEXX_APISERVER_ENDPOINTS_AUTHN_AUTHENTICATOR_H_
#define KUBEXX_APISERVER_ENDPOINTS_AUTHN_AUTHENTICATOR_H_

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apiserver/endpoints/authn/service_account_tokens.h"
#include "kubexx/apiserver/endpoints/authn/token_file.h"
#include "kubexx/apiserver/rbac/user.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {

/// Lets in who has the bearer token (as an administrator), one of the other tokens (as the user
/// that it is for), a service account's token, or a client certificate that the server has verified
/// (as its subject). Without any token of the server's own, who shows nothing is the administrator:
/// for a server that only listens on the loopback address. What is shown and is not good is refused
/// there, too. Immutable, thread-safe.
class Authenticator {
 public:
  /// `accounts` must outlive it.
  Authenticator(apimachinery::Bytes token, std::vector<UserToken> others,
                const ServiceAccountTokens& accounts)
      : token_(std::move(token)), others_(std::move(others)), accounts_(accounts) {}

  /// Nothing: 401.
  std::optional<User> Authenticate(const http::Request& request) const;

  /// The name of the sender if Authenticate knows it, but for one thing: it does not look whether
  /// the account of a token, and what the token is bound to, still exist, so it needs no storage
  /// and never blocks.
  std::optional<std::string> Admits(const http::Request& request) const;

  /// Nobody has to show anything; see the class.
  bool is_open() const { return token_.empty() && others_.empty(); }

  /// Whose a bearer token is, if it is for one of `audiences`. Those of users are for the API.
  std::optional<TokenOwner> FindToken(std::string_view token,
                                      const std::vector<std::string>& audiences,
                                      const std::stop_token& stop) const;

 private:
  /// Of the server's own tokens.
  std::optional<User> FindUser(std::string_view token) const;

  apimachinery::Bytes token_;
  std::vector<UserToken> others_;
  const ServiceAccountTokens& accounts_;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_AUTHN_AUTHENTICATOR_H_
