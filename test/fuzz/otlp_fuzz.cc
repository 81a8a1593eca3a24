// What collectors answer to spans, and headers traceparent of other programs.

#include <string_view>

#include "fuzz.h"
#include "kubexx/otlp/trace_message.h"
#include "kubexx/tracing/span_context.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kubexx;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto partial = otlp::DecodePartialSuccess(bytes)) {
    fuzz::Require(partial->message.size() <= 200);
  }
  if (const auto context = tracing::ParseTraceParent(bytes)) {
    fuzz::Require(context->IsValid());
    fuzz::Require(tracing::ParseTraceParent(tracing::TraceParentOf(*context)) == context);
  }
  return 0;
}
