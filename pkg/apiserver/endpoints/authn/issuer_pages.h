/// @file
/// The pages with which others verify the tokens of service accounts.
#ifndef KUBEXX_APISERVER_ENDPOINTS_AUTHN_ISSUER_PAGES_H_
#define KUBEXX_APISERVER_ENDPOINTS_AUTHN_ISSUER_PAGES_H_

#include <optional>
#include <string_view>

#include "kubexx/apiserver/endpoints/authn/service_account_tokens.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {

/// Answers /.well-known/openid-configuration (OpenID Connect Discovery) and /openid/v1/jwks (RFC
/// 7517), as kube-apiserver does; returns std::nullopt for other paths. `url` is that of the
/// server, without a slash at its end. The caller checks the right to read the path.
std::optional<http::Response> ServeIssuer(std::string_view path, std::string_view url,
                                          const ServiceAccountTokens& tokens);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_AUTHN_ISSUER_PAGES_H_
