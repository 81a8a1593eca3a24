#include "kubexx/events/series_recorder.h"

#include <algorithm>
#include <random>
#include <stop_token>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/time.h"
#include "kubexx/base/identity.h"
#include "kubexx/base/utf8.h"
#include "kubexx/events/event_text.h"
#include "kubexx/events/events_metrics.h"
#include "kubexx/events/internal/delivery.h"
#include "kubexx/events/internal/name_source.h"
#include "kubexx/events/internal/pipeline.h"
#include "kubexx/events/internal/series_cache.h"

namespace kubexx::events {
namespace {

/// The pauses are 10 s and up to this part more.
constexpr double kJitter = 0.25;

RecorderOptions WithInstance(RecorderOptions options) {
  if (options.instance.empty()) {
    options.instance = options.component + "-" + base::HostName();
  }
  options.instance = base::CutUtf8(options.instance, kMaxReasonBytes);
  return options;
}

}  // namespace

class SeriesRecorder::Impl {
 public:
  using Event = api::events::v1::Event;

  Impl(std::shared_ptr<Sink> sink, RecorderOptions options)
      : sink_(std::move(sink)),
        options_(WithInstance(std::move(options))),
        metrics_(options_.registry != nullptr ? EventsMetrics(*options_.registry, "events.k8s.io")
                                              : EventsMetrics()),
        random_(options_.seed != 0 ? options_.seed : std::random_device{}()),
        cache_(options_.clock),
        refresh_at_(options_.clock.Now() + SeriesCache::kRefresh),
        close_at_(options_.clock.Now() + SeriesCache::kIdle),
        pipeline_(
            {.clock = options_.clock,
             .capacity = options_.queue_size,
             .dropped = metrics_.dropped,
             .component = options_.component,
             .executor = options_.executor},
            {.process = [this](Event&& event,
                               const std::stop_token& stop) { Process(std::move(event), stop); },
             .maintain = [this](const std::stop_token& stop) { return Maintain(stop); },
             .flush = [this](const std::stop_token& stop) { Flush(stop); }}) {}

  void Record(Occurrence&& occurrence) {
    const base::WallTime now = options_.clock.Wall();
    Event event;
    event.metadata.name = names_.Next(occurrence.regarding.name, now);
    event.metadata.namespace_ =
        occurrence.regarding.namespace_.empty() ? "default" : occurrence.regarding.namespace_;
    event.metadata.annotations = std::move(occurrence.annotations);
    event.event_time = apimachinery::MicroTime::From(now);
    event.reporting_controller = options_.component;
    event.reporting_instance = options_.instance;
    event.reason = base::CutUtf8(occurrence.reason, kMaxReasonBytes);
    // The API requires one.
    event.action = occurrence.action.empty() ? event.reason
                                             : base::CutUtf8(occurrence.action, kMaxReasonBytes);
    event.regarding = std::move(occurrence.regarding);
    if (occurrence.related) {
      event.related = *std::move(occurrence.related);
    }
    event.note = base::CutUtf8(occurrence.note, kMaxNoteBytes);
    event.type = occurrence.type == EventType::kWarning ? "Warning" : "Normal";
    pipeline_.Put(std::move(event));
  }

  void RequestStop() { pipeline_.Close(options_.flush_limit); }
  void Stop() { pipeline_.Stop(options_.flush_limit); }

 private:
  static std::string PatchOf(const Event& event) {
    return event.series ? SeriesPatch(event) : std::string();
  }

  void Process(Event&& event, const std::stop_token& stop) {
    const auto pause = [this, &stop](int /*tries*/) {
      const double factor = 1 + std::uniform_real_distribution<double>(0, kJitter)(random_);
      return pipeline_.Pause(
          std::chrono::duration_cast<base::Duration>(internal::kRetryPause * factor), stop);
    };
    std::vector<Event> writes = cache_.Observe(std::move(event));
    if (writes.empty()) {
      metrics_.counted.Increment();
    }
    for (Event& write : writes) {
      const std::string patch = PatchOf(write);
      const internal::Retry retry{.pause = pause, .when_exists = !patch.empty()};
      const Event given = write;
      const auto stored = internal::Deliver(*sink_, std::move(write), patch, retry, metrics_, stop);
      if (!stored && stored.error().reason == apimachinery::Reason::kCancelled) {
        pipeline_.GaveUp();
      } else if (!stored && internal::MayRetry(stored.error())) {
        cache_.NotWritten(given);
      }
    }
  }

  /// Tries once; whether it need not be tried again.
  bool WriteOnce(Event event, const std::stop_token& stop) {
    const std::string patch = PatchOf(event);
    const auto stored = internal::WriteOnce(*sink_, event, patch, stop);
    if (stored) {
      metrics_.written.Increment();
      return true;
    }
    if (stored.error().reason == apimachinery::Reason::kCancelled) {
      return false;
    }
    const bool again = internal::MayRetry(stored.error());
    (again ? metrics_.failed : metrics_.refused).Increment();
    internal::LogLost(event.metadata.namespace_, event.metadata.name, event.reason, stored.error(),
                      again);
    return !again;
  }

  base::TimePoint Maintain(const std::stop_token& stop) {
    const base::TimePoint now = options_.clock.Now();
    if (now >= refresh_at_) {
      refresh_at_ = now + SeriesCache::kRefresh;
      for (const Event& event : cache_.Series()) {
        if (!WriteOnce(event, stop)) {
          cache_.NotWritten(event);
        }
      }
    }
    if (now >= close_at_) {
      close_at_ = now + SeriesCache::kIdle;
      for (Event& event : cache_.Close()) {
        if (!WriteOnce(event, stop)) {
          cache_.Restore(std::move(event));
        }
      }
    }
    return std::min(refresh_at_, close_at_);
  }

  void Flush(const std::stop_token& stop) {
    for (Event& event : cache_.Unwritten()) {
      const bool late = stop.stop_requested();
      if (late || (!WriteOnce(std::move(event), stop) && stop.stop_requested())) {
        pipeline_.GaveUp();
      }
    }
  }

  const std::shared_ptr<Sink> sink_;
  const RecorderOptions options_;
  const EventsMetrics metrics_;
  internal::NameSource names_;
  std::mt19937_64 random_;  // This and what follows is used by the pipeline's steps only.
  SeriesCache cache_;
  base::TimePoint refresh_at_;
  base::TimePoint close_at_;
  internal::Pipeline<Event> pipeline_;  // Last: its steps use all of the above.
};

SeriesRecorder::SeriesRecorder(std::shared_ptr<Sink> sink, RecorderOptions options)
    : impl_(std::make_unique<Impl>(std::move(sink), std::move(options))) {}
SeriesRecorder::~SeriesRecorder() { impl_->Stop(); }
void SeriesRecorder::Record(Occurrence occurrence) { impl_->Record(std::move(occurrence)); }
void SeriesRecorder::RequestStop() { impl_->RequestStop(); }
void SeriesRecorder::Stop() { impl_->Stop(); }

}  // namespace kubexx::events
