#include "kubexx/rest/internal/transport/transport_tripper.h"

#include <algorithm>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>

#include "kubexx/base/thrown_text.h"
#include "kubexx/rest/internal/transport/guarded_tripper.h"
#include "kubexx/rest/internal/transport/refused_trip.h"
#include "kubexx/rest/internal/transport/traced_tripper.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

// A call of the transport, as a RoundTrip.
class TransportTrip final : public RoundTrip {
 public:
  explicit TransportTrip(HttpCall call) : call_(std::move(call)) {}

  Result<HttpHead> AwaitHead(const std::stop_token& stop, const Limits& limits) override {
    return call_.AwaitHead(stop, limits);
  }
  Result<bool> Read(Sink sink, const std::stop_token& stop, base::TimePoint deadline) override {
    return call_.Read(sink, stop, deadline);
  }
  Result<StreamRead> TryRead(Sink sink) override { return call_.TryRead(sink); }
  void Notify(std::function<void()> tell) override { call_.Notify(std::move(tell)); }
  base::TimePoint Arm() override { return call_.Arm(); }
  bool lost_connection() const override { return call_.lost_connection(); }
  bool failed() const override { return call_.failed(); }

 private:
  HttpCall call_;
};

// Middleware may have changed every part of the request, and a line break in one of them would
// begin a header of its own, for example one that impersonates somebody.
Result<void> CheckRequest(const HttpRequest& request) {
  if (!CheckHeader(request.method, {})) {
    return Fail(Reason::kBadRequest,
                "the method of a request is not an HTTP token: \"" + request.method + "\"");
  }
  const auto breaks = [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; };
  if (std::ranges::any_of(request.target, breaks)) {
    return Fail(Reason::kBadRequest, "the target of a request has a space or a control character");
  }
  for (const auto& [name, value] : request.headers) {
    KX_RETURN_IF_ERROR(CheckHeader(name, value));
  }
  return {};
}

}  // namespace

TransportTripper::TransportTripper(std::shared_ptr<Transport> transport)
    : transport_(std::move(transport)) {}

std::unique_ptr<RoundTrip> TransportTripper::Start(const HttpRequest& request) {
  if (const auto checked = CheckRequest(request); !checked) {
    return std::make_unique<RefusedTrip>(checked.error());
  }
  return std::make_unique<TransportTrip>(transport_->Start(request));
}

bool TransportTripper::CanNotify() const { return transport_->CanNotify(); }

Result<std::unique_ptr<Transport>> Wrapped(const Config& config,
                                           const std::shared_ptr<tracing::Tracer>& tracer,
                                           std::shared_ptr<Transport> transport,
                                           const ServerUrl& server, base::Clock& clock) {
  if (!config.wrap_round_tripper && !tracer) {
    return nullptr;
  }
  Config outer;
  outer.round_tripper = std::make_shared<TransportTripper>(std::move(transport));
  if (config.wrap_round_tripper) {
    try {
      outer.round_tripper = config.wrap_round_tripper(std::move(outer.round_tripper));
    } catch (...) {
      return Fail(Reason::kInvalidConfig, "wrap_round_tripper threw: " + base::ThrownText());
    }
  }
  if (outer.round_tripper == nullptr) {
    return Fail(Reason::kInvalidConfig,
                "wrap_round_tripper has returned null: return the inner RoundTripper where there "
                "is nothing to wrap");
  }
  if (tracer) {  // around the guard, so that the span tells what the middleware threw
    outer.round_tripper =
        std::make_shared<TracedTripper>(Guarded(std::move(outer.round_tripper)), tracer, server);
  }
  return Transport::New(outer, server, clock);
}

}  // namespace kubexx::rest::internal
