/// @file
/// What the two recorders can be told.
#ifndef KUBEXX_EVENTS_RECORDER_OPTIONS_H_
#define KUBEXX_EVENTS_RECORDER_OPTIONS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "kubexx/base/clock.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::events {

/// Settings of either recorder.
struct RecorderOptions {
  /// Who reports, for example "kubexx-reloader": the events' source.component or
  /// reportingController.
  std::string component{};
  /// Which one of several; see the recorder for its default.
  std::string instance{};
  /// Events that wait to be written; more are dropped and counted.
  std::size_t queue_size = 1000;
  /// How long Stop waits for what is queued. What is not written by then is lost; a line in the
  /// log tells how much that is.
  base::Duration flush_limit = std::chrono::seconds(5);
  base::Clock& clock = base::Clock::Real();
  /// For kubexx_events_total; must outlive the recorder.
  metrics::Registry* registry = nullptr;
  /// The seed of the random pauses; 0 takes a random one.
  std::uint64_t seed = 0;
};

}  // namespace kubexx::events

#endif  // KUBEXX_EVENTS_RECORDER_OPTIONS_H_
