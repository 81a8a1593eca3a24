#include "kubexx/apiserver/endpoints/authn/jwt.h"

#include <openssl/crypto.h>

#include <algorithm>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/codec/base64.h"
#include "kubexx/crypto/secrets.h"
#include "kubexx/crypto/sha.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Bytes;
using codec::JsonTree;

constexpr std::string_view kHeader = R"({"alg":"HS256","typ":"JWT"})";

/// Computes the code that a stranger cannot compute for a token's claims.
Bytes Mac(std::string_view text, std::string_view key) {
  crypto::Sha256Sum mac = crypto::HmacSha256(key, text);
  Bytes bytes(std::string(reinterpret_cast<const char*>(mac.data()), mac.size()));
  OPENSSL_cleanse(mac.data(), mac.size());
  return bytes;
}

}  // namespace

std::string ToBase64Url(std::string_view bytes) {
  std::string text;
  codec::AppendBase64(bytes, text);
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  text.erase(std::ranges::find(text, '='), text.end());
  return text;
}

std::optional<std::string> FromBase64Url(std::string_view text) {
  std::string padded(text);
  std::ranges::replace(padded, '-', '+');
  std::ranges::replace(padded, '_', '/');
  padded.append((4 - padded.size() % 4) % 4, '=');
  std::string bytes;
  const bool good = codec::DecodeBase64(padded, bytes);
  apimachinery::Wipe(padded);
  return good ? std::optional(std::move(bytes)) : std::nullopt;
}

std::string SignJwt(const JsonTree& claims, std::string_view key) {
  const std::string text = ToBase64Url(kHeader) + "." + ToBase64Url(claims.ToJson());
  return text + "." + ToBase64Url(Mac(text, key).view());
}

std::optional<JsonTree> VerifyJwt(std::string_view token, std::string_view key) {
  static const std::string kBegin = ToBase64Url(kHeader) + ".";
  const std::size_t dot = token.rfind('.');
  // A token with another header was made by somebody else, whatever algorithm the header names.
  if (!token.starts_with(kBegin) || dot < kBegin.size()) {
    return std::nullopt;
  }
  const Bytes mac(ToBase64Url(Mac(token.substr(0, dot), key).view()));
  const std::string_view given = token.substr(dot + 1);
  if (!crypto::IsSameSecret(given, mac.view())) {
    return std::nullopt;
  }
  auto json = FromBase64Url(token.substr(kBegin.size(), dot - kBegin.size()));
  auto claims = json ? JsonTree::Parse(*json) : JsonTree();
  if (json) {
    apimachinery::Wipe(*json);
  }
  return claims ? std::optional(std::move(*claims)) : std::nullopt;
}

}  // namespace kubexx::apiserver
