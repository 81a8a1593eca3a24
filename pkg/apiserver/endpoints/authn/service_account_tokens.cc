#include "kubexx/apiserver/endpoints/authn/service_account_tokens.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/time.h"
#include "kubexx/apiserver/endpoints/authn/jwt.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/base/identity.h"
#include "kubexx/logging/log.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::ObjectKey;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

/// The key is outside of "/registry/", where the objects are.
constexpr std::string_view kKeyName = "/kubexx/service-account-key";
constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kMostSigned = 1024;
constexpr base::Duration kKeyInterval = std::chrono::minutes(1);
constexpr std::string_view kPrivate = "kubernetes.io";
constexpr std::string_view kUserPrefix = "system:serviceaccount:";

/// As in kube-apiserver, the token of an object that is being deleted stays valid for this time, so
/// that its users can finish their work.
constexpr std::chrono::seconds kLeeway{60};

/// The clocks of servers with the same store may differ by this, so that a new token of one server
/// is valid for the others. It is that of kube-apiserver.
constexpr std::chrono::seconds kClockLeeway{60};

std::int64_t SecondsAt(const JsonTree& claims, std::string_view name) {
  const JsonTree* const found = claims.Find(name);
  return found == nullptr ? 0 : found->AsInt().value_or(0);
}

std::int64_t Now(base::Clock& clock) {
  return std::chrono::duration_cast<std::chrono::seconds>(clock.Wall().time_since_epoch()).count();
}

/// Returns those of `wanted` that the token is for.
std::vector<std::string> CommonAudiences(const JsonTree& claims,
                                         const std::vector<std::string>& wanted) {
  const std::set<std::string_view> all(wanted.begin(), wanted.end());
  std::vector<std::string> common = StringsAt(claims, "aud");
  std::erase_if(common, [&all](const std::string& one) { return !all.contains(one); });
  return common;
}

}  // namespace

Result<void> ServiceAccountTokens::Load(const std::stop_token& stop) {
  std::array<unsigned char, kKeyBytes> random{};
  if (RAND_bytes(random.data(), static_cast<int>(random.size())) != 1) {
    return Fail(Reason::kInternalError, "there are no random bytes for a key");
  }
  std::string made(reinterpret_cast<const char*>(random.data()), random.size());
  OPENSSL_cleanse(random.data(), random.size());
  storage::Storage& storage = objects_.storage();
  auto found = storage.Create(kKeyName, made, stop);
  if (!found && found.error().reason == Reason::kAlreadyExists) {
    found = storage.Get(kKeyName, 0, stop);
  }
  apimachinery::Wipe(made);
  if (!found) {
    return Fail(found.error().WithContext("the key of the service accounts' tokens"));
  }
  if (found->value->size() != kKeyBytes) {
    return Fail(Reason::kInternalError, "the key of the service accounts' tokens, " +
                                            std::string(kKeyName) + ", is damaged");
  }
  key_ = apimachinery::Bytes(*found->value);
  KX_ASSIGN_OR_RETURN(signing_, SigningKey::FromSeed(key_.view()));
  return {};
}

void ServiceAccountTokens::Tick(const std::stop_token& stop) {
  const base::TimePoint now = objects_.clock().Now();
  if (key_.empty() || now < key_due_ || stop.stop_requested()) {
    return;
  }
  key_due_ = now + kKeyInterval;
  storage::Storage& storage = objects_.storage();
  const auto found = storage.Get(kKeyName, 0, stop);
  if (found || found.error().reason != Reason::kNotFound) {
    return;
  }
  std::string key(key_.view());
  if (storage.Create(kKeyName, key, stop)) {
    logging::Warning("Wrote the key of service account tokens again, as the store had lost it",
                     {{"key", kKeyName}});
  }
  apimachinery::Wipe(key);
}

Result<std::string> ServiceAccountTokens::Issue(const TokenClaims& token) const {
  if (!signing_) {
    return Fail(Reason::kInternalError, "the key of the service accounts' tokens was not read");
  }
  const std::int64_t now = Now(objects_.clock());
  JsonTree claims = JsonTree::Object();
  claims["aud"] = JsonTree::Array();
  for (const std::string& audience : token.audiences) {
    claims["aud"].Append(audience);
  }
  if (token.audiences.empty()) {
    claims["aud"].Append(kApiAudience);
  }
  claims["exp"] = now + token.lifetime.count();
  claims["iat"] = now;
  claims["iss"] = kApiAudience;
  claims["jti"] = base::RandomUuid();
  JsonTree& own = claims[kPrivate];
  own["namespace"] = token.account.namespace_;
  if (!token.bound_kind.empty()) {
    own[token.bound_kind]["name"] = token.bound_name;
    own[token.bound_kind]["uid"] = token.bound_uid;
  }
  own["serviceaccount"]["name"] = token.account.name;
  own["serviceaccount"]["uid"] = token.account_uid;
  claims["nbf"] = now;
  claims["sub"] = std::string(kUserPrefix) + token.account.namespace_ + ":" + token.account.name;
  return signing_->SignJwt(claims);
}

