/// @file
/// Credentials that a program prints.
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

/// Runs the plugin when its credentials are needed and keeps them until they expire. One run at a
/// time: other callers wait for its result. Thread-safe. Semantics: client-go plugin/exec.
class ExecPlugin {
 public:
  struct Credential {
    std::shared_ptr<const ExecCredential> value{};
    std::uint64_t generation = 0;  ///< of each run its own
  };

  /// `config.exec` must be set. All must outlive the plugin.
  ExecPlugin(const Config& config, base::Clock& clock, const RestMetrics& metrics)
      : config_(config), clock_(clock), metrics_(metrics) {}

  /// The credentials, of a new run when there are none or they have expired. kInvalidConfig when
  /// the program cannot be run, kUnauthorized when it failed, kCancelled; kTimeout when it takes
  /// longer than until `deadline`, which ends a run that is this caller's. Who waits for that run
  /// begins another.
  apimachinery::Result<Credential> Get(const std::stop_token& stop,
                                       base::TimePoint deadline = base::TimePoint::max());

  /// After the server has refused those of `generation`: whether a later Get gives, or should give,
  /// others. Not more than one run in 5 s comes of it.
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
