/// @file
/// The key pair that signs the tokens of service accounts.
#ifndef KUBEXX_APISERVER_ENDPOINTS_AUTHN_SIGNING_KEY_H_
#define KUBEXX_APISERVER_ENDPOINTS_AUTHN_SIGNING_KEY_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// A pair of keys for ECDSA with P-256 and SHA-256, which RFC 7518 calls ES256. Others can verify
/// with the public one what the server has signed. Immutable and thread-safe; copies share the
/// keys.
class SigningKey {
 public:
  /// Makes the pair that belongs to a secret seed, always the same. Who knows the seed can sign.
  /// Returns kInternalError when OpenSSL cannot.
  static apimachinery::Result<SigningKey> FromSeed(std::string_view seed);

  /// Signs `claims` as a compact JWS (RFC 7515) that names this key. Returns kInternalError when
  /// OpenSSL cannot.
  apimachinery::Result<std::string> SignJwt(const codec::JsonTree& claims) const;
  /// The claims of a token that SignJwt made with this key; std::nullopt for any other text. The
  /// caller must check whether the claims are valid now.
  std::optional<codec::JsonTree> VerifyJwt(std::string_view token) const;

  /// The public key as a JWK (RFC 7517).
  codec::JsonTree PublicJwk() const;

 private:
  struct Pair;

  explicit SigningKey(std::shared_ptr<const Pair> pair) : pair_(std::move(pair)) {}

  std::shared_ptr<const Pair> pair_;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_AUTHN_SIGNING_KEY_H_
