#include "kubexx/apiserver/storage/internal/errors.h"

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace kubexx::apiserver::storage::internal {

using apimachinery::Error;
using apimachinery::Fail;
using apimachinery::Reason;

Error NotFound(std::string_view key) {
  return Fail(Reason::kNotFound, std::string(key) + " does not exist", 404);
}

Error AlreadyExists(std::string_view key) {
  return Fail(Reason::kAlreadyExists, std::string(key) + " exists", 409);
}

Error Conflict(std::string_view key, Revision actual, Revision expected) {
  return Fail(Reason::kConflict,
              std::string(key) + " is at revision " + std::to_string(actual) + ", not " +
                  std::to_string(expected),
              409);
}

Error Cancelled(std::string_view what) {
  return Fail(Reason::kCancelled, std::string(what) + " was cancelled");
}

Error Expired(std::string_view what, Revision oldest) {
  std::string text = std::string(what) + " was compacted";
  if (oldest != 0) {
    text += "; the oldest revision is " + std::to_string(oldest);
  }
  return Fail(Reason::kExpired, text + ": list again", 410);
}

Error OtherHistory(std::string_view what, Revision asked, Revision current) {
  return Fail(Reason::kExpired,
              std::string(what) + " is to begin after revision " + std::to_string(asked) +
                  ", but the store is at " + std::to_string(current) +
                  ", as somebody has restored or emptied it: list again",
              410);
}

Error TooLarge(Revision asked, Revision current) {
  std::string text = "Too large resource version: " + std::to_string(asked);
  if (current != 0) {
    text += ", current: " + std::to_string(current);
  }
  apimachinery::Status status(Reason::kTimeout, std::move(text), 504);
  apimachinery::StatusCause cause;
  cause.reason = "ResourceVersionTooLarge";
  cause.message = "Too large resource version";
  status.details.causes.push_back(std::move(cause));
  status.details.retry_after = std::chrono::seconds(1);
  return Fail(std::move(status));
}

Error CannotCompact(Revision revision) {
  return Fail(Reason::kBadRequest,
              "cannot compact at revision " + std::to_string(revision) + ", which is in the future",
              400);
}

}  // namespace kubexx::apiserver::storage::internal
