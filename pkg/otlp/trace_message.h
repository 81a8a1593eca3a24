/// @file
/// The messages of the OpenTelemetry protocol (OTLP) for traces.
#ifndef KUBEXX_OTLP_TRACE_MESSAGE_H_
#define KUBEXX_OTLP_TRACE_MESSAGE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/tracing/span.h"

namespace kubexx::otlp {

/// Names and values of the attributes of everything that a process sends, such as service.name.
using Resource = std::vector<std::pair<std::string, tracing::AttributeValue>>;

/// Encodes an ExportTraceServiceRequest (opentelemetry.proto.collector.trace.v1) as protobuf.
std::string EncodeTraces(const Resource& resource, std::span<const tracing::SpanData> spans);

/// What a collector did not take of a request that it has answered with 200.
struct PartialSuccess {
  std::int64_t rejected_spans = 0;
  std::string message{};  ///< printable, and cut after 200 bytes
};

/// Reads an ExportTraceServiceResponse. std::nullopt when it is not one; all of a request was taken
/// when there is neither a number nor a message. The bytes may be anything.
std::optional<PartialSuccess> DecodePartialSuccess(std::string_view bytes);

}  // namespace kubexx::otlp

#endif  // KUBEXX_OTLP_TRACE_MESSAGE_H_
