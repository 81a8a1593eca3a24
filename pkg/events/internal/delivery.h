/// @file
/// Writes one event, and decides what an error means.
#ifndef KUBEXX_EVENTS_INTERNAL_DELIVERY_H_
#define KUBEXX_EVENTS_INTERNAL_DELIVERY_H_

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/thrown_text.h"
#include "kubexx/events/event_sink.h"
#include "kubexx/events/events_metrics.h"

namespace kubexx::events::internal {

/// How often an event is tried at most.
inline constexpr int kMaxTries = 12;
/// The pause between two tries, before jitter.
inline constexpr base::Duration kRetryPause = std::chrono::seconds(10);

/// Whether another try may help: the request got no answer, or one that could not be read. An
/// answer of the server is final, as in client-go.
bool MayRetry(const apimachinery::Status& status);

/// Logs that an event was given up. `tried` is true if it could not be sent, and false if it was
/// refused.
void LogLost(const std::string& namespace_, const std::string& name, const std::string& reason,
             const apimachinery::Status& status, bool tried);

/// Logs how many events were not written before their recorder ended.
void LogDropped(const std::string& component, std::size_t events);

/// Logs that so many events, since the last such line, found the queue full or the recorder
/// stopped; `stopped` says which of both the last one found.
void LogNotTaken(const std::string& component, std::size_t events, bool stopped);

/// Makes one try: patches the event, or creates it if `patch` is empty or the event does not exist
/// any more. An exception of the sink is kInternalError, after which the event is given up.
template <class E>
apimachinery::Result<E> WriteOnce(EventSink<E>& sink, E& event, const std::string& patch,
                                  const std::stop_token& stop) {
  try {
    if (!patch.empty()) {
      auto patched = sink.Patch(event, patch, stop);
      if (patched || patched.error().code != 404) {
        return patched;
      }
    }
    event.metadata.resource_version.clear();
    return sink.Create(event, stop);
  } catch (...) {
    return apimachinery::Fail(apimachinery::Reason::kInternalError,
                              "the sink threw: " + base::ThrownText());
  }
}

/// How Deliver tries an event again.
struct Retry {
  /// Waits after the given number of failed tries. Returns false if the event should be given up.
  std::function<bool(int tries)> pause{};
  /// Whether to try again if the event exists already, although it did not when it was to be
  /// patched.
  bool when_exists = false;
};

/// Tries to write an event until that succeeds, the server refuses it, or it was tried kMaxTries
/// times, and counts the result. Returns kCancelled, uncounted, if `stop` was requested; the server
/// may then have stored the event or not.
template <class E>
apimachinery::Result<E> Deliver(EventSink<E>& sink, E event, const std::string& patch,
                                const Retry& retry, const EventsMetrics& metrics,
                                const std::stop_token& stop) {
  for (int tries = 1;; ++tries) {
    auto stored = WriteOnce(sink, event, patch, stop);
    if (stored) {
      metrics.written.Increment();
      return stored;
    }
    const apimachinery::Status& error = stored.error();
    if (error.reason == apimachinery::Reason::kCancelled) {
      return stored;
    }
    const bool exists = error.reason == apimachinery::Reason::kAlreadyExists;
    const bool again = MayRetry(error) || (exists && retry.when_exists);
    if (!again) {
      metrics.refused.Increment();
      LogLost(event.metadata.namespace_, event.metadata.name, event.reason, error, false);
      return stored;
    }
    if (tries >= kMaxTries || !retry.pause(tries)) {
      metrics.failed.Increment();
      LogLost(event.metadata.namespace_, event.metadata.name, event.reason, error, true);
      return stored;
    }
  }
}

}  // namespace kubexx::events::internal

#endif  // KUBEXX_EVENTS_INTERNAL_DELIVERY_H_
