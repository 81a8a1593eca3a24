#include "kubexx/webhook/server.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kubexx/apimachinery/thrown_text.h"
#include "kubexx/base/mutex.h"
#include "kubexx/logging/log.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/webhook/internal/conversion_review.h"
#include "kubexx/webhook/internal/review.h"

namespace kubexx::webhook {
namespace {

using apimachinery::Reason;
using apimachinery::Status;

/// Those that prometheus clients use unless told otherwise.
const std::vector<double>& LatencyBuckets() {
  static const std::vector<double> buckets = {.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10};
  return buckets;
}

/// Of one webhook.
struct Metrics {
  metrics::Registry* registry = nullptr;
  std::string name{};
  metrics::Histogram latency{};
  metrics::Gauge in_flight{};
  metrics::Counter panics{};

  metrics::Counter Requests(int code) const {
    return registry == nullptr
               ? metrics::Counter()
               : registry->Counter("controller_runtime_webhook_requests_total",
                                   "Requests of API servers by HTTP status code.",
                                   {{"webhook", name}, {"code", std::to_string(code)}});
  }
};

Metrics MakeMetrics(metrics::Registry* registry, const std::string& name) {
  Metrics made{.registry = registry, .name = name};
  if (registry != nullptr) {
    made.latency = registry->Histogram("controller_runtime_webhook_latency_seconds",
                                       "How long requests of API servers took.",
                                       {{"webhook", name}}, LatencyBuckets());
    made.in_flight =
        registry->Gauge("controller_runtime_webhook_requests_in_flight",
                        "Requests of API servers that are being answered.", {{"webhook", name}});
    made.panics = registry->Counter("controller_runtime_webhook_panics_total",
                                    "Admission handlers and conversion functions that threw.");
    // So that rates are right from the first request on.
    (void)made.Requests(200);
    (void)made.Requests(500);
  }
  return made;
}

apimachinery::Result<std::string> ContainedConversion(const RawConversion& convert,
                                                      std::string_view object,
                                                      const std::string& api_version,
                                                      const Metrics& metrics) {
  try {
    return convert(object, api_version);
  } catch (...) {
    metrics.panics.Increment();
    logging::Error("A conversion function threw",
                   {{"webhook", metrics.name}, {"error", apimachinery::ThrownText()}});
    return apimachinery::Fail(
        Status(Reason::kInternalError, "the webhook's conversion failed; see its log", 500));
  }
}

Response Contained(const Server::RawHandler& handler, const Call& call, const Metrics& metrics) {
  try {
    return handler(call);
  } catch (...) {
    metrics.panics.Increment();
    logging::Error("An admission handler threw",
                   {{"webhook", metrics.name}, {"error", apimachinery::ThrownText()}});
    return Response::Errored(
        Status(Reason::kInternalError, "the webhook's handler failed; see its log", 500));
  }
}

http::Response TooLarge(std::size_t max_bytes) {
  return {.status = 413,
          .body = "Request entity too large: limit is " + std::to_string(max_bytes) + "\n"};
}

}  // namespace

class Server::Impl {
 public:
  explicit Impl(Options options)
      : registry_(options.registry),
        max_review_bytes_(options.max_body_bytes),
        max_conversion_bytes_(options.max_conversion_bytes),
        server_({.address = std::move(options.address),
                 .max_connections = options.max_connections,
                 .max_body_bytes = std::max(options.max_body_bytes, options.max_conversion_bytes),
                 // Whoever does not know a path is no API server, and sends nothing worth reading.
                 .admit = [this](const http::Request& header) { return ClientOf(header); },
                 .tls = std::move(options.tls),
                 .handler_threads = std::max<std::size_t>(options.handler_threads, 1),
                 .handler_timeout = options.handler_timeout}) {}

  void HandleRaw(const std::string& path, RawHandler handler, const std::string& name) {
    const Metrics metrics = MakeMetrics(registry_, name.empty() ? path : name);
    Serve(path, metrics, max_review_bytes_,
          [metrics, handler = std::move(handler)](const http::Request& request) {
            return internal::Respond(request, [&](const Call& call) {
              // The API server may have to ask this server for what the handler wants of it.
              const http::Waiting waiting(request);
              return Contained(handler, call, metrics);
            });
          });
  }

  void HandleRawConversion(const std::string& path, RawConversion convert) {
    const Metrics metrics = MakeMetrics(registry_, path);
    Serve(path, metrics, max_conversion_bytes_,
          [metrics, convert = std::move(convert)](const http::Request& request) {
            return internal::RespondConverted(
                request, [&](std::string_view object, const std::string& api_version) {
                  return ContainedConversion(convert, object, api_version, metrics);
                });
          });
  }

  http::Server& server() { return server_; }

 private:
  std::optional<std::string> ClientOf(const http::Request& header) const {
    const base::MutexLock lock(mu_);
    return paths_.contains(header.path) ? std::optional<std::string>("API servers") : std::nullopt;
  }

  /// Answers requests of no more than `max_bytes` with `respond`, and counts.
  void Serve(const std::string& path, const Metrics& metrics, std::size_t max_bytes,
             http::Handler respond) {
    {
      const base::MutexLock lock(mu_);
      paths_.insert(path);
    }
    server_.HandlePost(
        path,
        [metrics, max_bytes, respond = std::move(respond)](const http::Request& request) {
          const base::TimePoint start = base::Clock::Real().Now();
          metrics.in_flight.Add(1);
          http::Response response =
              request.is_body_dropped ? TooLarge(max_bytes) : respond(request);
          metrics.in_flight.Add(-1);
          metrics.Requests(response.status).Increment();
          metrics.latency.Observe(
              std::chrono::duration<double>(base::Clock::Real().Now() - start).count());
          return response;
        },
        max_bytes);
  }

  metrics::Registry* const registry_;
  const std::size_t max_review_bytes_;
  const std::size_t max_conversion_bytes_;
  mutable base::Mutex mu_;
  std::set<std::string> paths_ KX_GUARDED_BY(mu_);
  http::Server server_;  // last: its threads use the paths
};

Server::Server(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Server::~Server() = default;
void Server::HandleRaw(const std::string& path, RawHandler handler, const std::string& name) {
  impl_->HandleRaw(path, std::move(handler), name);
}
void Server::HandleRawConversion(const std::string& path, RawConversion convert) {
  impl_->HandleRawConversion(path, std::move(convert));
}
apimachinery::Result<void> Server::Start() { return impl_->server().Start(); }
std::uint16_t Server::port() const { return impl_->server().port(); }
void Server::Drain(std::chrono::milliseconds limit) { impl_->server().Drain(limit); }
void Server::Stop() { impl_->server().Stop(); }

}  // namespace kubexx::webhook
