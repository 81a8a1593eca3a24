#include "kubexx/rest/internal/report/rest_metrics.h"

#include <chrono>
#include <limits>
#include <utility>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/base/subscription.h"

namespace kubexx::rest::internal {
namespace {

const std::vector<double>& SecondsBuckets() {
  static const std::vector<double> buckets = {0.005, 0.025, 0.1, 0.25, 0.5,  1.0,
                                              2.0,   4.0,   8.0, 15.0, 30.0, 60.0};
  return buckets;
}

// 64 B to 16 MiB.
const std::vector<double>& SizeBuckets() {
  static const std::vector<double> buckets = {64,    256,    512,     1024,    4096,    16384,
                                              65536, 262144, 1048576, 4194304, 16777216};
  return buckets;
}

double Seconds(base::Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

// The remaining lifetime of the plugin's credentials, which is computed when the metrics are
// scraped.
struct RestMetrics::ExecTtl {
  ExecTtl(metrics::Registry& registry, base::Clock& time) : clock(time) {
    const metrics::Gauge gauge = registry.Gauge(
        "rest_client_exec_plugin_ttl_seconds",
        "Seconds until the credentials of the exec plugin expire; +Inf without an expiry.");
    scrape = registry.OnScrape([this, gauge] { gauge.Set(Left()); });
  }
  double Left() {
    base::MutexLock lock(mu);
    return expiration ? Seconds(*expiration - clock.Wall())
                      : std::numeric_limits<double>::infinity();
  }

  base::Clock& clock;
  base::Mutex mu;
  std::optional<base::WallTime> expiration KX_GUARDED_BY(mu);
  base::Subscription scrape;
};

RestMetrics::RestMetrics(metrics::Registry* registry, std::string host, base::Clock& clock)
    : registry_(registry), host_(std::move(host)), clock_(clock) {}
RestMetrics::~RestMetrics() = default;

void RestMetrics::CountRequest(const std::string& method, const std::string& code) const {
  if (registry_ != nullptr) {
    registry_
        ->Counter("rest_client_requests_total",
                  "HTTP requests to the API server by code, method and host.",
                  {{"code", code}, {"method", method}, {"host", host_}})
        .Increment();
  }
}

void RestMetrics::CountRetry(const std::string& method, const std::string& code) const {
  if (registry_ != nullptr) {
    registry_
        ->Counter("rest_client_request_retries_total",
                  "Requests to the API server sent again, by the code before, method and host.",
                  {{"code", code}, {"verb", method}, {"host", host_}})
        .Increment();
  }
}

void RestMetrics::Observe(const char* name, const char* help, const std::string& verb,
                          double value) const {
  if (registry_ != nullptr) {
    const bool size = std::string_view(name).ends_with("_bytes");
    registry_
        ->Histogram(name, help, {{"verb", verb}, {"host", host_}},
                    size ? SizeBuckets() : SecondsBuckets())
        .Observe(value);
  }
}

void RestMetrics::ObserveDuration(const std::string& verb, base::Duration duration) const {
  Observe("rest_client_request_duration_seconds",
          "Time that requests to the API server took, by verb and host; watches are left out.",
          verb, Seconds(duration));
}

void RestMetrics::ObserveThrottle(const std::string& verb, base::Duration duration) const {
  Observe("rest_client_rate_limiter_duration_seconds",
          "Time that requests waited for the client-side rate limit, by verb and host.", verb,
          Seconds(duration));
}

void RestMetrics::ObserveRequestSize(const std::string& verb, std::size_t bytes) const {
  Observe("rest_client_request_size_bytes", "Bytes of the bodies sent to the API server.", verb,
          static_cast<double>(bytes));
}

void RestMetrics::ObserveResponseSize(const std::string& verb, std::size_t bytes) const {
  Observe("rest_client_response_size_bytes",
          "Bytes of the bodies got from the API server, as sent; watches are left out.", verb,
          static_cast<double>(bytes));
}

void RestMetrics::CountReload(bool ca, const std::string& result, const std::string& reason) const {
  if (registry_ != nullptr) {
    registry_
        ->Counter(ca ? "rest_client_transport_ca_reload_total"
                     : "rest_client_transport_cert_reload_total",
                  ca ? "Checks of the files of the certificate authority, by result and reason."
                     : "Checks of the files of the client certificate, by result and reason.",
                  {{"result", result}, {"reason", reason}})
        .Increment();
  }
}

void RestMetrics::CountExec(int code, const std::string& call_status) const {
  if (registry_ != nullptr) {
    registry_
        ->Counter("rest_client_exec_plugin_call_total",
                  "Runs of exec plugins by exit code and kind of failure.",
                  {{"code", std::to_string(code)}, {"call_status", call_status}})
        .Increment();
  }
}

void RestMetrics::SetExecExpiration(std::optional<base::WallTime> expiration) const {
  if (registry_ == nullptr) {
    return;
  }
  if (!exec_ttl_) {
    exec_ttl_ = std::make_unique<ExecTtl>(*registry_, clock_);
  }
  base::MutexLock lock(exec_ttl_->mu);
  exec_ttl_->expiration = expiration;
}

}  // namespace kubexx::rest::internal
