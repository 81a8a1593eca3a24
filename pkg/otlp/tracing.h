/// @file
/// Tracing: a tracer whose spans go to an OpenTelemetry collector.
#ifndef KUBEXX_OTLP_TRACING_H_
#define KUBEXX_OTLP_TRACING_H_

#include <memory>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/otlp/settings.h"
#include "kubexx/tracing/batch_processor.h"
#include "kubexx/tracing/tracer.h"

namespace kubexx::otlp {

/// Owns the tracer of a program, its queue of ended spans and the thread that exports them. Whoever
/// has the tracer may keep it for longer; then its spans are dropped. Thread-safe. Usage:
///
///     const auto settings = otlp::SettingsFromEnvironment({.service_name = "greeter"});
///     std::unique_ptr<otlp::Tracing> tracing;
///     if (settings && *settings) {
///       auto made = otlp::Tracing::New(**settings);
///       ...
///       tracing = *std::move(made);
///       options.tracer = tracing->tracer();  // of a manager or a RESTClient
///     }
///     ...
///     if (tracing) {
///       tracing->Shutdown(std::chrono::seconds(5));  // at the end of the program
///     }
class Tracing {
 public:
  /// kInvalidConfig for a URL, headers or TLS files that cannot be used. A collector that is away
  /// is no error. `clock` and `registry`, which may be null, must outlive it.
  static apimachinery::Result<std::unique_ptr<Tracing>> New(
      const Settings& settings, metrics::Registry* registry = nullptr,
      base::Clock& clock = base::Clock::Real());

  /// Ends without sending what is queued.
  ~Tracing() { Shutdown({}); }

  const std::shared_ptr<tracing::Tracer>& tracer() const { return tracer_; }

  /// Sends what is queued, for at most `limit`; what ends later is dropped. Blocks.
  void Shutdown(base::Duration limit) { processor_->Shutdown(limit); }

 private:
  explicit Tracing(std::shared_ptr<tracing::BatchProcessor> processor);

  std::shared_ptr<tracing::BatchProcessor> processor_;
  std::shared_ptr<tracing::Tracer> tracer_;
};

}  // namespace kubexx::otlp

#endif  // KUBEXX_OTLP_TRACING_H_
