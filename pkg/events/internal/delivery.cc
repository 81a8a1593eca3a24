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
               tried ? "an event could not be written" : "the server refused an event",
               {{"namespace", namespace_}, {"name", name}, {"reason", reason}, {"error", status}});
}

void LogDropped(const std::string& component, std::size_t events) {
  logging::Warning("events were not written before the end and are lost",
                   {{"component", component}, {"events", static_cast<std::int64_t>(events)}});
}

void LogNotTaken(const std::string& component, std::size_t events) {
  logging::Warning("events are dropped as their recorder's queue is full, or was stopped",
                   {{"component", component}, {"events", static_cast<std::int64_t>(events)}});
}

}  // namespace kubexx::events::internal
