/// @file
/// CoreRecorder: records events of core/v1.
#ifndef KUBEXX_EVENTS_CORE_RECORDER_H_
#define KUBEXX_EVENTS_CORE_RECORDER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/events/event_sink.h"
#include "kubexx/events/recorder.h"
#include "kubexx/events/recorder_options.h"

namespace kubexx::events {

/// Writes core/v1 events in order, as a task of its executor, after a Correlator has reduced their
/// number. Semantics: client-go's tools/record. Without a connection an event is tried 12 times, 10
/// s apart (the first pause is a random part of that). Meanwhile up to `queue_size` other events
/// wait, and further ones are dropped. An event that the server refuses is given up. Thread-safe.
class CoreRecorder final : public Recorder {
 public:
  using Sink = EventSink<api::core::v1::Event>;

  /// `options.instance` is the event's source.host and reportingInstance; empty by default.
  CoreRecorder(std::shared_ptr<Sink> sink, RecorderOptions options);
  /// Calls Stop.
  ~CoreRecorder() override;
  CoreRecorder(const CoreRecorder&) = delete;
  CoreRecorder& operator=(const CoreRecorder&) = delete;

  /// Queues an event and never blocks. `occurrence.note` is cut to 1024 bytes. The event's
  /// namespace is that of `regarding`, or "default".
  void Record(Occurrence occurrence) override;

  /// From now on the recorder takes no more events, and tries to write each queued one once. Does
  /// not wait for that. The flush limit of Stop begins now.
  void RequestStop();
  /// Does the same as RequestStop, and returns when the queued events are written, or after
  /// RecorderOptions::flush_limit. May be called again.
  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::events

#endif  // KUBEXX_EVENTS_CORE_RECORDER_H_
