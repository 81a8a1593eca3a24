/// @file
/// The rest_client_* metrics.
#ifndef KUBEXX_REST_INTERNAL_REPORT_REST_METRICS_H_
#define KUBEXX_REST_INTERNAL_REPORT_REST_METRICS_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "kubexx/base/clock.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::rest::internal {

/// The names, labels and buckets are those of Kubernetes' component-base, so that dashboards for it
/// work. Only rest_client_transport_cert_reload_total is our own. Without a registry the functions
/// do nothing. Thread-safe.
class RestMetrics {
 public:
  /// `registry` may be null and must outlive this, as must `clock`.
  RestMetrics(metrics::Registry* registry, std::string host, base::Clock& clock);
  ~RestMetrics();
  RestMetrics(const RestMetrics&) = delete;
  RestMetrics& operator=(const RestMetrics&) = delete;

  /// Counts one response; `code` is "<error>" when there was none.
  void CountRequest(const std::string& method, const std::string& code) const;
  /// Counts one more attempt after a failed one.
  void CountRetry(const std::string& method, const std::string& code) const;
  void ObserveDuration(const std::string& verb, base::Duration duration) const;
  void ObserveThrottle(const std::string& verb, base::Duration duration) const;
  void ObserveRequestSize(const std::string& verb, std::size_t bytes) const;
  void ObserveResponseSize(const std::string& verb, std::size_t bytes) const;
  /// Counts one check of the files of the CA or the client certificate that found a change or
  /// failed.
  void CountReload(bool ca, const std::string& result, const std::string& reason) const;
  /// Counts one run of a credential plugin.
  void CountExec(int code, const std::string& call_status) const;
  /// Sets when the credentials of the plugin expire; the metric shows the remaining seconds.
  void SetExecExpiration(std::optional<base::WallTime> expiration) const;

 private:
  struct ExecTtl;

  void Observe(const char* name, const char* help, const std::string& verb, double value) const;

  metrics::Registry* registry_;
  std::string host_;
  base::Clock& clock_;
  mutable std::unique_ptr<ExecTtl> exec_ttl_;
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_REPORT_REST_METRICS_H_
