/// @file
/// ExecPlugin: gets credentials from a program.
#ifndef KUBEXX_REST_INTERNAL_CREDENTIALS_EXEC_PLUGIN_H_
#define KUBEXX_REST_INTERNAL_CREDENTIALS_EXEC_PLUGIN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/internal/credentials/exec_credential.h"
#include "kubexx/rest/internal/report/rest_metrics.h"

namespace kubexx::rest::internal {

/// Runs the plugin when a request needs its credentials, and keeps them until they expire. Only one
/// run takes place at a time; other callers wait for its result. Thread-safe. Semantics: client-go
/// plugin/exec.
class ExecPlugin {
 public:
  struct Credential {
    std::shared_ptr<const ExecCredential> value{};
    std::uint64_t generation = 0;  ///< different for each run
  };

  /// `config.exec` must be set. All arguments must outlive the plugin.
  ExecPlugin(const Config& config, base::Clock& clock, const RestMetrics& metrics)
      : config_(config), clock_(clock), metrics_(metrics) {}

  /// Returns the credentials. Runs the plugin when there are none or they have expired. Returns
  /// kInvalidConfig when the program cannot be run, kUnauthorized when it failed, kCancelled when
  /// `stop` was requested, and kTimeout when the program has not ended at `deadline`. A caller's
  /// deadline ends only the run that this caller has started. Callers that wait for that run then
  /// start another one.
  apimachinery::Result<Credential> Get(const std::stop_token& stop,
                                       base::TimePoint deadline = base::TimePoint::max());

  /// Call this when the server has refused the credentials of `generation`. Returns whether a later
  /// Get returns other credentials, or should return them. It causes at most one run in 5 s.
  bool Expire(std::uint64_t generation);

 private:
  bool FreshLocked() const KX_REQUIRES(mu_);
  apimachinery::Result<ExecCredential> RunOnce(const std::stop_token& stop,
                                               base::TimePoint deadline) const;
  apimachinery::Result<bool> Interactive() const;

  const Config& config_;
  base::Clock& clock_;
  const RestMetrics& metrics_;
  base::Mutex mu_;
  base::CondVar changed_;
  bool running_ KX_GUARDED_BY(mu_) = false;
  bool refused_ KX_GUARDED_BY(mu_) = false;
  Credential cached_ KX_GUARDED_BY(mu_);
  std::optional<base::TimePoint> refused_at_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_CREDENTIALS_EXEC_PLUGIN_H_
