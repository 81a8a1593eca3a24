/// @file
/// Records events of core/v1.
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

/// Writes core/v1 events, thinned out by a Correlator, in order, on a thread of its own. Semantics:
/// client-go's tools/record. When there is no connection an event is tried 12 times, 10 s apart
/// (the first pause is a random part of that), while up to `queue_size` others wait and more are
/// dropped; what the server refuses is given up. Thread-safe.
class CoreRecorder final : public Recorder {
 public:
  using Sink = EventSink<api::core::v1::Event>;

  /// `options.instance` is the event's source.host and reportingInstance; empty by default.
  CoreRecorder(std::shared_ptr<Sink> sink, RecorderOptions options);
  /// Stop.
  ~CoreRecorder() override;
  CoreRecorder(const CoreRecorder&) = delete;
  CoreRecorder& operator=(const CoreRecorder&) = delete;

  /// Never blocks. `occurrence.note` is cut to 1024 bytes. The event's namespace is that of
  /// `regarding`, or "default".
  void Record(Occurrence occurrence) override;

  /// Takes no more events, and tries to write each queued one once. Does not wait for that; the
  /// flush limit of Stop begins now.
  void RequestStop();
  /// Does the same, and returns when it is done, or after RecorderOptions::flush_limit. May be
  /// called again.
  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::events

#endif  // KUBEXX_EVENTS_CORE_RECORDER_H_
