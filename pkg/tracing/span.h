/// @file
/// Span: one piece of work in a trace, for example a request or a reconcile.
#ifndef KUBEXX_TRACING_SPAN_H_
#define KUBEXX_TRACING_SPAN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/tracing/span_context.h"

namespace kubexx::tracing {

/// What a span is to others, with OpenTelemetry's numbers.
enum class SpanKind : std::uint8_t { kInternal = 1, kServer = 2, kClient = 3 };

/// The value of an attribute of a span: a text, a number, or true or false.
using AttributeValue = std::variant<std::string, std::int64_t, bool>;

/// Limits of what a span holds. What is longer is cut, what is more is left out.
struct SpanLimits {
  static constexpr std::size_t kAttributes = 64;
  static constexpr std::size_t kTextBytes = 1024;  ///< of a name, a value or an error
};

/// A span that has ended. A value type.
struct SpanData {
  SpanContext context{};
  SpanId parent{};  ///< all zero: the first span of its trace
  std::string name{};
  SpanKind kind = SpanKind::kInternal;
  base::WallTime start{};
  base::WallTime end{};
  std::vector<std::pair<std::string, AttributeValue>> attributes{};
  std::optional<std::string> error{};  ///< why the work failed
};

/// Takes the spans that have ended.
class SpanSink {
 public:
  virtual ~SpanSink() = default;
  /// Called on the thread that ends a span. It must not block, and must not throw. Thread-safe.
  virtual void OnEnd(SpanData span) = 0;
};

/// A span that is under way. It ends with the object, or before it by End. Where there is no tracer
/// and where the trace is not sampled, all functions do nothing. Not thread-safe, but it may be
/// passed from one thread to another. Made by Tracer::Start.
class Span {
 public:
  /// No span.
  Span();
  Span(Span&&) noexcept;
  Span& operator=(Span&&) noexcept;
  ~Span();

  /// The parent of further spans; not valid for a default-constructed Span.
  const SpanContext& context() const;
  /// Whether attributes are kept. What is costly to find out may be left out otherwise.
  bool is_recording() const;

  /// Sets or replaces an attribute; OpenTelemetry's semantic conventions have names.
  void Set(std::string_view name, AttributeValue value);
  /// Says that the work has failed, and why. It must not be a secret.
  void Fail(std::string_view why);
  /// Ends the span now.
  void End();

 private:
  friend class Tracer;
  struct State;
  explicit Span(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Makes a span the parent of those that this thread starts, until the Scope ends. Scopes of a
/// thread end in the reverse order of their beginning. Not to be passed to another thread; what
/// begins work there makes a Scope of the context there.
class Scope {
 public:
  explicit Scope(const Span& span) : Scope(span.context()) {}
  explicit Scope(SpanContext context);
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope();

 private:
  const SpanContext context_;
  const SpanContext* const before_;
};

/// The context of this thread's innermost Scope; not valid when there is none.
const SpanContext& Current();

}  // namespace kubexx::tracing

#endif  // KUBEXX_TRACING_SPAN_H_
