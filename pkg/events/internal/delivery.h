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
#include "kubexx/events/event_sink.h"
#include "kubexx/events/events_metrics.h"

namespace kubexx::events::internal {

/// An event is tried so often.
inline constexpr int kMaxTries = 12;
/// Between tries, before jitter.
inline constexpr base::Duration kRetryPause = std::chrono::seconds(10);

/// Whether trying again may help: there was no answer, or one that could not be read. What the
/// server says is final, as in client-go.
bool MayRetry(const apimachinery::Status& status);

/// Logs that an event was given up; `tried` when it was not refused but could not be sent.
void LogLost(const std::string& namespace_, const std::string& name, const std::string& reason,
             const apimachinery::Status& status, bool tried);

/// Logs that so many events were not written before their recorder's end.
void LogDropped(const std::string& component, std::size_t events);

/// Logs that so many events, since the last such line, found the queue full or the recorder
/// stopped; `stopped` says which of both the last one found.
void LogNotTaken(const std::string& component, std::size_t events, bool stopped);

/// One try: a patch, unless `patch` is empty or there is no such event any more; then a create.
template <class E>
apimachinery::Result<E> WriteOnce(EventSink<E>& sink, E& event, const std::string& patch,
                                  const std::stop_token& stop) {
  if (!patch.empty()) {
    auto patched = sink.Patch(event, patch, stop);
    if (patched || patched.error().code != 404) {
      return patched;
    }
  }
  event.metadata.resource_version.clear();
  return sink.Create(event, stop);
}

/// How an event is tried again.
struct Retry {
  /// Waits after the given number of failed tries; false: give up.
  std::function<bool(int tries)> pause{};
  /// An event that is there already although it was not when it was to be patched.
  bool when_exists = false;
};

/// Writes until it succeeds, is refused or was tried kMaxTries times; counts what became of it.
/// kCancelled, not counted, when `stop` was requested: the server may have it or not.
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
