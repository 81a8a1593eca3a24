/// @file
/// Settings of CoreRecorder and SeriesRecorder.
#ifndef KUBEXX_EVENTS_RECORDER_OPTIONS_H_
#define KUBEXX_EVENTS_RECORDER_OPTIONS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "kubexx/base/clock.h"
#include "kubexx/base/executor/executor.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::events {

/// Settings of either recorder.
struct RecorderOptions {
  /// The component that reports, for example "kubexx-reloader". It becomes source.component or
  /// reportingController of the events.
  std::string component{};
  /// The instance of the component, if there are several; see the recorder for the default.
  std::string instance{};
  /// How many events may wait to be written; further ones are dropped and counted.
  std::size_t queue_size = 1000;
  /// How long Stop waits for the queued events. Those that are not written by then are lost, and a
  /// line in the log says how many.
  base::Duration flush_limit = std::chrono::seconds(5);
  base::Clock& clock = base::Clock::Real();
  /// If set, kubexx_events_total is recorded here; must outlive the recorder.
  metrics::Registry* registry = nullptr;
  /// The seed of the random pauses; 0 means a random seed.
  std::uint64_t seed = 0;
  /// Its threads write the Events. A recorder that is written to seldom then has no thread that
  /// sleeps. Null: the recorder has a thread of its own.
  std::shared_ptr<base::Executor> executor{};
};

}  // namespace kubexx::events

#endif  // KUBEXX_EVENTS_RECORDER_OPTIONS_H_
