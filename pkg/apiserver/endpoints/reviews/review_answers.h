/// @file
/// The answers to reviews, which are objects that ask something and are not kept.
#ifndef KUBEXX_APISERVER_ENDPOINTS_REVIEWS_REVIEW_ANSWERS_H_
#define KUBEXX_APISERVER_ENDPOINTS_REVIEWS_REVIEW_ANSWERS_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/reviews/review_context.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Sets `status`, an empty object, to the answer to a SubjectAccessReview with this `spec`. Returns
/// kInvalid when the spec does not say who wants to do what, and errors of ReviewContext. As
/// authorization validation and the registry of subjectaccessreviews.
apimachinery::Result<void> AnswerAccessReview(ReviewContext& context, const codec::JsonTree& spec,
                                              codec::JsonTree& status);
/// The same for a LocalSubjectAccessReview, which is about its own namespace only.
apimachinery::Result<void> AnswerLocalAccessReview(ReviewContext& context,
                                                   const codec::JsonTree& spec,
                                                   codec::JsonTree& status);
/// The same for a SelfSubjectAccessReview, which is about the sender.
apimachinery::Result<void> AnswerSelfAccessReview(ReviewContext& context,
                                                  const codec::JsonTree& spec,
                                                  codec::JsonTree& status);

/// The same for a SelfSubjectRulesReview. Returns kBadRequest when it names no namespace.
apimachinery::Result<void> AnswerRulesReview(ReviewContext& context, const codec::JsonTree& spec,
                                             codec::JsonTree& status);

/// The same for a SelfSubjectReview.
apimachinery::Result<void> AnswerSelfReview(ReviewContext& context, const codec::JsonTree& spec,
                                            codec::JsonTree& status);

/// The same for a TokenReview. A token that is not valid is not an error.
apimachinery::Result<void> AnswerTokenReview(ReviewContext& context, const codec::JsonTree& spec,
                                             codec::JsonTree& status);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_REVIEWS_REVIEW_ANSWERS_H_
