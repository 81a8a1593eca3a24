/// @file
/// Sampler: decides which traces are recorded.
#ifndef KUBEXX_TRACING_SAMPLER_H_
#define KUBEXX_TRACING_SAMPLER_H_

#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/tracing/span_context.h"

namespace kubexx::tracing {

/// A value type. Semantics: OpenTelemetry's samplers always_on, always_off and traceidratio, each
/// also with parentbased_ in front.
struct Sampler {
  /// Whether a span with a parent is recorded exactly when its parent is.
  bool parent_based = true;
  /// The share of other traces, from 0 to 1. The trace's id decides, so that programs with the same
  /// ratio record the same traces.
  double ratio = 1;

  /// Whether a span of this trace, and with this parent, is recorded.
  bool Samples(const SpanContext& parent, const TraceId& trace) const;

  friend bool operator==(const Sampler&, const Sampler&) = default;
};

/// Reads OpenTelemetry's OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG, of which the second one
/// is only for ratios and is 1 when empty. An empty name is the default, parentbased_always_on.
/// kInvalidConfig names the texts that are possible.
apimachinery::Result<Sampler> ParseSampler(std::string_view name, std::string_view argument);

}  // namespace kubexx::tracing

#endif  // KUBEXX_TRACING_SAMPLER_H_
