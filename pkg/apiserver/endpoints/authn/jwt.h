/// @file
/// JSON Web Tokens, signed with a key that only the server has.
#ifndef KUBEXX_APISERVER_ENDPOINTS_AUTHN_JWT_H_
#define KUBEXX_APISERVER_ENDPOINTS_AUTHN_JWT_H_

#include <optional>
#include <string>
#include <string_view>

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Base64 with the alphabet for URLs, without padding.
std::string ToBase64Url(std::string_view bytes);
/// Nothing for what is none.
std::optional<std::string> FromBase64Url(std::string_view text);

/// `claims` as a compact JWS (RFC 7515) with HMAC-SHA256 (HS256).
std::string SignJwt(const codec::JsonTree& claims, std::string_view key);

/// The claims of a token that SignJwt made with this key; nothing for any other bytes. When they
/// are valid is for the caller to say.
std::optional<codec::JsonTree> VerifyJwt(std::string_view token, std::string_view key);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_AUTHN_JWT_H_
