/// @file
/// The tokens of service accounts.
#ifndef KUBEXX_APISERVER_ENDPOINTS_AUTHN_SERVICE_ACCOUNT_TOKENS_H_
#define KUBEXX_APISERVER_ENDPOINTS_AUTHN_SERVICE_ACCOUNT_TOKENS_H_

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/registry/type_registry.h"
#include "kubexx/apiserver/endpoints/store/object_store.h"
#include "kubexx/apiserver/rbac/user.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Of tokens that name no audience: the API itself, as kube-apiserver calls it by default.
inline constexpr std::string_view kApiAudience = "https://kubernetes.default.svc.cluster.local";

/// What a token is made of.
struct TokenClaims {
  apimachinery::ObjectKey account{};
  std::string account_uid{};
  /// None: kApiAudience.
  std::vector<std::string> audiences{};
  std::chrono::seconds lifetime{3600};
  /// The object that the token is valid with: "pod" or "secret", its name and uid; else empty.
  std::string bound_kind{};
  std::string bound_name{};
  std::string bound_uid{};
};

/// Whose a token is, and for which of the audiences that were asked for.
struct TokenOwner {
  User user{};
  std::vector<std::string> audiences{};
};

/// Makes tokens and knows them again, with the claims of kube-apiserver's bound tokens. The key is
/// made once and kept in the store, beside the objects, where no request reaches it: servers of
/// one store take each other's tokens. Thread-safe once Load has returned.
class ServiceAccountTokens {
 public:
  /// Both must outlive it.
  ServiceAccountTokens(TypeRegistry& types, ObjectStore& objects)
      : types_(types), objects_(objects) {}

  /// Reads the key, or makes it. Errors of the store.
  apimachinery::Result<void> Load(const std::stop_token& stop);

  /// To be called about once a second, by one thread: once a minute it puts the key back where the
  /// store has none any more, as after somebody has emptied it. Other servers, and this one after a
  /// restart, would make another one, and take no token of before.
  void Tick(const std::stop_token& stop);

  std::string Issue(const TokenClaims& claims) const;

  /// The name of the user that a token is for; nothing where Find would find nothing, but for one
  /// thing: whether what it belongs to is still there. Does not block.
  std::optional<std::string> UserOf(std::string_view token,
                                    const std::vector<std::string>& audiences) const;

  /// Nothing for what is no token of Load's key, is over, is for other audiences, or belongs to an
  /// account or is bound to an object that is not there any more.
  std::optional<TokenOwner> Find(std::string_view token, const std::vector<std::string>& audiences,
                                 const std::stop_token& stop) const;

 private:
  /// The claims of a token of Load's key that is valid now and for one of `audiences`; `common` are
  /// those that it is for.
  std::optional<codec::JsonTree> Verify(std::string_view token,
                                        const std::vector<std::string>& audiences,
                                        std::vector<std::string>& common) const;
  bool Exists(std::string_view plural, const apimachinery::ObjectKey& key, std::string_view uid,
              const std::stop_token& stop) const;

  TypeRegistry& types_;
  ObjectStore& objects_;
  apimachinery::Bytes key_{};
  base::TimePoint key_due_{};  // of Tick
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_AUTHN_SERVICE_ACCOUNT_TOKENS_H_
