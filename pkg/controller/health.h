/// @file
/// Named health checks behind one HTTP path.
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

/// Success when healthy. Called on the HTTP server's thread for each request; must be quick and not
/// block. What it throws counts as unhealthy.
using HealthCheck = std::function<apimachinery::Result<void>()>;

/// The checks of `/healthz` or `/readyz`. Thread-safe.
class HealthChecks {
 public:
  /// kAlreadyExists when there is one of that name.
  apimachinery::Result<void> Add(const std::string& name, HealthCheck check);

  /// 200 "ok" when all hold, otherwise 503 with a line for each; the query "verbose" lists them in
  /// any case, "exclude=NAME" leaves one out. As Kubernetes' components answer, but for the code,
  /// which is 500 there.
  metrics::HttpResponse Answer(const metrics::HttpRequest& request) const;

 private:
  mutable base::Mutex mu_;
  std::map<std::string, HealthCheck> checks_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_HEALTH_H_
