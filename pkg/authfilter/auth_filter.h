/// @file
/// AuthFilter: serves a page only to callers that the API server authenticates and authorizes.
#ifndef KUBEXX_AUTHFILTER_AUTH_FILTER_H_
#define KUBEXX_AUTHFILTER_AUTH_FILTER_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/http/message.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::authfilter {

/// Asks the API server to which user the bearer token of a request belongs (TokenReview), and
/// whether that user may use the request's method, in lower case, on its path (SubjectAccessReview
/// for a nonResourceURL). Answers 401 when the API server does not know the token, 403 when the
/// user is not allowed, and 500 when the API server cannot be reached. This program's own user
/// needs `create` on tokenreviews.authentication.k8s.io and
/// subjectaccessreviews.authorization.k8s.io; callers need a rule such as `nonResourceURLs:
/// ["/metrics"], verbs: ["get"]`. Keeps only the SHA-256 of tokens. Thread-safe. Semantics:
/// controller-runtime metrics/filters WithAuthenticationAndAuthorization.
class AuthFilter {
 public:
  /// How long and how many answers the filter keeps.
  struct Options {
    /// How long the filter keeps each kind of answer. It does not keep errors of the API server.
    std::chrono::milliseconds known_token_ttl = std::chrono::minutes(1);
    std::chrono::milliseconds unknown_token_ttl = std::chrono::seconds(10);
    std::chrono::milliseconds allowed_ttl = std::chrono::minutes(5);
    std::chrono::milliseconds denied_ttl = std::chrono::seconds(30);
    /// How many answers of each kind the filter keeps; the oldest goes first.
    std::size_t max_entries = 1024;
    /// The audiences of which a token must have at least one; empty means that of the API server.
    std::vector<std::string> audiences{};
    base::Clock& clock = base::Clock::Real();
  };

  AuthFilter(std::shared_ptr<rest::RESTClient> client, Options options);
  explicit AuthFilter(std::shared_ptr<rest::RESTClient> client);
  ~AuthFilter();
  AuthFilter(const AuthFilter&) = delete;
  AuthFilter& operator=(const AuthFilter&) = delete;

  /// What the API server says of a request.
  struct Verdict {
    std::string user{};                       ///< the name of the token's user, when it is known
    std::optional<http::Response> refusal{};  ///< std::nullopt: the request passes
  };
  /// Decides as the filter does, for who wants to know the user, too. Waits for the API server
  /// until the request's deadline.
  Verdict Review(const http::Request& request) const;

  /// Returns the filter for http::Filtered; it stays valid without the AuthFilter. It waits for the
  /// API server until the request's deadline, so use it on a server with handler threads.
  http::Filter Filter() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace kubexx::authfilter

#endif  // KUBEXX_AUTHFILTER_AUTH_FILTER_H_
