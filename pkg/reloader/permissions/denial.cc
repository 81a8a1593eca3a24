#include "kubexx/reloader/permissions/denial.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status_causes.h"

namespace kubexx::reloader {

using apimachinery::Reason;

namespace {

/// The cause that BeforeTheWrite adds.
constexpr std::string_view kNothingSent = "NothingSent";

}  // namespace

bool IsMissingRight(const apimachinery::Status& status) {
  if (status.reason != Reason::kForbidden) {
    return false;
  }
  // Only the text tells the two apart. The refusal of an authorizer has the form that
  // k8s.io/apiserver gives it: `is forbidden: User "x" cannot patch resource "deployments" in ...`.
  // The message of an admission plugin follows other words.
  const std::string_view text = status.message;
  constexpr std::string_view kBegin = "is forbidden: User \"";
  const std::size_t user = text.find(kBegin);
  return user != std::string_view::npos && !text.starts_with("admission webhook ") &&
         text.find("\" cannot ", user + kBegin.size()) != std::string_view::npos;
}

bool IsDenied(const apimachinery::Status& status) {
  if (apimachinery::HasStatusCause(status, apimachinery::kBrokenResponseCause)) {
    return false;
  }
  switch (status.reason) {
    case Reason::kForbidden:
    case Reason::kInvalid:
    case Reason::kBadRequest:
    case Reason::kMethodNotAllowed:
    case Reason::kNotAcceptable:
    case Reason::kRequestEntityTooLarge:
    case Reason::kUnsupportedMediaType:
      return true;
    default:
      // A webhook may answer with a status of its own that has none of the API's reasons.
      return status.reason == Reason::kUnknown && status.code >= 400 && status.code < 500 &&
             status.code != 404 && status.code != 408 && status.code != 409 && status.code != 429;
  }
}

bool IsContentDenied(const apimachinery::Status& status) {
  return IsDenied(status) && !IsMissingRight(status);
}

apimachinery::Status BeforeTheWrite(apimachinery::Status status) {
  status.details.causes.push_back(
      {.reason = std::string(kNothingSent), .message = "nothing has been written"});
  return status;
}

bool MayHaveBeenMade(const apimachinery::Status& status) {
  if (std::ranges::find(status.details.causes, kNothingSent, &apimachinery::StatusCause::reason) !=
      status.details.causes.end()) {
    return false;
  }
  switch (status.reason) {
    case Reason::kUnavailable:
    case Reason::kCancelled:
    case Reason::kMalformed:
    case Reason::kTimeout:
    case Reason::kServerTimeout:
    case Reason::kServiceUnavailable:
      return true;
    default:
      // The answer comes from a proxy that lost its server, or from an API server whose store did
      // not answer in time.
      return status.code == 502 ||
             (status.code == 500 &&
              (status.message.find("etcdserver: ") != std::string::npos ||
               apimachinery::HasStatusCause(status, apimachinery::kBrokenResponseCause)));
  }
}

}  // namespace kubexx::reloader
