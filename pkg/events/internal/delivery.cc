#include "kubexx/events/internal/delivery.h"

#include <cstdint>

#include "kubexx/logging/log.h"

namespace kubexx::events::internal {

using apimachinery::Reason;

bool MayRetry(const apimachinery::Status& status) {
  return status.code == 0 &&
         (status.reason == Reason::kUnavailable || status.reason == Reason::kTimeout ||
          status.reason == Reason::kMalformed);
}

void LogLost(const std::string& namespace_, const std::string& name, const std::string& reason,
             const apimachinery::Status& status, bool tried) {
  // A namespace that goes away and an event that is there already are part of life.
  bool usual = status.reason == Reason::kAlreadyExists;
  for (const auto& cause : status.details.causes) {
    usual = usual || cause.reason == "NamespaceTerminating";
  }
  logging::Log(usual ? logging::Level::kDebug : logging::Level::kWarning,
               tried              ? "Cannot write an Event, which is lost"
               : status.code == 0 ? "An Event could not be sent, and is lost"
                                  : "The API server refused an Event",
               {{"namespace", namespace_}, {"name", name}, {"reason", reason}, {"error", status}});
}

void LogDropped(const std::string& component, std::size_t events) {
  logging::Warning("Events were not written before their recorder ended and are lost",
                   {{"component", component}, {"events", static_cast<std::int64_t>(events)}});
}

void LogNotTaken(const std::string& component, std::size_t events, bool stopped) {
  logging::Warning(stopped ? "Events are dropped, as their recorder was stopped"
                           : "Events are dropped, as their recorder's queue is full",
                   {{"component", component}, {"events", static_cast<std::int64_t>(events)}});
}

}  // namespace kubexx::events::internal