JsonTree ServiceAccountTokens::PublicKeys() const {
  JsonTree set = JsonTree::Object();
  set["keys"] = JsonTree::Array();
  if (signing_) {
    set["keys"].Append(signing_->PublicJwk());
  }
  return set;
}

ServiceAccountTokens::ClaimsRef ServiceAccountTokens::Signed(std::string_view token) const {
  if (!signing_) {
    return nullptr;
  }
  const crypto::Sha256Sum sum = crypto::Sha256(token);
  {
    const base::MutexLock lock(mu_);
    if (const auto found = signed_.find(sum); found != signed_.end()) {
      return found->second;
    }
  }
  auto claims = signing_->VerifyJwt(token);
  if (!claims) {
    claims = VerifyJwt(token, key_.view());
  }
  if (!claims) {
    return nullptr;
  }
  auto known = std::make_shared<const JsonTree>(std::move(*claims));
  const base::MutexLock lock(mu_);
  if (signed_.size() >= kMostSigned) {
    signed_.clear();  // Those that are in use come again.
  }
  signed_.emplace(sum, known);
  return known;
}

Result<bool> ServiceAccountTokens::Exists(std::string_view plural, const ObjectKey& key,
                                          std::string_view uid, const std::stop_token& stop) const {
  const ResourceTypeRef type = types_.Find("", "v1", plural);
  const auto object = objects_.Get(*type, key, stop);
  if (!object && object.error().reason != Reason::kNotFound) {
    return Fail(object.error().WithContext("check a token of " + std::string(plural) + " \"" +
                                           key.ToString() + "\""));
  }
  if (!object || MetaString(*object, "uid") != uid) {
    return false;
  }
  const auto deleted = apimachinery::Time::Parse(MetaString(*object, "deletionTimestamp"));
  return !deleted || Now(objects_.clock()) - deleted->seconds <= kLeeway.count();
}

ServiceAccountTokens::ClaimsRef ServiceAccountTokens::Verify(
    std::string_view token, const std::vector<std::string>& audiences,
    std::vector<std::string>& common) const {
  ClaimsRef claims = Signed(token);
  if (claims == nullptr) {
    return nullptr;
  }
  const std::int64_t now = Now(objects_.clock());
  common = CommonAudiences(*claims, audiences);
  if (common.empty() || now >= SecondsAt(*claims, "exp") ||
      now + kClockLeeway.count() < SecondsAt(*claims, "nbf")) {
    return nullptr;
  }
  return claims;
}

std::optional<std::string> ServiceAccountTokens::UserOf(
    std::string_view token, const std::vector<std::string>& audiences) const {
  std::vector<std::string> common;
  const ClaimsRef claims = Verify(token, audiences, common);
  return claims != nullptr ? std::optional(StringAt(*claims, {"sub"})) : std::nullopt;
}

Result<std::optional<TokenOwner>> ServiceAccountTokens::Find(
    std::string_view token, const std::vector<std::string>& audiences,
    const std::stop_token& stop) const {
  TokenOwner owner;
  const ClaimsRef claims = Verify(token, audiences, owner.audiences);
  if (claims == nullptr) {
    return std::optional<TokenOwner>();
  }
  const std::string namespace_ = StringAt(*claims, {kPrivate, "namespace"});
  const std::string name = StringAt(*claims, {kPrivate, "serviceaccount", "name"});
  owner.user.uid = StringAt(*claims, {kPrivate, "serviceaccount", "uid"});
  KX_ASSIGN_OR_RETURN(
      bool exists,
      Exists("serviceaccounts", {.namespace_ = namespace_, .name = name}, owner.user.uid, stop));
  for (const auto& [kind, plural] : {std::pair("pod", "pods"), std::pair("secret", "secrets")}) {
    if (const JsonTree* const bound = claims->At({kPrivate, kind}); exists && bound != nullptr) {
      const ObjectKey key{.namespace_ = namespace_, .name = std::string(bound->TextAt("name"))};
      KX_ASSIGN_OR_RETURN(exists, Exists(plural, key, bound->TextAt("uid"), stop));
    }
  }
  if (!exists) {
    return std::optional<TokenOwner>();
  }
  owner.user.name = std::string(kUserPrefix) + namespace_ + ":" + name;
  owner.user.groups = {"system:serviceaccounts", "system:serviceaccounts:" + namespace_,
                       "system:authenticated"};
  return std::optional(std::move(owner));
}

}  // namespace kubexx::apiserver
