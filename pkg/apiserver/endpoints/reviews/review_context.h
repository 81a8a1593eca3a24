/// @file
/// What reviews ask of the server that answers them.
#ifndef KUBEXX_APISERVER_ENDPOINTS_REVIEWS_REVIEW_CONTEXT_H_
#define KUBEXX_APISERVER_ENDPOINTS_REVIEWS_REVIEW_CONTEXT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/rbac/policy.h"
#include "kubexx/apiserver/rbac/user.h"

namespace kubexx::apiserver {

/// One request with a review, and what the server knows of users and their rights. An interface, so
/// that the answers to reviews need nothing of how requests are served. Of one request, used by one
/// thread; the functions may block for as long as the request may take.
class ReviewContext {
 public:
  ReviewContext() = default;
  virtual ~ReviewContext() = default;
  ReviewContext(const ReviewContext&) = delete;
  ReviewContext& operator=(const ReviewContext&) = delete;

  /// Who sends the review.
  virtual const User& sender() const = 0;
  /// The namespace in the request's URL; "" for a review of the cluster.
  virtual std::string_view namespace_of_url() const = 0;

  /// Whether a user may make a request. Returns an error when the rights cannot be read.
  virtual apimachinery::Result<rbac::Decision> Decide(const User& user,
                                                      const rbac::Request& request) = 0;
  /// The rules by which the sender may do something in a namespace. Returns errors as Decide.
  virtual apimachinery::Result<rbac::HeldRules> RulesIn(std::string_view namespace_) = 0;
  /// The owner of a bearer token that is for one of `audiences`, or for the API when there are
  /// none; std::nullopt when the token is not valid. Returns an error when nobody can say whether
  /// it is.
  virtual apimachinery::Result<std::optional<TokenOwner>> FindToken(
      std::string_view token, std::vector<std::string> audiences) = 0;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_REVIEWS_REVIEW_CONTEXT_H_
