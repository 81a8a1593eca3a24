#include "kubexx/tracing/testing/recorded_spans.h"

#include <atomic>
#include <cstdint>
#include <utility>
#include <variant>

namespace kubexx::tracing::testing {

void RecordedSpans::OnEnd(SpanData span) {
  const base::MutexLock lock(mu_);
  spans_.push_back(std::move(span));
}

std::vector<SpanData> RecordedSpans::spans() const {
  const base::MutexLock lock(mu_);
  return spans_;
}

std::shared_ptr<Tracer> TracerTo(std::shared_ptr<SpanSink> sink, base::Clock& clock) {
  const auto next = std::make_shared<std::atomic<std::uint64_t>>(0);
  return std::make_shared<Tracer>(Tracer::Options{
      .sink = std::move(sink), .clock = clock, .random = [next] { return ++*next; }});
}

std::string AttributeOf(const SpanData& span, std::string_view name) {
  for (const auto& [key, value] : span.attributes) {
    if (key != name) {
      continue;
    }
    if (const auto* text = std::get_if<std::string>(&value)) {
      return *text;
    }
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      return std::to_string(*number);
    }
    return std::get<bool>(value) ? "true" : "false";
  }
  return {};
}

}  // namespace kubexx::tracing::testing
