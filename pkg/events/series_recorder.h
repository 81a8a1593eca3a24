/// @file
/// Records events of events.k8s.io/v1.
#ifndef KUBEXX_EVENTS_SERIES_RECORDER_H_
#define KUBEXX_EVENTS_SERIES_RECORDER_H_

#include <memory>

#include "kubexx/api/events/v1/types.gen.h"
#include "kubexx/events/event_sink.h"
#include "kubexx/events/recorder.h"
#include "kubexx/events/recorder_options.h"

namespace kubexx::events {

/// Writes events.k8s.io/v1 events, repeated ones as series (SeriesCache), in order, on a thread of
/// its own. Semantics: client-go's tools/events; beyond it the count of a series is also written
/// when the recorder stops. When there is no connection an event is tried 12 times, 10 s apart with
/// up to a quarter more, while up to `queue_size` others wait and more are dropped; what the server
/// refuses is given up. Thread-safe.
class SeriesRecorder final : public Recorder {
 public:
  using Sink = EventSink<api::events::v1::Event>;

  /// `options.instance` is the reportingInstance, "<component>-<host name>" by default.
  SeriesRecorder(std::shared_ptr<Sink> sink, RecorderOptions options);
  /// Stop.
  ~SeriesRecorder() override;
  SeriesRecorder(const SeriesRecorder&) = delete;
  SeriesRecorder& operator=(const SeriesRecorder&) = delete;

  /// Never blocks. `occurrence.note` is cut to 1024 bytes, reason and action to 128. The event's
  /// namespace is that of `regarding`, or "default". `related` counts when events are compared.
  void Record(Occurrence occurrence) override;

  /// Takes no more events, and tries to write each queued one, and each series with something new,
  /// once. Does not wait for that; the flush limit of Stop begins now.
  void RequestStop();
  /// Does the same, and returns when it is done, or after RecorderOptions::flush_limit. May be
  /// called again.
  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::events

#endif  // KUBEXX_EVENTS_SERIES_RECORDER_H_
