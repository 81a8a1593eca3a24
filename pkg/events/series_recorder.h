/// @file
/// SeriesRecorder: records events of events.k8s.io/v1.
#ifndef KUBEXX_EVENTS_SERIES_RECORDER_H_
#define KUBEXX_EVENTS_SERIES_RECORDER_H_

#include <memory>

#include "kubexx/api/events/v1/types.gen.h"
#include "kubexx/events/event_sink.h"
#include "kubexx/events/recorder.h"
#include "kubexx/events/recorder_options.h"

namespace kubexx::events {

/// Writes events.k8s.io/v1 events in order, as a task of its executor; repeated events become a
/// series (see SeriesCache). Semantics: client-go's tools/events. Unlike client-go, it also writes
/// the counts of series when it stops. Without a connection an event is tried 12 times, at
/// intervals of 10 s and up to a quarter more. Meanwhile up to `queue_size` other events wait, and
/// further ones are dropped. An event that the server refuses is given up. Thread-safe.
class SeriesRecorder final : public Recorder {
 public:
  using Sink = EventSink<api::events::v1::Event>;

  /// `options.instance` is the reportingInstance, "<component>-<host name>" by default.
  SeriesRecorder(std::shared_ptr<Sink> sink, RecorderOptions options);
  /// Calls Stop.
  ~SeriesRecorder() override;
  SeriesRecorder(const SeriesRecorder&) = delete;
  SeriesRecorder& operator=(const SeriesRecorder&) = delete;

  /// Queues an event and never blocks. `occurrence.note` is cut to 1024 bytes, the reason and
  /// action to 128. The event's namespace is that of `regarding`, or "default". Events with
  /// different `related` objects are different events.
  void Record(Occurrence occurrence) override;

  /// From now on the recorder takes no more events, and tries once to write each queued event and
  /// each series whose count has changed. Does not wait for that. The flush limit of Stop begins
  /// now.
  void RequestStop();
  /// Does the same as RequestStop, and returns when everything is written, or after
  /// RecorderOptions::flush_limit. May be called again.
  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::events

#endif  // KUBEXX_EVENTS_SERIES_RECORDER_H_
