/// @file
/// admission.k8s.io/v1 AdmissionReview: the question, and the answer to it.
#ifndef KUBEXX_APISERVER_ADMISSION_REVIEW_H_
#define KUBEXX_APISERVER_ADMISSION_REVIEW_H_

#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/admission/attributes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::admission {

/// The body of a call. `shown` is the version that the webhook wants, which `objects` have.
std::string ReviewRequest(const std::string& uid, const Attributes& attributes, const Target& shown,
                          const Objects& objects);

/// What a webhook has answered.
struct Verdict {
  bool allowed = false;
  /// Why not, in kube-apiserver's words; only when it is not allowed.
  apimachinery::Status denial{};
  /// RFC 6902; null for none.
  codec::JsonTree patch{};
  std::vector<std::string> warnings{};
};

/// Reads the answer to the review `uid` of the webhook `name`. kMalformed for what is none: another
/// kind, another uid, a patch without its type, a patch of a validating webhook.
apimachinery::Result<Verdict> ReadReviewResponse(std::string_view body, const std::string& uid,
                                                 const std::string& name, bool mutating);

}  // namespace kubexx::apiserver::admission

#endif  // KUBEXX_APISERVER_ADMISSION_REVIEW_H_
