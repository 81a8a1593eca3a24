#include "kubexx/apiserver/endpoints/authn/signing_key.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>
#include <openssl/param_build.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "kubexx/apiserver/endpoints/authn/jwt.h"
#include "kubexx/crypto/sha.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

template <class T, void (*kFree)(T*)>
struct FreeWith {
  void operator()(T* object) const { kFree(object); }
};
template <class T, void (*kFree)(T*)>
using Owned = std::unique_ptr<T, FreeWith<T, kFree>>;

using Number = Owned<BIGNUM, BN_clear_free>;
using Group = Owned<EC_GROUP, EC_GROUP_free>;
using Point = Owned<EC_POINT, EC_POINT_free>;
using KeyPointer = Owned<EVP_PKEY, EVP_PKEY_free>;
using KeyContext = Owned<EVP_PKEY_CTX, EVP_PKEY_CTX_free>;
using DigestContext = Owned<EVP_MD_CTX, EVP_MD_CTX_free>;
using Signature = Owned<ECDSA_SIG, ECDSA_SIG_free>;
using ParameterBuilder = Owned<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free>;
using Parameters = Owned<OSSL_PARAM, OSSL_PARAM_free>;

/// The bytes of a number below the group's order, and of a coordinate of a point.
constexpr std::size_t kNumberBytes = 32;
using PublicPoint = std::array<unsigned char, 1 + 2 * kNumberBytes>;  // uncompressed

apimachinery::Error Unable(std::string_view what) {
  return Fail(Reason::kInternalError,
              "OpenSSL cannot " + std::string(what) + " a key for the tokens of service accounts");
}

const unsigned char* BytesOf(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
std::string_view TextOf(std::span<const unsigned char> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Returns the secret number of a seed: the first one of a series that is in the group. Nearly all
/// of them are.
Number SecretOf(std::string_view seed, const EC_GROUP* group) {
  for (int i = 0; i < 100; ++i) {
    crypto::Sha256Sum sum =
        crypto::HmacSha256(seed, "kubexx service account tokens, ES256, " + std::to_string(i));
    Number number(BN_bin2bn(sum.data(), static_cast<int>(sum.size()), nullptr));
    OPENSSL_cleanse(sum.data(), sum.size());
    if (number != nullptr && BN_is_zero(number.get()) == 0 &&
        BN_cmp(number.get(), EC_GROUP_get0_order(group)) < 0) {
      return number;
    }
  }
  return nullptr;
}

KeyPointer PairOf(const BIGNUM* secret, const PublicPoint& point) {
  const ParameterBuilder builder(OSSL_PARAM_BLD_new());
  if (builder == nullptr ||
      OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0) != 1 ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_PRIV_KEY, secret) != 1 ||
      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                       point.size()) != 1) {
    return nullptr;
  }
  const Parameters parameters(OSSL_PARAM_BLD_to_param(builder.get()));
  const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr));
  EVP_PKEY* made = nullptr;
  if (parameters == nullptr || context == nullptr || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &made, EVP_PKEY_KEYPAIR, parameters.get()) != 1) {
    return nullptr;
  }
  return KeyPointer(made);
}

/// Turns OpenSSL's form of a signature into that of a JWS.
std::optional<std::string> ToJws(std::span<const unsigned char> der) {
  const unsigned char* at = der.data();
  const Signature signature(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())));
  std::string bytes(2 * kNumberBytes, '\0');
  auto* const out = reinterpret_cast<unsigned char*>(bytes.data());
  if (signature == nullptr ||
      BN_bn2binpad(ECDSA_SIG_get0_r(signature.get()), out, kNumberBytes) < 0 ||
      BN_bn2binpad(ECDSA_SIG_get0_s(signature.get()), out + kNumberBytes, kNumberBytes) < 0) {
    return std::nullopt;
  }
  return bytes;
}

/// The reverse; empty when that is not possible.
std::string FromJws(std::string_view bytes) {
  if (bytes.size() != 2 * kNumberBytes) {
    return {};
  }
  const Signature signature(ECDSA_SIG_new());
  Number r(BN_bin2bn(BytesOf(bytes), kNumberBytes, nullptr));
  Number s(BN_bin2bn(BytesOf(bytes) + kNumberBytes, kNumberBytes, nullptr));
  if (signature == nullptr || r == nullptr || s == nullptr ||
      ECDSA_SIG_set0(signature.get(), r.get(), s.get()) != 1) {
    return {};
  }
  (void)r.release();  // the signature owns them now
  (void)s.release();
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(signature.get(), &der);
  std::string text = size > 0 ? std::string(TextOf({der, static_cast<std::size_t>(size)})) : "";
  OPENSSL_free(der);
  return text;
}

