/// @file
/// BatchProcessor: collects spans and exports them in batches, on a thread of its own.
#ifndef KUBEXX_TRACING_BATCH_PROCESSOR_H_
#define KUBEXX_TRACING_BATCH_PROCESSOR_H_

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/report_limit.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/tracing/span.h"

namespace kubexx::tracing {

/// Keeps at most a queue of spans and one batch, whatever becomes of the exports: when the queue is
/// full, further spans are dropped and counted. So nobody who ends a span waits for the network.
/// Thread-safe. Semantics: OpenTelemetry's BatchSpanProcessor.
class BatchProcessor final : public SpanSink {
 public:
  /// The settings; see OTEL_BSP_* in OpenTelemetry.
  struct Options {
    std::size_t max_queue = 2048;
    std::size_t max_batch = 512;  ///< not more than max_queue
    /// How long a span waits for others at most. A full batch goes at once.
    base::Duration delay = std::chrono::seconds(5);
    base::Clock& clock = base::Clock::Real();
    /// When set, tracing_spans_total is recorded here; must outlive the processor.
    metrics::Registry* registry = nullptr;
  };
  /// Sends a batch, or says why it could not. Must return soon after the stop is requested. Called
  /// on the processor's thread only.
  using Export = std::function<apimachinery::Result<void>(std::span<const SpanData> batch,
                                                          const std::stop_token& stop)>;

  BatchProcessor(Options options, Export send);
  BatchProcessor(const BatchProcessor&) = delete;
  BatchProcessor& operator=(const BatchProcessor&) = delete;
  /// Ends an export that is under way. Spans that are still queued are lost; see Shutdown.
  ~BatchProcessor() override;

  void OnEnd(SpanData span) override;

  /// Exports what is queued, for at most `limit`, and ends the thread. Later spans are dropped, and
  /// not counted. Blocks. For the end of a program, and not for several threads at once.
  void Shutdown(base::Duration limit);

 private:
  struct Counters {
    metrics::Counter exported{};
    metrics::Counter queue_full{};
    metrics::Counter failed{};
    metrics::Counter too_late{};
  };

  void Run(const std::stop_token& stop);
  /// Waits for a batch. Empty when there will be none.
  std::vector<SpanData> TakeBatch(const std::stop_token& stop);
  void Send(const std::vector<SpanData>& batch, const std::stop_token& stop);

  const Options options_;
  const Export send_;
  const Counters counters_;
  base::ReportLimit reports_;
  base::Mutex mu_;
  base::CondVar changed_;
  std::deque<SpanData> queue_ KX_GUARDED_BY(mu_);
  bool closing_ KX_GUARDED_BY(mu_) = false;  ///< nothing is added any more
  bool ended_ KX_GUARDED_BY(mu_) = false;    ///< the thread has no more to do
  std::jthread thread_;                      ///< last: it uses all of the above
};

}  // namespace kubexx::tracing

#endif  // KUBEXX_TRACING_BATCH_PROCESSOR_H_
