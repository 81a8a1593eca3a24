/// @file
/// RecordedSpans: keeps the spans of a test.
#ifndef KUBEXX_TRACING_TESTING_RECORDED_SPANS_H_
#define KUBEXX_TRACING_TESTING_RECORDED_SPANS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/tracing/span.h"
#include "kubexx/tracing/tracer.h"

namespace kubexx::tracing::testing {

/// Keeps what has ended, in order. Thread-safe.
class RecordedSpans final : public SpanSink {
 public:
  void OnEnd(SpanData span) override;
  std::vector<SpanData> spans() const;
  std::size_t size() const { return spans().size(); }

 private:
  mutable base::Mutex mu_;
  std::vector<SpanData> spans_ KX_GUARDED_BY(mu_);
};

/// A tracer that records everything there, with ids 1, 2, 3 and so on.
std::shared_ptr<Tracer> TracerTo(std::shared_ptr<SpanSink> sink,
                                 base::Clock& clock = base::Clock::Real());

/// The attribute of that name as a text, or "" when there is none.
std::string AttributeOf(const SpanData& span, std::string_view name);

}  // namespace kubexx::tracing::testing

#endif  // KUBEXX_TRACING_TESTING_RECORDED_SPANS_H_
