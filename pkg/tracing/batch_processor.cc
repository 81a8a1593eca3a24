#include "kubexx/tracing/batch_processor.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "kubexx/apimachinery/thrown_text.h"
#include "kubexx/base/after.h"
#include "kubexx/logging/log.h"

namespace kubexx::tracing {
namespace {

using apimachinery::Result;

metrics::Counter SpanCounter(metrics::Registry* registry, const char* result) {
  return registry == nullptr
             ? metrics::Counter()
             : registry->Counter("tracing_spans_total",
                                 "Ended spans by what became of them: exported, dropped because "
                                 "the queue was full or the program ended, or failed to export.",
                                 {{"result", result}});
}

}  // namespace

BatchProcessor::BatchProcessor(Options options, Export send)
    : options_([&options] {
        options.max_queue = std::max<std::size_t>(options.max_queue, 1);
        options.max_batch = std::clamp<std::size_t>(options.max_batch, 1, options.max_queue);
        return options;
      }()),
      send_(std::move(send)),
      counters_{.exported = SpanCounter(options_.registry, "exported"),
                .queue_full = SpanCounter(options_.registry, "queue_full"),
                .failed = SpanCounter(options_.registry, "failed"),
                .too_late = SpanCounter(options_.registry, "too_late")},
      reports_(options_.clock),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

BatchProcessor::~BatchProcessor() = default;

void BatchProcessor::OnEnd(SpanData span) {
  const base::MutexLock lock(mu_);
  if (closing_) {
    return;  // the program ends, and perhaps the registry is gone
  }
  if (queue_.size() >= options_.max_queue) {
    counters_.queue_full.Increment();
    return;
  }
  queue_.push_back(std::move(span));
  // The thread waits for the first span, and for a full batch.
  if (queue_.size() == 1 || queue_.size() == options_.max_batch) {
    changed_.notify_all();
  }
}

void BatchProcessor::Shutdown(base::Duration limit) {
  const base::TimePoint deadline = base::After(options_.clock.Now(), limit);
  {
    const base::MutexLock lock(mu_);
    closing_ = true;
    changed_.notify_all();
    while (!ended_) {
      if (options_.clock.WaitUntil(mu_, changed_, {}, deadline) == base::Wake::kTimeout) {
        break;
      }
    }
  }
  thread_.request_stop();
  if (thread_.joinable()) {
    thread_.join();
  }
  const base::MutexLock lock(mu_);
  counters_.too_late.Increment(static_cast<double>(queue_.size()));
  queue_.clear();
}

std::vector<SpanData> BatchProcessor::TakeBatch(const std::stop_token& stop) {
  const base::MutexLock lock(mu_);
  while (queue_.empty() && !closing_ && !stop.stop_requested()) {
    (void)options_.clock.WaitUntil(mu_, changed_, stop, base::TimePoint::max());
  }
  const base::TimePoint due = base::After(options_.clock.Now(), options_.delay);
  while (queue_.size() < options_.max_batch && !closing_ && !stop.stop_requested()) {
    if (options_.clock.WaitUntil(mu_, changed_, stop, due) == base::Wake::kTimeout) {
      break;
    }
  }
  if (stop.stop_requested()) {
    return {};
  }
  const auto end =
      queue_.begin() + static_cast<std::ptrdiff_t>(std::min(queue_.size(), options_.max_batch));
  std::vector<SpanData> batch(std::make_move_iterator(queue_.begin()),
                              std::make_move_iterator(end));
  queue_.erase(queue_.begin(), end);
  return batch;
}

void BatchProcessor::Send(const std::vector<SpanData>& batch, const std::stop_token& stop) {
  Result<void> sent;
  try {
    sent = send_(batch, stop);
  } catch (...) {
    sent = apimachinery::Fail(apimachinery::Reason::kInternalError,
                              "the exporter threw: " + apimachinery::ThrownText());
  }
  const auto count = static_cast<double>(batch.size());
  if (sent) {
    counters_.exported.Increment(count);
    return;
  }
  counters_.failed.Increment(count);
  if (const auto left_out = reports_.Admit(); left_out && !stop.stop_requested()) {
    logging::Warning("Spans were dropped because they could not be exported",
                     {{"spans", batch.size()}, {"error", sent.error()}, {"others", *left_out}});
  }
}

void BatchProcessor::Run(const std::stop_token& stop) {
  for (auto batch = TakeBatch(stop); !batch.empty(); batch = TakeBatch(stop)) {
    Send(batch, stop);
  }
  const base::MutexLock lock(mu_);
  ended_ = true;
  changed_.notify_all();
}

}  // namespace kubexx::tracing
