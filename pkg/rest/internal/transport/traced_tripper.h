/// @file
/// TracedTripper: gives each request a span.
#ifndef KUBEXX_REST_INTERNAL_TRANSPORT_TRACED_TRIPPER_H_
#define KUBEXX_REST_INTERNAL_TRANSPORT_TRACED_TRIPPER_H_

#include <memory>
#include <string>
#include <string_view>

#include "kubexx/rest/round_tripper.h"
#include "kubexx/rest/url.h"
#include "kubexx/tracing/tracer.h"

namespace kubexx::rest::internal {

/// What a request to an API server asks for, as its path and method tell.
struct Asked {
  std::string verb{};      ///< "get", "list", "watch" and so on; "" where the path is no resource's
  std::string resource{};  ///< "pods", with a subresource "pods/log"
  std::string namespace_{};
  std::string name{};
};

/// Reads the method and the target of a request, without the prefix of the server. Semantics:
/// Kubernetes' RequestInfo.
Asked WhatIsAsked(std::string_view method, std::string_view target);

/// Starts a span for each request, tells the server of it by the header traceparent, and ends it
/// with the response. The span is tracing::Current while the inner RoundTripper starts the request.
/// Thread-safe. Semantics: OpenTelemetry's conventions for HTTP clients, with
/// names such as "patch deployments".
class TracedTripper final : public RoundTripper {
 public:
  TracedTripper(std::shared_ptr<RoundTripper> inner, std::shared_ptr<tracing::Tracer> tracer,
                ServerUrl server);
  std::unique_ptr<RoundTrip> Start(const HttpRequest& request) override;
  bool CanNotify() const override;

 private:
  tracing::Span SpanFor(const HttpRequest& request) const;
  std::unique_ptr<RoundTrip> StartPropagated(const HttpRequest& request, const tracing::Span& span);

  const std::shared_ptr<RoundTripper> inner_;
  const std::shared_ptr<tracing::Tracer> tracer_;
  const ServerUrl server_;
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_TRANSPORT_TRACED_TRIPPER_H_