/// Drops what OpenSSL notes about texts that are no signatures: the network's thread would take it
/// for an error of a connection.
class OwnErrors {
 public:
  OwnErrors() { ERR_set_mark(); }
  ~OwnErrors() { ERR_pop_to_mark(); }
  OwnErrors(const OwnErrors&) = delete;
  OwnErrors& operator=(const OwnErrors&) = delete;
};

}  // namespace

struct SigningKey::Pair {
  KeyPointer key{};
  JsonTree jwk{};
  std::string begin{};  // of all tokens: the header and the dot
};

Result<SigningKey> SigningKey::FromSeed(std::string_view seed) {
  const Group group(EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1));
  const Number secret = group == nullptr ? nullptr : SecretOf(seed, group.get());
  const Point point(group == nullptr ? nullptr : EC_POINT_new(group.get()));
  PublicPoint bytes{};
  if (secret == nullptr || point == nullptr ||
      EC_POINT_mul(group.get(), point.get(), secret.get(), nullptr, nullptr, nullptr) != 1 ||
      EC_POINT_point2oct(group.get(), point.get(), POINT_CONVERSION_UNCOMPRESSED, bytes.data(),
                         bytes.size(), nullptr) != bytes.size()) {
    return Unable("make");
  }
  auto pair = std::make_shared<Pair>();
  pair->key = PairOf(secret.get(), bytes);
  if (pair->key == nullptr) {
    return Unable("make");
  }
  const crypto::Sha256Sum id = crypto::Sha256(TextOf(bytes));
  JsonTree& jwk = pair->jwk;
  jwk["use"] = "sig";
  jwk["kty"] = "EC";
  jwk["kid"] = ToBase64Url(TextOf(id));
  jwk["crv"] = "P-256";
  jwk["alg"] = "ES256";
  jwk["x"] = ToBase64Url(TextOf(std::span(bytes).subspan(1, kNumberBytes)));
  jwk["y"] = ToBase64Url(TextOf(std::span(bytes).subspan(1 + kNumberBytes)));
  pair->begin =
      ToBase64Url(R"({"alg":"ES256","kid":")" + std::string(jwk.TextAt("kid")) + "\"}") + ".";
  return SigningKey(std::move(pair));
}

Result<std::string> SigningKey::SignJwt(const JsonTree& claims) const {
  const std::string text = pair_->begin + ToBase64Url(claims.ToJson());
  const DigestContext context(EVP_MD_CTX_new());
  std::array<unsigned char, 128> der{};
  std::size_t size = der.size();
  if (context == nullptr ||
      EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, pair_->key.get()) != 1 ||
      EVP_DigestSign(context.get(), der.data(), &size, BytesOf(text), text.size()) != 1) {
    return Unable("sign with");
  }
  const auto signature = ToJws(std::span(der).first(size));
  return signature ? Result<std::string>(text + "." + ToBase64Url(*signature))
                   : Unable("sign with");
}

std::optional<JsonTree> SigningKey::VerifyJwt(std::string_view token) const {
  const std::size_t dot = token.rfind('.');
  // A token with another header was made by somebody else, whatever algorithm the header names.
  if (!token.starts_with(pair_->begin) || dot < pair_->begin.size()) {
    return std::nullopt;
  }
  const OwnErrors errors;
  const std::string_view text = token.substr(0, dot);
  const std::string_view written = token.substr(dot + 1);
  const auto signature = FromBase64Url(written);
  // One signature has only one form.
  const std::string der =
      signature && ToBase64Url(*signature) == written ? FromJws(*signature) : std::string();
  const DigestContext context(EVP_MD_CTX_new());
  if (der.empty() || context == nullptr ||
      EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, pair_->key.get()) != 1 ||
      EVP_DigestVerify(context.get(), BytesOf(der), der.size(), BytesOf(text), text.size()) != 1) {
    return std::nullopt;
  }
  const auto json = FromBase64Url(text.substr(pair_->begin.size()));
  auto claims = json ? JsonTree::Parse(*json) : JsonTree();
  return claims ? std::optional(std::move(*claims)) : std::nullopt;
}

JsonTree SigningKey::PublicJwk() const { return pair_->jwk; }

}  // namespace kubexx::apiserver
