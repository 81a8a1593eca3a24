#include "kubexx/metrics/http_server.h"

namespace kubexx::metrics {

HttpServer::Handler MetricsHandler(const Registry& registry) {
  return [&registry](const HttpRequest&) {
    return HttpResponse{.content_type = "text/plain; version=0.0.4; charset=utf-8",
                        .body = registry.Serialize()};
  };
}

}  // namespace kubexx::metrics
