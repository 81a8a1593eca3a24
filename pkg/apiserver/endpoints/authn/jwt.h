/// @file
/// JSON Web Tokens that are signed with a key which only the server has.
#ifndef KUBEXX_APISERVER_ENDPOINTS_AUTHN_JWT_H_
#define KUBEXX_APISERVER_ENDPOINTS_AUTHN_JWT_H_

#include <optional>
#include <string>
#include <string_view>

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Encodes in base64 with the alphabet for URLs, without padding.
std::string ToBase64Url(std::string_view bytes);
/// Decodes ToBase64Url; std::nullopt for an invalid text.
std::optional<std::string> FromBase64Url(std::string_view text);

/// Signs `claims` as a compact JWS (RFC 7515) with HMAC-SHA256 (HS256).
std::string SignJwt(const codec::JsonTree& claims, std::string_view key);

/// Returns the claims of a token that SignJwt made with this key, and std::nullopt for any other
/// text. The caller must check whether the claims are valid now.
std::optional<codec::JsonTree> VerifyJwt(std::string_view token, std::string_view key);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_AUTHN_JWT_H_
