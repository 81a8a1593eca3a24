#include "kubexx/authfilter/auth_filter.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "kubexx/api/authentication/v1/types.gen.h"
#include "kubexx/api/authorization/v1/types.gen.h"
#include "kubexx/authfilter/internal/expiring_map.h"
#include "kubexx/base/ascii.h"
#include "kubexx/codec/codec.h"
#include "kubexx/crypto/sha.h"
#include "kubexx/kubernetes/authentication_v1.gen.h"
#include "kubexx/kubernetes/authorization_v1.gen.h"
#include "kubexx/kubernetes/clientset.gen.h"
#include "kubexx/logging/log.h"

namespace kubexx::authfilter {
namespace {

using api::authentication::v1::TokenReview;
using api::authentication::v1::UserInfo;
using api::authorization::v1::SubjectAccessReview;
using apimachinery::Fail;
using apimachinery::Result;

/// The key under which an answer for `text` is kept: the text itself may be a secret.
std::string HashOf(std::string_view text) {
  const crypto::Sha256Sum sum = crypto::Sha256(text);
  return {reinterpret_cast<const char*>(sum.data()), sum.size()};
}

/// The token of "Bearer <token>"; "" when there is none.
std::string_view BearerToken(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (base::ToLower(authorization.substr(0, kScheme.size())) != kScheme) {
    return {};
  }
  const std::string_view token = authorization.substr(kScheme.size());
  const auto begin = token.find_first_not_of(' ');
  return begin == std::string_view::npos
             ? std::string_view()
             : token.substr(begin, token.find_last_not_of(' ') + 1 - begin);
}

http::Response Unauthorized() {
  return {.status = 401, .body = "Unauthorized\n", .headers = {{"WWW-Authenticate", "Bearer"}}};
}

http::Response Broken(const char* what, const apimachinery::Status& status) {
  logging::Error(what, {{"error", status}});
  return {.status = 500, .body = std::string(what) + ".\n"};
}

bool Intersect(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::ranges::any_of(
      a, [&b](const std::string& one) { return std::ranges::find(b, one) != b.end(); });
}

}  // namespace

class AuthFilter::Impl {
 public:
  Impl(std::shared_ptr<rest::RESTClient> client, Options options)
      : client_(std::move(client)),
        options_(std::move(options)),
        users_(options_.max_entries, options_.clock),
        decisions_(options_.max_entries, options_.clock) {}

  Verdict Check(const http::Request& request) {
    const std::string_view token = BearerToken(request.Header("Authorization"));
    if (token.empty()) {
      return {.refusal = Unauthorized()};
    }
    const auto user = Authenticate(token, request.stop);
    if (!user) {
      return {.refusal = Broken("Authentication failed", user.error())};
    }
    if (!user->has_value()) {
      return {.refusal = Unauthorized()};
    }
    Verdict verdict{.user = (*user)->username};
    const auto allowed = Authorize(**user, request);
    if (!allowed) {
      verdict.refusal = Broken("Authorization failed", allowed.error());
    } else if (!*allowed) {
      verdict.refusal = http::Response{
          .status = 403, .body = "Authorization denied for user " + verdict.user + "\n"};
    }
    return verdict;
  }

 private:
  Result<std::optional<UserInfo>> Authenticate(std::string_view token,
                                               const std::stop_token& stop) {
    const std::string key = HashOf(token);
    if (auto known = users_.Find(key)) {
      return std::move(*known);
    }
    TokenReview review;
    review.spec.token = token;
    review.spec.audiences = options_.audiences;
    const auto answer =
        kubernetes::Clientset(client_).AuthenticationV1().TokenReviews().Create(review, {}, stop);
    if (!answer) {
      return Fail(answer.error().WithContext("token review"));
    }
    std::optional<UserInfo> user;
    if (answer->status.authenticated &&
        (options_.audiences.empty() || Intersect(options_.audiences, answer->status.audiences))) {
      user = answer->status.user;
    } else if (!answer->status.error.empty()) {
      logging::Debug("A token was not accepted", {{"error", answer->status.error}});
    }
    users_.Put(key, user, user ? options_.known_token_ttl : options_.unknown_token_ttl);
    return user;
  }

  Result<bool> Authorize(const UserInfo& user, const http::Request& request) {
    SubjectAccessReview review;
    review.spec.user = user.username;
    review.spec.uid = user.uid;
    review.spec.groups = user.groups;
    review.spec.extra = user.extra;
    auto& attributes = review.spec.non_resource_attributes.emplace();
    attributes.path = request.path;
    attributes.verb = base::ToLower(request.method);
    const std::string key = HashOf(codec::EncodeJson(review));
    if (const auto known = decisions_.Find(key); known) {
      return *known;
    }
    const auto answer =
        kubernetes::Clientset(client_).AuthorizationV1().SubjectAccessReviews().Create(
            review, {}, request.stop);
    if (!answer) {
      return Fail(answer.error().WithContext("subject access review"));
    }
    const bool allowed = answer->status.allowed && !answer->status.denied;
    decisions_.Put(key, allowed, allowed ? options_.allowed_ttl : options_.denied_ttl);
    return allowed;
  }

  const std::shared_ptr<rest::RESTClient> client_;
  const Options options_;
  internal::ExpiringMap<std::optional<UserInfo>> users_;
  internal::ExpiringMap<bool> decisions_;
};

AuthFilter::AuthFilter(std::shared_ptr<rest::RESTClient> client, Options options)
    : impl_(std::make_shared<Impl>(std::move(client), std::move(options))) {}
AuthFilter::AuthFilter(std::shared_ptr<rest::RESTClient> client)
    : AuthFilter(std::move(client), Options{}) {}
AuthFilter::~AuthFilter() = default;

AuthFilter::Verdict AuthFilter::Review(const http::Request& request) const {
  return impl_->Check(request);
}

http::Filter AuthFilter::Filter() const {
  return [impl = impl_](const http::Request& request) { return impl->Check(request).refusal; };
}

}  // namespace kubexx::authfilter
