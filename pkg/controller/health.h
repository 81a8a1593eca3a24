/// @file
/// HealthChecks: named health checks that are served under one HTTP path.
#ifndef KUBEXX_CONTROLLER_HEALTH_H_
#define KUBEXX_CONTROLLER_HEALTH_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/mutex.h"
#include "kubexx/metrics/http_server.h"

namespace kubexx::controller {

/// Returns success when healthy. The HTTP server's thread calls it for each request, so it must be
/// quick and must not block. An exception counts as unhealthy.
using HealthCheck = std::function<apimachinery::Result<void>()>;

/// The checks of `/healthz` or `/readyz`. Thread-safe.
class HealthChecks {
 public:
  /// Adds a check. kAlreadyExists when there is one of that name.
  apimachinery::Result<void> Add(const std::string& name, HealthCheck check);

  /// Runs the checks and answers with 200 and "ok" when all succeed, and otherwise with 503 and one
  /// line for each check. The query "verbose" lists the checks in any case; "exclude=NAME" skips
  /// one. Kubernetes' components answer in the same way, but with 500 instead of 503.
  metrics::HttpResponse Answer(const metrics::HttpRequest& request) const;

 private:
  mutable base::Mutex mu_;
  std::map<std::string, HealthCheck> checks_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_HEALTH_H_
