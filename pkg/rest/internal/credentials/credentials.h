/// @file
/// Credentials: the Authorization header of requests, or the client certificate of a plugin.
#ifndef KUBEXX_REST_INTERNAL_CREDENTIALS_CREDENTIALS_H_
#define KUBEXX_REST_INTERNAL_CREDENTIALS_CREDENTIALS_H_

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/internal/credentials/exec_credential.h"
#include "kubexx/rest/internal/credentials/exec_plugin.h"
#include "kubexx/rest/internal/report/rest_metrics.h"

namespace kubexx::rest::internal {

/// A bearer token, token file, basic authentication or credential plugin. Thread-safe.
class Credentials {
 public:
  /// The credentials of one request.
  struct Credential {
    std::string authorization{};  ///< the header's value, "" for none
    /// The plugin's credentials, with or without a client certificate; null when there is no
    /// plugin.
    std::shared_ptr<const ExecCredential> plugin{};
    std::uint64_t generation = 0;
  };

  /// kInvalidConfig when settings contradict each other, or when a token file cannot be read and
  /// `config` has no token. `config`, `clock` and `metrics` must outlive the credentials.
  static apimachinery::Result<std::unique_ptr<Credentials>> New(const Config& config,
                                                                base::Clock& clock,
                                                                const RestMetrics& metrics);

  /// Returns the current credentials. Reads the token file again after 50 s; a service account's
  /// token is renewed long before it expires. When the file cannot be read, or is empty, the last
  /// token stays in use. Runs the plugin if there is one and its credentials have expired, and
  /// returns its errors, and kTimeout at `deadline`.
  apimachinery::Result<Credential> Get(const std::stop_token& stop,
                                       base::TimePoint deadline = base::TimePoint::max());

  /// Call this when the server has answered 401 to the credentials of `generation`. It looks for
  /// new credentials, and returns whether Get will return them, so that another attempt makes
  /// sense. It reads the token file for this at most once in 5 s.
  bool Renew(std::uint64_t generation);

 private:
  Credentials(std::string fixed, std::string token_file, base::Clock& clock)
      : token_file_(std::move(token_file)), clock_(clock), value_(std::move(fixed)) {}
  apimachinery::Result<std::string> ReadToken() const;
  void Take(apimachinery::Result<std::string> read);

  const std::string token_file_;
  base::Clock& clock_;
  base::Mutex mu_;
  std::string value_ KX_GUARDED_BY(mu_);
  std::uint64_t generation_ KX_GUARDED_BY(mu_) = 0;
  base::TimePoint read_at_ KX_GUARDED_BY(mu_);
  std::unique_ptr<ExecPlugin> exec_;
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_CREDENTIALS_CREDENTIALS_H_
