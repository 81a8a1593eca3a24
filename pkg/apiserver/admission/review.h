/// @file
/// admission.k8s.io/v1 AdmissionReview: the request to a webhook and its response.
#ifndef KUBEXX_APISERVER_ADMISSION_REVIEW_H_
#define KUBEXX_APISERVER_ADMISSION_REVIEW_H_

#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/admission/attributes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::admission {

/// The body of a call to a webhook. `shown` is the version that the webhook wants; `objects` are in
/// that version.
std::string ReviewRequest(const std::string& uid, const Attributes& attributes, const Target& shown,
                          const Objects& objects);

/// The answer of a webhook.
struct Verdict {
  bool allowed = false;
  /// The reason of a denial in kube-apiserver's words; set only when `allowed` is false.
  apimachinery::Status denial{};
  /// The JSON patch (RFC 6902); null when there is none.
  codec::JsonTree patch{};
  std::vector<std::string> warnings{};
};

/// Reads the answer of the webhook `name` to the review `uid`. Returns kMalformed for an invalid
/// answer: another kind, another uid, a patch without its type, or a patch of a validating webhook.
apimachinery::Result<Verdict> ReadReviewResponse(std::string_view body, const std::string& uid,
                                                 const std::string& name, bool mutating);

}  // namespace kubexx::apiserver::admission

#endif  // KUBEXX_APISERVER_ADMISSION_REVIEW_H_
