#include "kubexx/reloader/restore/not_done.h"

#include <utility>

#include "kubexx/reloader/permissions/denial.h"
#include "kubexx/reloader/restore/source_store.h"

namespace kubexx::reloader {

using apimachinery::Reason;
using apimachinery::Status;

std::string SourceName(const SourceId& id) {
  return std::string(NamesOf(id.type).kind) + " " + ObjectKeyOf(id).ToString();
}

NotDone AskAPerson(std::string reason, std::string message, const SourceObject* object) {
  return {.needs_person = true,
          .reason = std::move(reason),
          .message = std::move(message),
          .uid = object == nullptr ? std::string() : object->metadata().uid};
}

NotDone WhyRefused(const std::string& what, SourceType type, const Status& error) {
  const std::string text = "cannot " + what + ": " + error.message;
  if (IsMissingRight(error)) {
    return AskAPerson("Forbidden", text + "; grant get, list, create, update and delete of " +
                                       std::string(NamesOf(type).plural) +
                                       " (kubexx.restore in the chart)");
  }
  if (IsDenied(error)) {
    return AskAPerson("Refused", text);
  }
  return {.message = text};
}

NotDone TryAgain(std::string why) { return {.message = std::move(why)}; }

NotDone WhyNoKey(const Status& error) {
  const std::string text = std::string("cannot read or make the key of snapshots, the Secret ") +
                           kSnapshotKeySecret + " in the operator's namespace: " + error.message;
  if (IsMissingRight(error)) {
    return AskAPerson("Forbidden",
                      text + "; grant get and create of that Secret (kubexx.restore in the chart)");
  }
  if (IsDenied(error)) {
    return AskAPerson("Refused", text);
  }
  if (error.reason == Reason::kMalformed) {
    return AskAPerson("NoKey", text +
                                   "; delete the Secret, and the operator makes another within "
                                   "ten minutes, when it takes the next snapshot");
  }
  return {.message = text};
}

}  // namespace kubexx::reloader
