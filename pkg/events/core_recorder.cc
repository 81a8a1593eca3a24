#include "kubexx/events/core_recorder.h"

#include <random>
#include <stop_token>
#include <utility>

#include "kubexx/apimachinery/time.h"
#include "kubexx/base/utf8.h"
#include "kubexx/events/event_text.h"
#include "kubexx/events/events_metrics.h"
#include "kubexx/events/internal/correlator.h"
#include "kubexx/events/internal/delivery.h"
#include "kubexx/events/internal/name_source.h"
#include "kubexx/events/internal/pipeline.h"

namespace kubexx::events {

class CoreRecorder::Impl {
 public:
  using Event = api::core::v1::Event;

  Impl(std::shared_ptr<Sink> sink, RecorderOptions options)
      : sink_(std::move(sink)),
        options_(std::move(options)),
        metrics_(options_.registry != nullptr ? EventsMetrics(*options_.registry, "core")
                                              : EventsMetrics()),
        random_(options_.seed != 0 ? options_.seed : std::random_device{}()),
        correlator_(options_.clock),
        pipeline_({.clock = options_.clock,
                   .capacity = options_.queue_size,
                   .dropped = metrics_.dropped,
                   .component = options_.component,
                   .executor = options_.executor},
                  {.process = [this](Event&& event, const std::stop_token& stop) {
                    Process(std::move(event), stop);
                  }}) {}

  void Record(Occurrence&& occurrence) {
    const base::WallTime now = options_.clock.Wall();
    Event event;
    event.metadata.name = names_.Next(occurrence.regarding.name, now);
    event.metadata.namespace_ =
        occurrence.regarding.namespace_.empty() ? "default" : occurrence.regarding.namespace_;
    event.metadata.annotations = std::move(occurrence.annotations);
    event.involved_object = std::move(occurrence.regarding);
    if (occurrence.related) {
      event.related = *std::move(occurrence.related);
    }
    event.type = occurrence.type == EventType::kWarning ? "Warning" : "Normal";
    event.reason = base::CutUtf8(occurrence.reason, kMaxReasonBytes);
    event.action = base::CutUtf8(occurrence.action, kMaxReasonBytes);
    event.message = base::CutUtf8(occurrence.note, kMaxNoteBytes);
    event.first_timestamp = apimachinery::Time::From(now);
    event.last_timestamp = event.first_timestamp;
    event.count = 1;
    event.source.component = options_.component;
    event.source.host = options_.instance;
    event.reporting_component = options_.component;
    event.reporting_instance = options_.instance;
    pipeline_.Put(std::move(event));
  }

  void RequestStop() { pipeline_.Close(options_.flush_limit); }
  void Stop() { pipeline_.Stop(options_.flush_limit); }

 private:
  void Process(Event&& event, const std::stop_token& stop) {
    auto write = correlator_.Correlate(std::move(event));
    if (!write) {
      metrics_.filtered.Increment();
      return;
    }
    const internal::Retry retry{.pause = [this, &stop](int tries) {
      // The first pause differs between clients, so that they do not all come at once when a server
      // is back.
      const double part = tries == 1 ? std::uniform_real_distribution<double>(0, 1)(random_) : 1;
      return pipeline_.Pause(
          std::chrono::duration_cast<base::Duration>(internal::kRetryPause * part), stop);
    }};
    const auto stored =
        internal::Deliver(*sink_, std::move(write->event), write->patch, retry, metrics_, stop);
    if (stored) {
      correlator_.Stored(*stored);
    } else if (stored.error().reason == apimachinery::Reason::kCancelled) {
      pipeline_.GaveUp();
    }
  }

  const std::shared_ptr<Sink> sink_;
  const RecorderOptions options_;
  const EventsMetrics metrics_;
  internal::NameSource names_;
  std::mt19937_64 random_;              // Used by the pipeline's steps only,
  Correlator correlator_;               // and so is this.
  internal::Pipeline<Event> pipeline_;  // Last: its steps use all of the above.
};

CoreRecorder::CoreRecorder(std::shared_ptr<Sink> sink, RecorderOptions options)
    : impl_(std::make_unique<Impl>(std::move(sink), std::move(options))) {}
CoreRecorder::~CoreRecorder() { impl_->Stop(); }
void CoreRecorder::Record(Occurrence occurrence) { impl_->Record(std::move(occurrence)); }
void CoreRecorder::RequestStop() { impl_->RequestStop(); }
void CoreRecorder::Stop() { impl_->Stop(); }

}  // namespace kubexx::events
