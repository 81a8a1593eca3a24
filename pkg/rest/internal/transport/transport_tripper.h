/// @file
/// TransportTripper: a Transport as a RoundTripper, for Config::wrap_round_tripper.
#ifndef KUBEXX_REST_INTERNAL_TRANSPORT_TRANSPORT_TRIPPER_H_
#define KUBEXX_REST_INTERNAL_TRANSPORT_TRANSPORT_TRIPPER_H_

#include <memory>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/internal/transport/transport.h"
#include "kubexx/rest/round_tripper.h"
#include "kubexx/rest/url.h"
#include "kubexx/tracing/tracer.h"

namespace kubexx::rest::internal {

/// Sends requests over a Transport, which it shares. Requests whose method, target or headers
/// cannot be sent as they are fail with kBadRequest. Thread-safe.
class TransportTripper final : public RoundTripper {
 public:
  explicit TransportTripper(std::shared_ptr<Transport> transport);
  std::unique_ptr<RoundTrip> Start(const HttpRequest& request) override;
  bool CanNotify() const override;

 private:
  const std::shared_ptr<Transport> transport_;
};

/// Returns a Transport whose requests get spans of `tracer`, go through config.wrap_round_tripper,
/// and then go over `transport`; null when there is neither a function nor a tracer.
/// kInvalidConfig when the function returns null.
apimachinery::Result<std::unique_ptr<Transport>> Wrapped(
    const Config& config, const std::shared_ptr<tracing::Tracer>& tracer,
    std::shared_ptr<Transport> transport, const ServerUrl& server, base::Clock& clock);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_TRANSPORT_TRANSPORT_TRIPPER_H_
