/// @file
/// Who a request comes from: its Authorization header, or a plugin's client certificate.
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

/// Bearer token, token file, basic authentication or credential plugin. Thread-safe.
class Credentials {
 public:
  /// What one request uses.
  struct Credential {
    std::string authorization{};  ///< the header's value, "" for none
    /// Of the plugin, with a client certificate or without; null when there is none.
    std::shared_ptr<const ExecCredential> plugin{};
    std::uint64_t generation = 0;
  };

  /// kInvalidConfig when they contradict each other, or when a token file cannot be read and there
  /// is no token beside it. `config`, `clock` and `metrics` must outlive the credentials.
  static apimachinery::Result<std::unique_ptr<Credentials>> New(const Config& config,
                                                                base::Clock& clock,
                                                                const RestMetrics& metrics);

  /// The current ones. Reads the token file again when that is 50 s ago; a service account's token
  /// is renewed long before it expires. A file that cannot be read, or is empty, leaves the last
  /// token in use. Runs the plugin when there is one and it is time; its errors are given, and
  /// kTimeout at `deadline`.
  apimachinery::Result<Credential> Get(const std::stop_token& stop,
                                       base::TimePoint deadline = base::TimePoint::max());

  /// After the server has answered 401 to the ones of `generation`: looks for others, and says
  /// whether Get will give them, so that trying again makes sense. Reads the token file at most
  /// once in 5 s because of this.
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
