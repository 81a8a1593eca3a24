/// @file
/// Serves metrics over HTTP.
#ifndef KUBEXX_METRICS_HTTP_SERVER_H_
#define KUBEXX_METRICS_HTTP_SERVER_H_

#include "kubexx/http/message.h"
#include "kubexx/http/server.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::metrics {

/// The server for metrics and health pages. Without TLS it is used like this:
///
///     metrics::HttpServer server({.address = ":9090"});
///     server.Handle("/metrics", metrics::MetricsHandler(registry));
///
/// It is secured as in controller-runtime with TLS, and with the API server deciding who may read:
///
///     const authfilter::AuthFilter auth(client);
///     metrics::HttpServer server({.address = ":8443",
///                                 .tls = http::TlsOptions{.certificate = watcher->Provider()},
///                                 .handler_threads = 2});  // the filter waits for the API server
///     server.Handle("/metrics",
///                   http::Filtered(auth.Filter(), metrics::MetricsHandler(registry)));
using HttpServer = http::Server;
/// @see http::Request
using HttpRequest = http::Request;
/// @see http::Response
using HttpResponse = http::Response;

/// Returns a handler that serves `registry`, which must outlive the server, in the text exposition
/// format.
HttpServer::Handler MetricsHandler(const Registry& registry);

}  // namespace kubexx::metrics

#endif  // KUBEXX_METRICS_HTTP_SERVER_H_
