/// @file
/// Why a snapshot was not taken, or data were not put back.
#ifndef KUBEXX_RELOADER_RESTORE_NOT_DONE_H_
#define KUBEXX_RELOADER_RESTORE_NOT_DONE_H_

#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/restore/source_object.h"

namespace kubexx::reloader {

/// Why something was not done.
struct NotDone {
  /// A person has to do something about it; otherwise the caller tries again.
  bool needs_person = false;
  std::string reason{};   ///< in UpperCamelCase; only with needs_person
  std::string message{};  ///< a sentence
  std::string uid{};      ///< of the source, if it was read
  bool operator==(const NotDone&) const = default;
};

/// "ConfigMap shop/settings".
std::string SourceName(const SourceId& id);

/// A person has to do something. `object`: the source, if it was read.
NotDone AskAPerson(std::string reason, std::string message, const SourceObject* object = nullptr);
/// The caller tries again.
NotDone TryAgain(std::string why);
/// What an answer of the API server means. `what` is a phrase such as "read ConfigMap shop/a".
NotDone WhyRefused(const std::string& what, SourceType type, const apimachinery::Status& error);
/// Why there is no key of snapshots.
NotDone WhyNoKey(const apimachinery::Status& error);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_RESTORE_NOT_DONE_H_
