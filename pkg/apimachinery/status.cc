#include "kubexx/apimachinery/status.h"

#include <algorithm>
#include <array>

namespace kubexx::apimachinery {
namespace {

struct ReasonName {
  Reason reason;
  std::string_view name;
};

constexpr std::array kReasonNames = {
    ReasonName{Reason::kUnauthorized, "Unauthorized"},
    ReasonName{Reason::kForbidden, "Forbidden"},
    ReasonName{Reason::kNotFound, "NotFound"},
    ReasonName{Reason::kAlreadyExists, "AlreadyExists"},
    ReasonName{Reason::kConflict, "Conflict"},
    ReasonName{Reason::kGone, "Gone"},
    ReasonName{Reason::kInvalid, "Invalid"},
    ReasonName{Reason::kServerTimeout, "ServerTimeout"},
    ReasonName{Reason::kStoreReadError, "StorageReadError"},
    ReasonName{Reason::kTimeout, "Timeout"},
    ReasonName{Reason::kTooManyRequests, "TooManyRequests"},
    ReasonName{Reason::kBadRequest, "BadRequest"},
    ReasonName{Reason::kMethodNotAllowed, "MethodNotAllowed"},
    ReasonName{Reason::kNotAcceptable, "NotAcceptable"},
    ReasonName{Reason::kRequestEntityTooLarge, "RequestEntityTooLarge"},
    ReasonName{Reason::kUnsupportedMediaType, "UnsupportedMediaType"},
    ReasonName{Reason::kInternalError, "InternalError"},
    ReasonName{Reason::kExpired, "Expired"},
    ReasonName{Reason::kServiceUnavailable, "ServiceUnavailable"},
    ReasonName{Reason::kUnavailable, "Unavailable"},
    ReasonName{Reason::kCancelled, "Cancelled"},
    ReasonName{Reason::kMalformed, "Malformed"},
    ReasonName{Reason::kInvalidConfig, "InvalidConfig"},
};

}  // namespace

std::string_view ToString(Reason reason) {
  const auto found = std::ranges::find(kReasonNames, reason, &ReasonName::reason);
  return found == kReasonNames.end() ? std::string_view() : found->name;
}

Reason ParseReason(std::string_view text) {
  const auto found = std::ranges::find(kReasonNames, text, &ReasonName::name);
  return found == kReasonNames.end() ? Reason::kUnknown : found->reason;
}

Status::Status() = default;
Status::Status(Reason reason_in, std::string message_in, int code_in)
    : reason(reason_in), code(code_in), message(std::move(message_in)) {}
Status::Status(const Status& other) = default;
Status::Status(Status&& other) noexcept = default;
Status& Status::operator=(const Status& other) = default;
Status& Status::operator=(Status&& other) noexcept = default;
Status::~Status() = default;

const Status& NoError() {
  static const Status no_error(Reason::kUnknown, "no error: the call has succeeded");
  return no_error;
}

Error Fail(Reason reason, std::string message, int code) {
  return Error(Status(reason, std::move(message), code));
}
Error Fail(Status status) { return Error(std::move(status)); }

std::string Status::ToString() const {
  std::string text(other_reason.empty() ? apimachinery::ToString(reason)
                                        : std::string_view(other_reason));
  if (text.empty()) {
    text = "Unknown";
  }
  return text + ": " + message;
}

Status Status::WithContext(std::string_view context) const {
  Status copy = *this;
  copy.message = std::string(context) + ": " + message;
  return copy;
}

Status Malformed(std::string field, std::string what) {
  Status status(Reason::kMalformed, field.empty() ? what : field + ": " + what, 400);
  status.details.causes.push_back({"FieldValueInvalid", std::move(what), std::move(field)});
  return status;
}

Reason ReasonForHttpCode(int code) {
  switch (code) {
    case 400:
      return Reason::kBadRequest;
    case 401:
      return Reason::kUnauthorized;
    case 403:
      return Reason::kForbidden;
    case 404:
      return Reason::kNotFound;
    case 405:
      return Reason::kMethodNotAllowed;
    case 406:
      return Reason::kNotAcceptable;
    case 409:
      return Reason::kConflict;
    case 410:
      return Reason::kGone;
    case 413:
      return Reason::kRequestEntityTooLarge;
    case 415:
      return Reason::kUnsupportedMediaType;
    case 422:
      return Reason::kInvalid;
    case 429:
      return Reason::kTooManyRequests;
    case 500:
      return Reason::kInternalError;
    case 503:
      return Reason::kServiceUnavailable;
    case 504:
      return Reason::kTimeout;
    default:
      return Reason::kUnknown;
  }
}

bool IsExpired(const Status& status) {
  return status.reason == Reason::kExpired || status.reason == Reason::kGone || status.code == 410;
}

bool IsObjectNotFound(const Status& status) {
  return status.reason == Reason::kNotFound && !status.details.name.empty();
}

bool IsTooLargeResourceVersion(const Status& status) {
  if (status.reason != Reason::kTimeout) {
    return false;
  }
  if (std::ranges::any_of(status.details.causes, [](const StatusCause& cause) {
        return cause.reason == "ResourceVersionTooLarge";
      })) {
    return true;
  }
  // Servers before 1.17 name no cause.
  return status.message.find("Too large resource version") != std::string::npos;
}

}  // namespace kubexx::apimachinery
