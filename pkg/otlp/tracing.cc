#include "kubexx/otlp/tracing.h"

#include <span>
#include <stop_token>
#include <utility>

#include "kubexx/otlp/exporter.h"

namespace kubexx::otlp {

using apimachinery::Result;

Tracing::Tracing(std::shared_ptr<tracing::BatchProcessor> processor)
    : processor_(std::move(processor)) {}

Result<std::unique_ptr<Tracing>> Tracing::New(const Settings& settings, metrics::Registry* registry,
                                              base::Clock& clock) {
  KX_ASSIGN_OR_RETURN(std::shared_ptr<Exporter> exporter, Exporter::New(settings, clock));
  tracing::BatchProcessor::Options batches = settings.batches;
  batches.clock = clock;
  batches.registry = registry;
  std::unique_ptr<Tracing> made(new Tracing(std::make_shared<tracing::BatchProcessor>(
      batches, [exporter = std::move(exporter)](std::span<const tracing::SpanData> batch,
                                                const std::stop_token& stop) {
        return exporter->Export(batch, stop);
      })));
  made->tracer_ =
      std::make_shared<tracing::Tracer>(tracing::Tracer::Options{.sampler = settings.sampler,
                                                                 .sink = made->processor_,
                                                                 .propagate = settings.propagate,
                                                                 .clock = clock});
  return made;
}

}  // namespace kubexx::otlp
