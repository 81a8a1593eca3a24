/// @file
/// SpanContext: what identifies a span, also in other processes.
#ifndef KUBEXX_TRACING_SPAN_CONTEXT_H_
#define KUBEXX_TRACING_SPAN_CONTEXT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kubexx::tracing {

/// The bytes of a trace's id; all zero: none. Logs and traceparent have it as base::ToHex gives it.
using TraceId = std::array<std::uint8_t, 16>;
/// The bytes of a span's id; all zero: none. Its text is that of base::ToHex, too.
using SpanId = std::array<std::uint8_t, 8>;

/// What a span tells its children, in this process and in others. A value type. Semantics:
/// OpenTelemetry's SpanContext, and the W3C recommendation Trace Context.
struct SpanContext {
  TraceId trace{};
  SpanId span{};
  bool sampled = false;  ///< whether the span is recorded
  std::string state{};   ///< the header tracestate, as it came from elsewhere; see TraceStateOf

  /// Whether both ids are there. A context without them is no parent.
  bool IsValid() const;

  friend bool operator==(const SpanContext&, const SpanContext&) = default;
};

/// Returns the value of the header traceparent (version 00) for a context that IsValid.
std::string TraceParentOf(const SpanContext& context);

/// Returns the value of the header tracestate, or "" when the context has none that can be sent on:
/// it has other characters than printable ASCII, more than 512 of them, or more than 32 members.
std::string TraceStateOf(const SpanContext& context);

/// Reads the value of a header traceparent, of version 00 or of a later one that begins in the same
/// way. std::nullopt when it is malformed, so that a trace begins anew.
std::optional<SpanContext> ParseTraceParent(std::string_view header);

}  // namespace kubexx::tracing

#endif  // KUBEXX_TRACING_SPAN_CONTEXT_H_
