/// @file
/// Lets only those read a page whom the API server knows and allows.
#ifndef KUBEXX_AUTHFILTER_AUTH_FILTER_H_
#define KUBEXX_AUTHFILTER_AUTH_FILTER_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/http/message.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::authfilter {

/// Asks the API server who the bearer token of a request belongs to (TokenReview) and whether that
/// user may use the request's method, in lower case, on its path (SubjectAccessReview for a
/// nonResourceURL). Answers 401 without a token that it knows, 403 to those who may not, 500 when
/// the API server cannot be asked. Its own user needs `create` on
/// tokenreviews.authentication.k8s.io and subjectaccessreviews.authorization.k8s.io; readers need a
/// rule such as `nonResourceURLs: ["/metrics"], verbs: ["get"]`. Tokens are remembered by their
/// SHA-256 only. Thread-safe. Semantics: controller-runtime metrics/filters
/// WithAuthenticationAndAuthorization.
class AuthFilter {
 public:
  /// How long answers are kept, and how many.
  struct Options {
    /// How long answers are kept. Those of a broken API server are not.
    std::chrono::milliseconds known_token_ttl = std::chrono::minutes(1);
    std::chrono::milliseconds unknown_token_ttl = std::chrono::seconds(10);
    std::chrono::milliseconds allowed_ttl = std::chrono::minutes(5);
    std::chrono::milliseconds denied_ttl = std::chrono::seconds(30);
    /// Of each kind of answer; the oldest goes first.
    std::size_t max_entries = 1024;
    /// A token must be meant for one of them; empty: for the API server.
    std::vector<std::string> audiences{};
    base::Clock& clock = base::Clock::Real();
  };

  AuthFilter(std::shared_ptr<rest::RESTClient> client, Options options);
  explicit AuthFilter(std::shared_ptr<rest::RESTClient> client);
  ~AuthFilter();
  AuthFilter(const AuthFilter&) = delete;
  AuthFilter& operator=(const AuthFilter&) = delete;

  /// For http::Filtered; works without the AuthFilter, too. It waits for the API server as long as
  /// the request is waited for: use it on a server with handler threads.
  http::Filter Filter() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace kubexx::authfilter

#endif  // KUBEXX_AUTHFILTER_AUTH_FILTER_H_
