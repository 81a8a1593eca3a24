/// @file
/// Tracer: starts spans.
#ifndef KUBEXX_TRACING_TRACER_H_
#define KUBEXX_TRACING_TRACER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "kubexx/base/clock.h"
#include "kubexx/tracing/sampler.h"
#include "kubexx/tracing/span.h"
#include "kubexx/tracing/span_context.h"

namespace kubexx::tracing {

/// Starts spans, decides which traces are recorded, and passes ended spans on. Thread-safe; shared
/// by everything that is to be in one trace. Semantics: OpenTelemetry's Tracer.
class Tracer {
 public:
  /// The settings of a tracer.
  struct Options {
    Sampler sampler = Sampler();
    /// Gets the spans that are recorded; null: none are.
    std::shared_ptr<SpanSink> sink{};
    /// Whether other processes are told of the spans by the header traceparent.
    bool propagate = true;
    base::Clock& clock = base::Clock::Real();
    /// Returns 64 random bits; may be called by several threads at once. Empty: random numbers.
    std::function<std::uint64_t()> random{};
  };

  explicit Tracer(Options options);
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;
  ~Tracer();

  /// Starts a span. A `parent` that is not valid begins a new trace. The span may outlive the
  /// tracer.
  Span Start(std::string_view name, SpanKind kind = SpanKind::kInternal,
             const SpanContext& parent = Current());

  /// See Options::propagate.
  bool propagates() const;

 private:
  friend class Span;
  struct Shared;
  const std::shared_ptr<const Shared> shared_;
};

/// Starts a span of `tracer`, or none when it is null.
Span StartSpan(const std::shared_ptr<Tracer>& tracer, std::string_view name,
               SpanKind kind = SpanKind::kInternal, const SpanContext& parent = Current());

}  // namespace kubexx::tracing

#endif  // KUBEXX_TRACING_TRACER_H_
