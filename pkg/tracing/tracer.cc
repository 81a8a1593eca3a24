#include "kubexx/tracing/tracer.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <utility>

#include "kubexx/base/mutex.h"
#include "kubexx/base/utf8.h"

namespace kubexx::tracing {
namespace {

// Random numbers for ids, which are no secrets.
class IdSource {
 public:
  std::uint64_t Next() {
    const base::MutexLock lock(mu_);
    return engine_();
  }

 private:
  static std::mt19937_64 Seeded() {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }

  base::Mutex mu_;
  std::mt19937_64 engine_ KX_GUARDED_BY(mu_){Seeded()};
};

void FillFrom(std::uint64_t number, std::span<std::uint8_t> out) {
  for (std::size_t i = out.size(); i-- > 0; number >>= 8) {
    out[i] = static_cast<std::uint8_t>(number);
  }
}

std::string CutText(std::string_view text) { return base::CutUtf8(text, SpanLimits::kTextBytes); }

const SpanContext kNoContext{};

thread_local const SpanContext* current_context = nullptr;

}  // namespace

struct Tracer::Shared {
  Options options;

  std::uint64_t Random() const {
    // Zero stands for no id.
    return std::max<std::uint64_t>(options.random(), 1);
  }
};

struct Span::State {
  std::shared_ptr<const Tracer::Shared> tracer{};
  SpanData data{};
  base::TimePoint began{};
};

Span::Span() = default;
Span::Span(std::unique_ptr<State> state) : state_(std::move(state)) {}
Span::Span(Span&&) noexcept = default;

Span& Span::operator=(Span&& other) noexcept {
  End();
  state_ = std::move(other.state_);
  return *this;
}

Span::~Span() { End(); }

const SpanContext& Span::context() const { return state_ ? state_->data.context : kNoContext; }

bool Span::is_recording() const { return state_ && state_->tracer; }

void Span::Set(std::string_view name, AttributeValue value) {
  if (!is_recording()) {
    return;
  }
  if (auto* text = std::get_if<std::string>(&value)) {
    *text = CutText(*text);
  }
  auto& attributes = state_->data.attributes;
  const auto found =
      std::ranges::find(attributes, name, [](const auto& each) { return each.first; });
  if (found != attributes.end()) {
    found->second = std::move(value);
  } else if (attributes.size() < SpanLimits::kAttributes) {
    attributes.emplace_back(CutText(name), std::move(value));
  }
}

void Span::Fail(std::string_view why) {
  if (is_recording()) {
    state_->data.error = CutText(why);
  }
}

void Span::End() {
  if (!is_recording()) {
    return;
  }
  // The context stays, for whoever asks for it after the end.
  const std::shared_ptr<const Tracer::Shared> tracer = std::exchange(state_->tracer, nullptr);
  SpanData data = std::exchange(state_->data, SpanData{.context = state_->data.context});
  // The time of day may jump while the work goes on.
  data.end = data.start + std::chrono::duration_cast<base::WallTime::duration>(
                              tracer->options.clock.Now() - state_->began);
  tracer->options.sink->OnEnd(std::move(data));
}

Scope::Scope(SpanContext context) : context_(std::move(context)), before_(current_context) {
  current_context = &context_;
}

Scope::~Scope() { current_context = before_; }

const SpanContext& Current() { return current_context == nullptr ? kNoContext : *current_context; }

Tracer::Tracer(Options options)
    : shared_([&options] {
        if (!options.random) {
          options.random = [ids = std::make_shared<IdSource>()] { return ids->Next(); };
        }
        return std::make_shared<const Shared>(Shared{.options = std::move(options)});
      }()) {}

Tracer::~Tracer() = default;

Span Tracer::Start(std::string_view name, SpanKind kind, const SpanContext& parent) {
  auto state = std::make_unique<Span::State>();
  SpanContext& context = state->data.context;
  if (parent.IsValid()) {
    context.trace = parent.trace;
    context.state = parent.state;
    state->data.parent = parent.span;
  } else {
    const std::span<std::uint8_t> trace(context.trace);
    FillFrom(shared_->Random(), trace.first(sizeof(std::uint64_t)));
    FillFrom(shared_->Random(), trace.last(sizeof(std::uint64_t)));
  }
  FillFrom(shared_->Random(), context.span);
  context.sampled = shared_->options.sampler.Samples(parent, context.trace);
  if (context.sampled && shared_->options.sink) {
    state->tracer = shared_;
    state->data.name = CutText(name);
    state->data.kind = kind;
    state->data.start = shared_->options.clock.Wall();
    state->began = shared_->options.clock.Now();
  }
  return Span(std::move(state));
}

bool Tracer::propagates() const { return shared_->options.propagate; }

Span StartSpan(const std::shared_ptr<Tracer>& tracer, std::string_view name, SpanKind kind,
               const SpanContext& parent) {
  return tracer ? tracer->Start(name, kind, parent) : Span();
}

}  // namespace kubexx::tracing
