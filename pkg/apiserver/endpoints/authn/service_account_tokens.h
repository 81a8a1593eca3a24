/// @file
/// The tokens of service accounts.
#ifndef KUBEXX_APISERVER_ENDPOINTS_AUTHN_SERVICE_ACCOUNT_TOKENS_H_
#define KUBEXX_APISERVER_ENDPOINTS_AUTHN_SERVICE_ACCOUNT_TOKENS_H_

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/authn/signing_key.h"
#include "kubexx/apiserver/endpoints/registry/type_registry.h"
#include "kubexx/apiserver/endpoints/store/object_store.h"
#include "kubexx/apiserver/rbac/user.h"
#include "kubexx/base/mutex.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/crypto/sha.h"

namespace kubexx::apiserver {

/// The audience of tokens that name none: the API itself, under the name that kube-apiserver uses
/// by default.
inline constexpr std::string_view kApiAudience = "https://kubernetes.default.svc.cluster.local";

/// What a token says.
struct TokenClaims {
  apimachinery::ObjectKey account{};
  std::string account_uid{};
  /// The audiences of the token. Empty means kApiAudience.
  std::vector<std::string> audiences{};
  std::chrono::seconds lifetime{3600};
  /// The object that the token is bound to, so that it is valid only while that exists: the kind
  /// "pod" or "secret", and the object's name and uid. Empty when there is none.
  std::string bound_kind{};
  std::string bound_name{};
  std::string bound_uid{};
};

/// Makes and verifies tokens, with the claims of kube-apiserver's bound tokens. The seed of the key
/// is made once and kept in the store, beside the objects, where no request can read it. So servers
/// with the same store accept each other's tokens, and others can verify them with the public key.
/// Tokens that earlier versions have signed with the seed itself (HS256) stay valid. Thread-safe
/// once Load has returned.
class ServiceAccountTokens {
 public:
  /// Both must outlive it.
  ServiceAccountTokens(TypeRegistry& types, ObjectStore& objects)
      : types_(types), objects_(objects) {}

  /// Reads the key, or makes it when there is none. Returns errors of the store.
  apimachinery::Result<void> Load(const std::stop_token& stop);

  /// Once a minute writes the key back when the store does not have it any more, for example after
  /// somebody has emptied the store. Otherwise other servers, and this one after a restart, would
  /// make another key and refuse the existing tokens. One thread must call it about once a second.
  void Tick(const std::stop_token& stop);

  /// Returns a token. Returns kInternalError when it cannot be signed.
  apimachinery::Result<std::string> Issue(const TokenClaims& claims) const;

  /// The set of public keys (RFC 7517) with which others verify the tokens. It is empty before
  /// Load.
  codec::JsonTree PublicKeys() const;

  /// The name of the user of a token, or std::nullopt when Find would refuse it. Unlike Find it
  /// does not check whether the account and the bound object still exist. Does not block.
  std::optional<std::string> UserOf(std::string_view token,
                                    const std::vector<std::string>& audiences) const;

  /// The owner of a token. std::nullopt when the token was not signed with the key of Load, has
  /// expired, is for other audiences, or when its account or the object that it is bound to does
  /// not exist any more. Returns the store's error when it cannot say whether they exist.
  apimachinery::Result<std::optional<TokenOwner>> Find(std::string_view token,
                                                       const std::vector<std::string>& audiences,
                                                       const std::stop_token& stop) const;

 private:
  using ClaimsRef = std::shared_ptr<const codec::JsonTree>;

  /// The claims of a token that was signed with the key of Load; null for others.
  ClaimsRef Signed(std::string_view token) const;
  /// The claims of a token that was signed with the key of Load, is valid now and is for one of
  /// `audiences`. Sets `common` to those of `audiences` that the token is for.
  ClaimsRef Verify(std::string_view token, const std::vector<std::string>& audiences,
                   std::vector<std::string>& common) const;
  apimachinery::Result<bool> Exists(std::string_view plural, const apimachinery::ObjectKey& key,
                                    std::string_view uid, const std::stop_token& stop) const;

  TypeRegistry& types_;
  ObjectStore& objects_;
  apimachinery::Bytes key_{};
  std::optional<SigningKey> signing_{};
  base::TimePoint key_due_{};  // of Tick
  mutable base::Mutex mu_;
  /// The claims of tokens whose signatures have been verified, by the SHA-256 of the token, because
  /// each request has one and a signature costs much more than the rest.
  mutable std::map<crypto::Sha256Sum, ClaimsRef> signed_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_AUTHN_SERVICE_ACCOUNT_TOKENS_H_
